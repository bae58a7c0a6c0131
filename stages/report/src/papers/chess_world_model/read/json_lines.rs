//! Small files with a JSON object a line: the candidates of a `select`, the differences of a `compare`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::papers::json_lines::number;
pub(crate) use crate::papers::json_lines::read;

/// A training that could be chosen (docs/formats.md, "candidates").
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Candidate {
    /// The rank from 1; none if it was excluded.
    pub(crate) rank: Option<u64>,
    pub(crate) chosen: bool,
    /// The reason why it was chosen or excluded.
    pub(crate) why: Option<String>,
    /// The label of the training.
    pub(crate) label: String,
    pub(crate) family: String,
    pub(crate) size: String,
    /// Numbers, texts and booleans by name.
    pub(crate) parameters: BTreeMap<String, serde_json::Value>,
    /// All hyper-parameters, not only those that were chosen between; files of earlier versions do not have them.
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, serde_json::Value>,
    #[serde(deserialize_with = "number")]
    pub(crate) loss: Option<f64>,
    #[serde(deserialize_with = "number")]
    pub(crate) labelwise: Option<f64>,
    #[serde(deserialize_with = "number")]
    pub(crate) exact: Option<f64>,
    #[serde(deserialize_with = "number")]
    pub(crate) trajectory: Option<f64>,
}

/// A model beside a baseline (docs/formats.md, "differences").
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Difference {
    pub(crate) family: String,
    pub(crate) size: String,
    /// Coordinates beyond family, size, seed and test.
    pub(crate) variant: String,
    pub(crate) baseline: String,
    /// The properties in which it differs beyond its family; files of earlier versions, where it does not, have
    /// neither.
    pub(crate) baseline_size: Option<String>,
    pub(crate) baseline_variant: Option<String>,
    pub(crate) test: String,
    pub(crate) games: u64,
    #[serde(deserialize_with = "number")]
    pub(crate) difference: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) p: Option<f64>,
    #[serde(default, deserialize_with = "number")]
    pub(crate) labelwise_difference: Option<f64>,
    pub(crate) labelwise_low: Option<f64>,
    pub(crate) labelwise_high: Option<f64>,
    pub(crate) labelwise_p: Option<f64>,
    #[serde(default, deserialize_with = "number")]
    pub(crate) exact_difference: Option<f64>,
    pub(crate) exact_low: Option<f64>,
    pub(crate) exact_high: Option<f64>,
    pub(crate) exact_p: Option<f64>,
    pub(crate) confidence: f64,
    pub(crate) lower_games: f64,
}

#[cfg(test)]
mod tests {
    use cwm_contract::GroupInput;

    use super::*;

    fn check(text: &str) -> Result<Vec<(String, Vec<Candidate>)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("candidates");
        std::fs::write(&path, text).unwrap();
        let input = GroupInput { label: "choice[size=d32/l1]".parse().unwrap(), path };
        read("candidates", &[input]).map_err(|failure| failure.message)
    }

    #[test]
    fn lines_are_read_and_odd_numbers_too() {
        let line = r#"{"rank":null,"chosen":false,"why":"diverged","label":"s[lr=1]","family":"slice","size":"d32/l1",
            "status":"diverged","parameters":{"lr":1},"loss":"inf","labelwise":null,"exact":0,"trajectory":0,"steps":9}"#;
        let read = check(&line.replace('\n', " ")).unwrap();
        assert_eq!((read[0].0.as_str(), read[0].1[0].loss), ("choice[size=d32/l1]", Some(f64::INFINITY)));
        assert_eq!(read[0].1[0].labelwise, None);
    }

    #[test]
    fn a_bad_line_is_named() {
        let message = check("{}").unwrap_err();
        assert!(message.starts_with("line 1 of the candidates of choice[size=d32/l1] ("), "{message}");
        assert!(message.contains("missing field `chosen`"), "{message}");
    }
}
