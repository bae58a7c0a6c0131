//! The keys of a pipeline file, each with a description and a JSON Schema.

use serde_json::{Value, json};

/// One key.
pub struct Key {
    pub name: &'static str,
    pub about: &'static str,
    pub schema: fn() -> Value,
}

/// Keys of the file.
pub const FILE: &[Key] = &[
    Key {
        name: "cwm",
        about: "The version of this format.",
        schema: || json!({ "const": crate::spec::FORMAT as i64 }),
    },
    Key {
        name: "vars",
        about: "Variables: text, numbers, booleans, null, or lists of these. `$name` stands for one; `--set name=value` replaces it for one run.",
        schema: || named(json!({ "anyOf": [scalar(), { "type": "array", "items": scalar() }] })),
    },
    Key {
        name: "stages",
        about: "The stages by name. A name begins with a lower-case letter, followed by lower-case letters, digits and `_`.",
        schema: || named(json!({ "$ref": "#/definitions/stage" })),
    },
    Key {
        name: "export",
        about: "Copies that a run makes at its end: a map from reference, such as `report` or `tokens.train`, to a path relative to the pipeline file.",
        schema: || json!({ "type": ["object", "null"], "additionalProperties": { "type": "string" } }),
    },
];

/// Keys of every stage, but for `stage`, `from` and `with`, which each kind has in its own way.
pub const STAGE: &[Key] = &[
    Key {
        name: "matrix",
        about: "Axes: a list of values, a map from label to value, or `$name` of a variable that is a list. The stage has a cell for each combination.",
        schema: || {
            named(json!({ "anyOf": [
                { "type": "array", "items": scalar(), "minItems": 1 },
                { "type": "object", "minProperties": 1 },
                { "$ref": "#/definitions/variable" },
            ] }))
        },
    },
    Key {
        name: "each",
        about: "The name of a stage. This stage then has the axes of that stage, and one cell for each of its cells.",
        schema: || json!({ "type": "string" }),
    },
    Key {
        name: "needs",
        about: "Its share of the machine: `cpu` (cores, or `all`), `gpu` (a number, also a fraction), `memory` (`4GiB`, `500MB`, or bytes), `time` (`2h`: the time limit of a batch job). Missing entries are the stage's own defaults. Not part of the key.",
        schema: || {
            json!({ "type": ["object", "null"], "additionalProperties": false, "properties": {
                "cpu": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "all" }, { "$ref": "#/definitions/variable" }] },
                "gpu": { "anyOf": [{ "type": "number", "minimum": 0 }, { "$ref": "#/definitions/variable" }] },
                "memory": { "$ref": "#/definitions/memory" },
                "time": { "$ref": "#/definitions/duration" },
            } })
        },
    },
    Key {
        name: "retry",
        about: "The number of further attempts after a failure: `2`, or `{ times: 2, wait: 10s }`. The wait doubles with each attempt. Not part of the key.",
        schema: || {
            json!({ "anyOf": [times(), { "type": "object", "additionalProperties": false, "properties": {
                "times": times(), "wait": { "$ref": "#/definitions/duration" },
            } }] })
        },
    },
    Key {
        name: "limits",
        about: "The limits of one attempt: `time` (`90s`, `10m`, `1h30m`) and `memory` (`8GiB`). Not part of the key.",
        schema: || {
            json!({ "type": "object", "additionalProperties": false, "properties": {
                "time": { "$ref": "#/definitions/duration" }, "memory": { "$ref": "#/definitions/memory" },
            } })
        },
    },
    Key {
        name: "keep",
        about: "`false`: the files of its outputs are evicted once all readers are done, and computed again when something needs them. Not part of the key.",
        schema: || json!({ "type": "boolean" }),
    },
];

/// The key of stages that compute with models.
pub const DEVICE: Key = Key {
    name: "device",
    about: "The device of the computation: `auto` (the default), `cpu`, or a GPU by number (`cuda:0`, `wgpu:0`). Not part of the key.",
    schema: || json!({ "anyOf": [{ "enum": ["auto", "cpu"] }, { "type": "string", "pattern": r"^(cuda|wgpu):[0-9]+$|\$" }] }),
};

/// Keys of a command alone.
pub const COMMAND: &[Key] = &[
    Key {
        name: "deps",
        about: "Files and globs that it depends on, below the pipeline's folder. Their content is part of the key.",
        schema: || json!({ "$ref": "#/definitions/texts" }),
    },
    Key {
        name: "env",
        about: "Names of variables of cwm's own environment that the command gets. Their values are part of the key.",
        schema: || json!({ "$ref": "#/definitions/texts" }),
    },
    Key {
        name: "outputs",
        about: "Its outputs by name: each is `file`, `folder`, or a map with `format`, `ext` and `folder` (`outputs: { parts: folder }`). Without this key, the command writes the file `out`.",
        schema: || {
            let mut outputs = named(json!({ "anyOf": [
                { "enum": ["file", "folder"] },
                { "type": "object", "additionalProperties": false, "properties": {
                    "format": { "type": "string" }, "ext": { "type": "string" }, "folder": { "type": "boolean" },
                } },
            ] }));
            outputs["minProperties"] = json!(1);
            outputs
        },
    },
];

/// A number of further attempts.
fn times() -> Value {
    json!({ "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 100 }, { "$ref": "#/definitions/variable" }] })
}

/// A value that is no list and no map.
fn scalar() -> Value {
    json!({ "type": ["string", "number", "boolean", "null"] })
}

/// A map from names to such values.
fn named(value: Value) -> Value {
    json!({ "type": ["object", "null"], "propertyNames": { "pattern": "^[a-z][a-z0-9_]*$" }, "additionalProperties": value })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::spec;

    #[test]
    fn every_key_that_is_read_is_reported_and_no_other() {
        let names = |keys: &[Key]| keys.iter().map(|key| key.name).collect::<BTreeSet<_>>();
        assert_eq!(names(FILE), spec::FILE_KEYS.iter().copied().collect());
        let own = BTreeSet::from(["stage", "from", "with"]);
        let shared: BTreeSet<_> = names(STAGE).union(&own).copied().collect();
        let of_stages: BTreeSet<_> = shared.iter().copied().chain(["device"]).collect();
        assert_eq!(of_stages, spec::STAGE_KEYS.iter().copied().collect());
        let of_commands: BTreeSet<_> = shared.union(&names(COMMAND)).copied().collect();
        assert_eq!(of_commands, spec::COMMAND_KEYS.iter().copied().collect());
    }
}
