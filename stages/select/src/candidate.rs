//! One training that may be chosen: the content of its summary.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use cwm_contract::{Failure, Label};
use serde_json::{Map, Value};

use crate::scalar::Scalar;

/// Larger files are no summaries: 1 MiB.
const LARGEST: u64 = 1 << 20;

/// The hyper-parameters that papers print, by their names in `train`.
const SETTINGS: [&str; 5] = ["lr", "warmup", "beta2", "weight_decay", "lr_floor"];

/// The last validation of a training.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    /// Mean cross-entropy of a label or of an answer; may be infinite or NaN.
    pub loss: f64,
    /// Share of labels that were right, in a training on labels.
    pub labelwise: Option<f64>,
    /// Share of positions with all labels right, likewise.
    pub exact: Option<f64>,
    /// Share of games with all positions exact, likewise.
    pub trajectory: Option<f64>,
    /// The size of the validation set: games, or the positions of sequences.
    pub extent: (u64, &'static str),
}

/// A training.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The label of the training.
    pub label: Label,
    /// Its family.
    pub family: String,
    /// Its size.
    pub size: String,
    /// The end of the training: `finished`, `diverged`.
    pub status: String,
    /// Batches it drew.
    pub steps: u64,
    /// Its last validation, if it had any.
    pub validation: Option<Validation>,
    /// The hyper-parameters that are to be chosen, by name.
    pub parameters: BTreeMap<String, Scalar>,
    /// The hyper-parameters that papers print, as far as the training has them, whether they are to be chosen or not.
    pub settings: BTreeMap<String, Scalar>,
}

impl Candidate {
    /// Reads the summary at `path` of the training `label`, of which `parameters` are requested.
    ///
    /// # Errors
    /// The file cannot be read, is no summary, or has not all that is requested.
    pub fn read(label: &Label, path: &Path, parameters: &[String]) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| Failure::io("open", path, error))?;
        let mut text = String::new();
        let read = file.take(LARGEST + 1).read_to_string(&mut text);
        read.map_err(|error| Failure::io("read", path, error))?;
        let wrong = |what: String| Failure::input(format!("the summary of {label} ({}) {what}", path.display()));
        if text.len() as u64 > LARGEST {
            return Err(wrong(format!("is longer than {LARGEST} bytes")));
        }
        let summary: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("is not JSON: {error}")))?;
        match &summary["format"] {
            Value::Number(format) if format.as_u64() == Some(1) => {}
            Value::Null => return Err(wrong("has no format".to_owned())),
            other => return Err(wrong(format!("has format {other}; this cwm reads format 1"))),
        }
        let text = |object: &Value, key: &str| match &object[key] {
            Value::String(text) => Ok(text.clone()),
            _ => Err(wrong(format!("has no `{key}`"))),
        };
        let training = summary["training"].as_object().ok_or_else(|| wrong("has no `training`".to_owned()))?;
        let steps = training.get("steps").and_then(Value::as_u64).ok_or_else(|| wrong("has no `steps`".into()))?;
        let parameters = parameters
            .iter()
            .map(|name| {
                let scalar = training.get(name).and_then(Scalar::of_json);
                let scalar = scalar.ok_or_else(|| {
                    wrong(format!("has no `{name}`")).hint(
                        "`parameters` of `select` names what is chosen; a training writes its own down in `training`",
                    )
                })?;
                Ok((name.clone(), scalar))
            })
            .collect::<Result<_, Failure>>()?;
        let validation = match training.get("validation") {
            None | Some(Value::Null) => None,
            Some(Value::Object(measured)) => Some(
                Validation::read(measured).ok_or_else(|| wrong("has a `validation` that is not readable".into()))?,
            ),
            Some(_) => return Err(wrong("has a `validation` that is not readable".to_owned())),
        };
        let falls = training.get("schedule").and_then(Value::as_str) != Some("constant");
        let settings = SETTINGS.iter().filter(|name| falls || **name != "lr_floor");
        let settings = settings.filter_map(|name| Some(((*name).to_owned(), Scalar::of_json(training.get(*name)?)?)));
        Ok(Candidate {
            label: label.clone(),
            family: text(&summary["architecture"], "family")?,
            size: text(&summary["architecture"], "size")?,
            status: text(&summary, "status")?,
            steps,
            validation,
            parameters,
            settings: settings.collect(),
        })
    }

    /// Returns the reason why it cannot be chosen, if there is one.
    pub fn exclusion_reason(&self) -> Option<String> {
        match &self.validation {
            _ if self.status != "finished" => Some(self.status.clone()),
            None => Some("never validated".to_owned()),
            Some(validation) if !validation.loss.is_finite() => Some("validation loss is not finite".to_owned()),
            Some(_) => None,
        }
    }
}

impl Validation {
    fn read(measured: &Map<String, Value>) -> Option<Self> {
        let number = |key: &str| number(measured.get(key)?);
        let loss = number("loss")?;
        // A training on sequences.
        if let Some(positions) = measured.get("positions") {
            let extent = (positions.as_u64()?, "positions");
            return Some(Validation { loss, labelwise: None, exact: None, trajectory: None, extent });
        }
        let [labelwise, exact, trajectory] = ["labelwise", "exact", "trajectory"].map(number);
        let extent = (measured.get("games")?.as_u64()?, "games");
        Some(Validation {
            loss,
            labelwise: Some(labelwise?),
            exact: Some(exact?),
            trajectory: Some(trajectory?),
            extent,
        })
    }
}

/// A number, or the text that stands for one that is not finite.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            "nan" => Some(f64::NAN),
            _ => None,
        },
        _ => None,
    }
}
