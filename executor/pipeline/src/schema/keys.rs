//! The part of the schema that does not depend on the stages of this build: `keys.json`.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

/// One key of a pipeline file, with a description and a JSON Schema.
#[derive(Deserialize)]
pub struct YamlKey {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

/// The content of `keys.json`.
#[derive(Deserialize)]
pub struct Keys {
    /// Keys of the file.
    pub file: Vec<YamlKey>,
    /// Keys of every stage, but for `stage`, `from` and `with`, which each kind has in its own way.
    pub stage: Vec<YamlKey>,
    /// The key of stages that compute with models.
    pub device: Vec<YamlKey>,
    /// Keys of a command alone.
    pub command: Vec<YamlKey>,
    /// The description of a command, which is no stage of a crate.
    pub command_description: String,
    /// `from` and `with` of a command.
    pub command_properties: Map<String, Value>,
    /// The definitions to which stages of all kinds refer.
    pub definitions: Map<String, Value>,
}

pub static KEYS: LazyLock<Keys> =
    LazyLock::new(|| serde_json::from_str(include_str!("keys.json")).expect("keys.json has these fields"));

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::spec;

    #[test]
    fn every_key_that_is_read_is_reported_and_no_other() {
        let names = |keys: &'static [YamlKey]| keys.iter().map(|key| key.name.as_str()).collect::<BTreeSet<_>>();
        assert_eq!(names(&KEYS.file), spec::FILE_KEYS.iter().copied().collect());
        let own = BTreeSet::from(["stage", "from", "with"]);
        let shared: BTreeSet<_> = names(&KEYS.stage).union(&own).copied().collect();
        let of_stages: BTreeSet<_> = shared.iter().copied().chain(["device"]).collect();
        assert_eq!(of_stages, spec::STAGE_KEYS.iter().copied().collect());
        let of_commands: BTreeSet<_> = shared.union(&names(&KEYS.command)).copied().collect();
        assert_eq!(of_commands, spec::COMMAND_KEYS.iter().copied().collect());
    }
}
