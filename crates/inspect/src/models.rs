//! Describes Models and their training: from the descriptions alone, without the weights.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use cwm_contract::{Description, Failure, amount};
use serde_json::{Map, Value, json};

use crate::format::{counted, escape_controls, line, with_separators};
use crate::json::read_object;

/// No header of a weights file of ours is larger: 16 MiB.
const LARGEST_HEADER: u64 = 16 << 20;

/// No line of a curves file of ours is longer: 64 KiB.
const LONGEST_LINE: u64 = 64 << 10;

/// Describes a folder of format `checkpoint`.
pub fn checkpoint(path: &Path) -> Result<Description, Failure> {
    let model = read_object(&path.join("model.json"), "checkpoint")?;
    let weights = path.join("model.safetensors");
    let (tensors, size) = tensors(&weights)?;
    let weights = line("weights", format!("{} in {}", counted(tensors, "tensor"), amount::format_bytes(size)));
    let lines = lines(&model, Some(weights));
    let facts = json!({ "model": model, "tensors": tensors, "bytes": size });
    Ok(Description { lines, facts })
}

/// Describes a file of format `summary`.
pub fn summary(path: &Path) -> Result<Description, Failure> {
    let model = read_object(path, "summary")?;
    Ok(Description { lines: lines(&model, None), facts: Value::Object(model) })
}

/// Returns the lines of a description, with the one about the weights if they are there.
fn lines(model: &Map<String, Value>, weights: Option<String>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(Value::Object(architecture)) = model.get("architecture") {
        let field = |name: &str| architecture.get(name).map(display).unwrap_or_default();
        lines.push(line("model", format!("{} {}", field("family"), field("size"))));
        if let Some(Value::Object(options)) = architecture.get("options").filter(|options| **options != json!({})) {
            lines.push(line("options", entries(options)));
        }
    }
    for name in ["parameters", "status"] {
        lines.extend(model.get(name).map(|value| line(name, display(value))));
    }
    lines.extend(weights);
    if let Some(Value::Object(training)) = model.get("training") {
        let plain: Map<String, Value> = training
            .iter()
            .filter(|(_, value)| !value.is_object())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        lines.push(line("training", entries(&plain)));
        for (name, value) in training {
            if let Value::Object(inner) = value {
                lines.push(line(&escape_controls(name, 40), entries(inner)));
            }
        }
    }
    lines
}

/// Returns the number of tensors of a safetensors file, by its header, and its size.
pub fn tensors(path: &Path) -> Result<(u64, u64), Failure> {
    let wrong = |what: String| Failure::input(format!("{} is not a safetensors file: {what}", path.display()));
    let io = |error| Failure::io("read", path, error);
    let mut file = File::open(path).map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(|error| wrong(error.to_string()))?;
    let length = u64::from_le_bytes(length);
    if length > LARGEST_HEADER.min(size) {
        return Err(wrong(format!("its header would be {length} bytes long")));
    }
    let mut header = Vec::new();
    file.take(length).read_to_end(&mut header).map_err(io)?;
    let header: Map<String, Value> = serde_json::from_slice(&header).map_err(|error| wrong(error.to_string()))?;
    Ok((header.keys().filter(|name| *name != "__metadata__").count() as u64, size))
}

/// Describes a file of format `curves`.
pub fn curves(path: &Path) -> Result<Description, Failure> {
    let wrong = |number: u64, what: String| {
        Failure::input(format!("{} is not a curves file: line {number}: {what}", path.display()))
    };
    let io = |error| Failure::io("read", path, error);
    let mut reader = BufReader::new(File::open(path).map_err(io)?);
    let (mut train, mut validations) = (None, Vec::new());
    let (mut text, mut number) = (Vec::new(), 0_u64);
    loop {
        text.clear();
        reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut text).map_err(io)?;
        number += 1;
        if text.is_empty() {
            break;
        }
        let object: Map<String, Value> =
            serde_json::from_slice(&text).map_err(|error| wrong(number, error.to_string()))?;
        match object.get("kind").and_then(Value::as_str) {
            Some("train" | "reinforce") => train = Some(object),
            Some("validation") => validations.push(object),
            _ => return Err(wrong(number, "its `kind` is none of `train`, `reinforce` and `validation`".into())),
        }
    }
    let best = validations
        .iter()
        .filter(|line| accuracy(line).is_some())
        .max_by(|a, b| accuracy(a).unwrap_or(0.0).total_cmp(&accuracy(b).unwrap_or(0.0)));
    let mut lines = vec![line("lines", with_separators(number - 1))];
    for (name, object) in [("last step", train.as_ref()), ("validated", validations.last()), ("best", best)] {
        lines.extend(object.map(|object| line(name, entries(&without_kind(object)))));
    }
    let facts = json!({ "lines": number - 1, "train": train, "validation": validations.last(), "best": best });
    Ok(Description { lines, facts })
}

/// The share of positions that were right (all labels of them, or the answer), or the mean reward.
fn accuracy(line: &Map<String, Value>) -> Option<f64> {
    ["exact", "best", "reward"].iter().find_map(|name| line.get(*name)).and_then(Value::as_f64)
}

fn without_kind(object: &Map<String, Value>) -> Map<String, Value> {
    object.iter().filter(|(name, _)| *name != "kind").map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// `step 300, loss 0.42`.
pub fn entries(object: &Map<String, Value>) -> String {
    let entry = |(name, value): (&String, &Value)| format!("{} {}", escape_controls(name, 40), display(value));
    object.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// A value on one line.
pub fn display(value: &Value) -> String {
    match value {
        Value::String(text) => escape_controls(text, 80),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => with_separators(whole),
            // Five digits, without zeros behind them.
            (None, Some(float)) => format!("{}", format!("{float:.4e}").parse().unwrap_or(float)),
            (None, None) => number.to_string(),
        },
        other => escape_controls(&other.to_string(), 80),
    }
}
