//! The JSON Schema of a pipeline file.

use cwm_contract::Type;
use serde_json::{Map, Value, json};

use super::keys::FILE;
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
    definitions.extend(shared());
    let mut document = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A pipeline of cwm",
        "type": "object",
        "required": ["cwm", "stages"],
        "additionalProperties": false,
        "properties": of_keys(FILE),
        "definitions": definitions,
    });
    document.sort_all_objects();
    document
}

/// Returns the definitions that stages of all kinds refer to.
fn shared() -> Map<String, Value> {
    let source = json!({ "anyOf": [
        { "type": "string", "description": "stage, stage.output, stage[axis=value] or stage[axis=value].output; with a `/`, the path of a file" },
        {
            "type": "object",
            "required": ["file"],
            "additionalProperties": false,
            "properties": { "file": { "type": "string", "description": "The path of a file, relative to the pipeline file." } },
        },
    ] });
    // A smaller number is one without its unit (`plan/settings.rs`).
    let mut memory = types::schema(&Type::Bytes);
    memory["anyOf"][0]["minimum"] = json!(1_000_000);
    let shared = json!({
        "variable": { "type": "string", "pattern": r"^\$([a-z][a-z0-9_]*|\{[a-z][a-z0-9_]*(\.[^}]*)?\})$" },
        "variables": { "type": "string", "pattern": r"\$[a-z{]" },
        "memory": memory,
        "duration": { "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "type": "string", "pattern": r"^\s*([0-9.]+\s*(w|weeks?|d|days?|h|hours?|m|mins?|minutes?|s|secs?|seconds?|ms|millis|milliseconds?)\s*)+$" },
            { "$ref": "#/definitions/variables" },
        ] },
        "texts": { "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": "string" } },
        ] },
        "source": source,
        "sources": { "anyOf": [
            { "$ref": "#/definitions/source" },
            { "type": "array", "minItems": 1, "items": { "$ref": "#/definitions/source" } },
        ] },
    });
    shared.as_object().cloned().unwrap_or_default()
}
