//! Describes sparse autoencoders: from their description and the headers of their weights.

use std::path::Path;

use cwm_contract::{Description, Failure, amount};
use serde_json::{Value, json};

use crate::format::{counted, line};
use crate::json::read_object;
use crate::models::{display, entries, tensors};

/// Describes a folder of format `autoencoder`.
pub fn autoencoder(path: &Path) -> Result<Description, Failure> {
    let autoencoder = read_object(&path.join("autoencoder.json"), "sparse autoencoders")?;
    let object = |name: &str| autoencoder.get(name).and_then(Value::as_object);
    let mut lines = Vec::new();
    if let Some(model) = object("model") {
        let field = |name: &str| model.get(name).map(display).unwrap_or_default();
        lines.push(line("model", format!("{} {}", field("family"), field("size"))));
    }
    for name in ["width", "latents", "layers"] {
        lines.extend(autoencoder.get(name).map(|value| line(name, display(value))));
    }
    let (mut count, mut bytes) = (0, 0);
    for layer in autoencoder.get("layers").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64) {
        let (of_layer, size) = tensors(&path.join(format!("layer-{layer:02}.safetensors")))?;
        (count, bytes) = (count + of_layer, bytes + size);
        let dead = object("sites").and_then(|sites| sites.get(&layer.to_string())?.get("dead")).map(display);
        lines.extend(dead.map(|dead| line(&format!("layer {layer}"), format!("{dead} dead latents"))));
    }
    lines.push(line("weights", format!("{} in {}", counted(count, "tensor"), amount::format_bytes(bytes))));
    lines.extend(object("training").map(|training| line("training", entries(training))));
    Ok(Description { lines, facts: json!({ "autoencoder": autoencoder, "tensors": count, "bytes": bytes }) })
}
