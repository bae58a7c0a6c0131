//! A kind of stage as JSON Schema: what may stand under its name.

use cwm_contract::{Input, ParameterSpec, Stage};
use serde_json::{Map, Value, json};

use super::keys::{COMMAND, DEVICE, Key, STAGE};
use super::types;
use crate::spec::COMMAND as COMMAND_KIND;

/// The description of a command, which is no stage of a crate.
pub const ABOUT_COMMAND: &str = "Runs a shell command. It finds its inputs in `$in`, or `$in_NAME`, writes `$out`, or `$out_NAME`, and is cached by \
     the command, its inputs, parameters, `deps` and `env`.";

/// The description of `run` of a command.
pub const ABOUT_RUN: &str = "The command, passed verbatim to its shell. Its `$x` belongs to the shell.";

/// The description of `shell` of a command.
pub const ABOUT_SHELL: &str = "Its shell: `bash` (`bash -euo pipefail -c`: a program that fails fails the command, also within a pipe), `sh` (`sh -eu -c`), \
     or a program and its arguments, after which the command is put: `[python3, -c]`.";

/// The description of any other key of a command's `with`.
pub const ABOUT_VARIABLES: &str =
    "A variable of the command's environment: text, a number or a boolean. Part of its key.";

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
        properties.extend(of_keys(&[DEVICE]));
    }
    json!({
        "description": stage.description(),
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Returns the schema of a command stage.
pub fn command() -> Value {
    let mut properties = shared(COMMAND_KIND);
    let source = json!({ "$ref": "#/definitions/sources" });
    let inputs = json!({ "type": "object", "propertyNames": { "pattern": "^[a-z][a-z0-9_]*$" }, "additionalProperties": source });
    properties.insert(
        "from".into(),
        json!({ "description": "Its inputs.", "anyOf": [{ "$ref": "#/definitions/texts" }, inputs] }),
    );
    properties.insert(
        "with".into(),
        json!({
            "type": "object",
            "required": ["run"],
            "properties": { "run": { "type": "string", "description": ABOUT_RUN }, "shell": shell() },
            "additionalProperties": { "type": ["string", "number", "boolean"], "description": ABOUT_VARIABLES },
        }),
    );
    properties.extend(of_keys(COMMAND));
    json!({
        "description": ABOUT_COMMAND,
        "type": "object",
        "required": ["stage", "with"],
        "additionalProperties": false,
        "properties": properties,
    })
}

fn shell() -> Value {
    let program = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
    let any_of = json!([{ "enum": ["bash", "sh"] }, program, { "$ref": "#/definitions/variable" }]);
    json!({ "description": ABOUT_SHELL, "default": "bash", "anyOf": any_of })
}

fn shared(kind: &str) -> Map<String, Value> {
    let mut properties = of_keys(STAGE);
    properties.insert("stage".into(), json!({ "const": kind }));
    properties
}

/// Returns the schemas of these keys.
pub fn of_keys(keys: &[Key]) -> Map<String, Value> {
    keys.iter().map(|key| (key.name.into(), described((key.schema)(), key.about))).collect()
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
