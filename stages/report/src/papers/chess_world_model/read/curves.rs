//! Curves files: the losses of a training by step, a JSON object a line.

use std::io::{BufRead, BufReader};
use std::path::Path;

use cwm_contract::{Failure, GroupInput};
use cwm_page::escape_controls;
use serde::{Deserialize, Deserializer, de};

use crate::papers::chess_world_model::model::coordinates;

/// The losses of one training.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    /// Label of the training, such as `model[size=d32/l1,seed=0]`.
    pub(crate) label: String,
    /// The label's coordinates but its seed, which the scores of the model have as well.
    pub(crate) coordinates: Vec<(String, String)>,
    /// Step and training loss.
    pub(crate) train: Vec<(u64, f64)>,
    /// Step and validation loss.
    pub(crate) validation: Vec<(u64, f64)>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Train {
        step: u64,
        #[serde(deserialize_with = "number")]
        loss: f64,
    },
    Validation {
        step: u64,
        #[serde(deserialize_with = "number")]
        loss: f64,
    },
}

/// Reads a JSON number, or one of the texts for numbers that JSON lacks.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::Number(number) => number.as_f64().ok_or_else(|| de::Error::custom("not a 64-bit float")),
        serde_json::Value::String(text) => match text.as_str() {
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            "nan" => Ok(f64::NAN),
            other => Err(de::Error::custom(format!("`{other}` is no number"))),
        },
        other => Err(de::Error::custom(format!("`{other}` is no number"))),
    }
}

/// Reads all of them, in the order of their labels.
///
/// # Errors
/// A file cannot be read, or one of its lines cannot be understood.
pub(crate) fn read(inputs: &[GroupInput]) -> Result<Vec<Curve>, Failure> {
    inputs.iter().map(|input| read_one(&input.path, &escape_controls(&input.label.to_string()))).collect()
}

fn read_one(path: &Path, label: &str) -> Result<Curve, Failure> {
    let file = std::fs::File::open(path).map_err(|error| Failure::io("open", path, error))?;
    let mut curve =
        Curve { label: label.to_owned(), coordinates: coordinates(label), train: vec![], validation: vec![] };
    for (index, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(|error| Failure::io("read", path, error))?;
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&line) {
            Ok(Line::Train { step, loss }) => curve.train.push((step, loss)),
            Ok(Line::Validation { step, loss }) => curve.validation.push((step, loss)),
            Err(error) => {
                return Err(Failure::input(format!(
                    "line {} of the curves of {label} ({}) cannot be understood: {error}",
                    index + 1,
                    path.display()
                )));
            }
        }
    }
    Ok(curve)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<Curve, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("curves");
        std::fs::write(&path, text).unwrap();
        read_one(&path, "model[size=d32/l1,seed=3]").map_err(|failure| failure.message)
    }

    #[test]
    fn both_kinds_and_odd_numbers_are_read() {
        let curve = check(concat!(
            r#"{"kind":"train","step":1,"loss":2.5,"learning_rate":0.1,"gradient_norm":"inf"}"#,
            "\n",
            r#"{"kind":"train","step":2,"loss":"inf","learning_rate":0.1,"gradient_norm":1}"#,
            "\n",
            r#"{"kind":"validation","step":2,"loss":1,"labelwise":0.5,"exact":0,"trajectory":0,"games":9}"#,
        ))
        .unwrap();
        assert_eq!(curve.train, [(1, 2.5), (2, f64::INFINITY)]);
        assert_eq!(curve.validation, [(2, 1.0)]);
        assert_eq!(curve.coordinates, [("size".to_owned(), "d32/l1".to_owned())]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let message = check("{\"kind\":\"train\",\"step\":1,\"loss\":1}\n{\"kind\":\"train\",\"step\":2}").unwrap_err();
        assert!(message.starts_with("line 2 of the curves of model[size=d32/l1,seed=3]"), "{message}");
        assert!(message.contains("missing field `loss`"), "{message}");
        assert!(check(r#"{"kind":"train","step":1,"loss":"much"}"#).unwrap_err().contains("`much` is no number"));
    }
}
