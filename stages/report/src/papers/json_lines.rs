//! Files with a JSON object a line, which several papers read.

use cwm_contract::{Failure, GroupInput};
use cwm_page::escape_controls;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, de};

/// Reads the lines of each file, with the label of the cell that wrote it. `what` names the files in errors.
///
/// # Errors
/// A file cannot be read, or one of its lines is no `T`.
pub(crate) fn read<T: DeserializeOwned>(what: &str, inputs: &[GroupInput]) -> Result<Vec<(String, Vec<T>)>, Failure> {
    let read_one = |input: &GroupInput| {
        let text = std::fs::read_to_string(&input.path).map_err(|error| Failure::io("read", &input.path, error))?;
        let line = |(index, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| {
                let (number, path) = (index + 1, input.path.display());
                let label = &input.label;
                Failure::input(format!("line {number} of the {what} of {label} ({path}) cannot be understood: {error}"))
            })
        };
        let lines = text.lines().enumerate().map(line).collect::<Result<_, _>>()?;
        Ok((escape_controls(&input.label.to_string()), lines))
    };
    inputs.iter().map(read_one).collect()
}

/// Reads a number, `null`, or one of the texts for numbers that JSON lacks: `inf`, `-inf`, `nan`.
pub(crate) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::Null => Ok(None),
        serde_json::Value::Number(number) => Ok(number.as_f64()),
        serde_json::Value::String(text) => match text.as_str() {
            "inf" => Ok(Some(f64::INFINITY)),
            "-inf" => Ok(Some(f64::NEG_INFINITY)),
            "nan" => Ok(Some(f64::NAN)),
            other => Err(de::Error::custom(format!("`{other}` is no number"))),
        },
        other => Err(de::Error::custom(format!("`{other}` is no number"))),
    }
}
