//! Reads the counts of games and positions of any stage.

use cwm_contract::{Failure, GroupInput};
use cwm_page::escape_controls;
use serde_json::{Map, Value};

/// A number, or a word, in a counts file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CountedValue {
    /// The label of the cell that wrote it.
    pub(crate) label: String,
    /// The kind of the stage.
    pub(crate) stage: String,
    /// Its name, after the names of the objects that contain it: `dropped: legal_moves`.
    pub(crate) what: String,
    pub(crate) value: Value,
}

/// Longer words than this are data and not counts, such as the moves of `tokenize`.
const LONGEST: usize = 100;

/// Reads all counts, in the order of their labels.
///
/// # Errors
/// A file is no JSON object.
pub(crate) fn read(inputs: &[GroupInput]) -> Result<Vec<CountedValue>, Failure> {
    let mut found = Vec::new();
    for input in inputs {
        let text = std::fs::read_to_string(&input.path).map_err(|error| Failure::io("read", &input.path, error))?;
        let counts: Map<String, Value> = serde_json::from_str(&text).map_err(|error| {
            let (label, path) = (&input.label, input.path.display());
            Failure::input(format!("the counts of {label} ({path}) cannot be understood: {error}"))
        })?;
        let label = escape_controls(&input.label.to_string());
        let stage = escape_controls(counts.get("stage").and_then(Value::as_str).unwrap_or_default());
        collect(&counts, "", &mut |what, value| {
            found.push(CountedValue { label: label.clone(), stage: stage.clone(), what, value });
        });
    }
    Ok(found)
}

/// Calls `counted` with each number and word below an object.
fn collect(counts: &Map<String, Value>, before: &str, counted: &mut impl FnMut(String, Value)) {
    for (name, value) in counts.iter().filter(|(name, _)| *name != "stage") {
        let name = escape_controls(name);
        match value {
            Value::Object(parts) => collect(parts, &format!("{before}{name}: "), counted),
            Value::String(text) if text.len() > LONGEST => {}
            Value::String(text) => counted(format!("{before}{name}"), Value::String(escape_controls(text))),
            Value::Number(_) => counted(format!("{before}{name}"), value.clone()),
            Value::Null | Value::Bool(_) | Value::Array(_) => {}
        }
    }
}
