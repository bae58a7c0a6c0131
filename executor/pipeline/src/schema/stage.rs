//! A kind of stage as JSON Schema: what may stand under its name.

use cwm_contract::{Input, ParameterSpec, Stage};
use serde_json::{Map, Value, json};

use super::keys::{KEYS, YamlKey};
use super::types;
use crate::spec::COMMAND;

/// Returns the schema of a stage of this kind.
pub fn of_kind(stage: &dyn Stage) -> Value {
    let (inputs, parameters) = (stage.inputs(), stage.parameters());
    let mut required = vec!["stage"];
    if inputs.iter().any(|input| input.count.is_required()) {
        required.push("from");
    }
    if parameters.iter().any(|parameter| parameter.default.is_none()) {
        required.push("with");
    }
    let mut properties = shared(stage.kind());
    properties.insert("from".into(), from(&inputs));
    properties.insert("with".into(), with(&parameters));
    if stage.uses_devices() {
        properties.extend(of_keys(&KEYS.device));
    }
    described_stage(stage.description(), &required, properties)
}

/// Returns the schema of a command stage.
pub fn command() -> Value {
    let mut properties = shared(COMMAND);
    properties.extend(KEYS.command_properties.clone());
    properties.extend(of_keys(&KEYS.command));
    described_stage(&KEYS.command_description, &["stage", "with"], properties)
}

fn described_stage(about: &str, required: &[&str], properties: Map<String, Value>) -> Value {
    json!({
        "description": about,
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

fn shared(kind: &str) -> Map<String, Value> {
    let mut properties = of_keys(&KEYS.stage);
    properties.insert("stage".into(), json!({ "const": kind }));
    properties
}

/// Returns the schemas of these keys.
pub fn of_keys(keys: &[YamlKey]) -> Map<String, Value> {
    keys.iter().map(|key| (key.name.clone(), described(key.schema.clone(), &key.description))).collect()
}

/// Returns a schema with a description, which a reference cannot have in the same map.
fn described(schema: Value, about: &str) -> Value {
    let mut schema = if schema.get("$ref").is_some() { json!({ "allOf": [schema] }) } else { schema };
    schema["description"] = json!(about);
    schema
}

fn from(inputs: &[Input]) -> Value {
    let mut named = Map::new();
    for input in inputs {
        let about = format!("{} Format: {}.", input.doc, input.format);
        named.insert(input.name.into(), described(json!({ "$ref": "#/definitions/sources" }), &about));
    }
    let required: Vec<_> = inputs.iter().filter(|input| input.count.is_required()).map(|input| input.name).collect();
    let by_name = json!({ "type": "object", "required": required, "properties": named, "additionalProperties": false });
    json!({ "description": "Its inputs.", "anyOf": [{ "$ref": "#/definitions/texts" }, by_name] })
}

fn with(parameters: &[ParameterSpec]) -> Value {
    let mut properties = Map::new();
    for parameter in parameters {
        let mut schema = described(types::schema(&parameter.kind), &one_line(&parameter.doc));
        if let Some(default) = &parameter.default {
            schema["default"] = json!(default);
        }
        properties.insert(parameter.name.into(), schema);
    }
    let required: Vec<_> = parameters.iter().filter(|one| one.default.is_none()).map(|one| one.name).collect();
    let kind = if required.is_empty() { json!(["object", "null"]) } else { json!("object") };
    json!({
        "description": "Parameters.",
        "type": kind,
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}

/// Returns a doc comment without its line breaks.
pub fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
