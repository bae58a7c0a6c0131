//! Describes linear probes: from their description and the header of their weights.

use std::path::Path;

use cwm_contract::{Description, Failure, amount};
use serde_json::{Map, Value, json};

use crate::format::{counted, line};
use crate::json::read_object;
use crate::models::{display, entries, tensors};

/// Describes a folder of format `probes`.
pub fn probes(path: &Path) -> Result<Description, Failure> {
    let probes = read_object(&path.join("probes.json"), "linear probes")?;
    let (tensors, size) = tensors(&path.join("probes.safetensors"))?;
    let mut lines = Vec::new();
    let object = |name: &str| probes.get(name).and_then(Value::as_object);
    if let Some(model) = object("model") {
        let field = |name: &str| model.get(name).map(display).unwrap_or_default();
        lines.push(line("model", format!("{} {}", field("family"), field("size"))));
    }
    for name in ["network", "layers", "target", "method"] {
        lines.extend(probes.get(name).map(|value| line(name, display(value))));
    }
    let read = ["of", "phase", "board", "final"].into_iter().filter_map(|name| probes.get_key_value(name));
    let read: Map<String, Value> = read.map(|(name, value)| (name.clone(), value.clone())).collect();
    lines.push(line("read", entries(&read)));
    lines.push(line("weights", format!("{} in {}", counted(tensors, "tensor"), amount::format_bytes(size))));
    lines.extend(object("training").map(|training| line("training", entries(training))));
    Ok(Description { lines, facts: json!({ "probes": probes, "tensors": tensors, "bytes": size }) })
}
