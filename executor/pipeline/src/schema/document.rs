//! The JSON Schema of a pipeline file.

use cwm_contract::Type;
use serde_json::{Map, Value, json};

use super::keys::KEYS;
use super::stage::{command, of_keys, of_kind};
use super::types;
use crate::spec::COMMAND;
use cwm_core::Registry;

/// Returns the schema (draft 7, which editors read) of pipelines of these kinds of stages. Its objects are sorted by key.
pub fn document(registry: &Registry) -> Value {
    let mut definitions = Map::new();
    let mut kinds: Vec<String> = registry.iter().map(|stage| stage.kind().to_owned()).collect();
    registry.iter().for_each(|stage| _ = definitions.insert(format!("stage {}", stage.kind()), of_kind(stage)));
    definitions.insert(format!("stage {COMMAND}"), command());
    kinds.push(COMMAND.to_owned());
    let which = kinds.iter().map(|kind| {
        let is_it = json!({ "properties": { "stage": { "const": kind } }, "required": ["stage"] });
        json!({ "if": is_it, "then": { "$ref": format!("#/definitions/stage {kind}") } })
    });
    let which: Vec<Value> = which.collect();
    definitions.insert(
        "stage".into(),
        json!({
            "type": "object",
            "required": ["stage"],
            "properties": { "stage": { "description": "The kind of the stage.", "enum": kinds } },
            "allOf": which,
        }),
    );
    // A smaller number is one without its unit (`plan/settings.rs`).
    let mut memory = types::schema(&Type::Bytes);
    memory["anyOf"][0]["minimum"] = json!(1_000_000);
    definitions.insert("memory".into(), memory);
    definitions.extend(KEYS.definitions.clone());
    let mut document = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A pipeline of cwm",
        "type": "object",
        "required": ["cwm", "stages"],
        "additionalProperties": false,
        "properties": of_keys(&KEYS.file),
        "definitions": definitions,
    });
    document.sort_all_objects();
    document
}
