//! Describes a model and its training, as `model.json`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Architecture, ModelError};

/// Version of `model.json` that this code writes; newer ones are refused.
pub const FORMAT: u32 = 1;

/// Contents of `model.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// [`FORMAT`].
    pub format: u32,
    /// Family, size and options.
    pub architecture: Architecture,
    /// Number of parameters.
    pub parameters: u64,
    /// The end of the training.
    pub status: Status,
    /// The training: steps, hyper-parameters, seeds. The trainer decides the keys.
    pub training: serde_json::Map<String, serde_json::Value>,
}

/// The end of a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It made all its steps.
    Finished,
    /// Too many batches in a row had no finite loss or gradient; the weights are those before them.
    Diverged,
}

/// Larger files are not descriptions of ours.
const LARGEST: u64 = 1 << 20;

#[derive(Deserialize)]
struct Version {
    format: u32,
}

impl Description {
    /// Reads a description.
    ///
    /// # Errors
    /// No file, not JSON, a newer format, or fields that are missing or unknown.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let wrong =
            |error: serde_json::Error| ModelError::content(path, format!("is no description of a model: {error}"));
        let size = std::fs::metadata(path).map_err(|error| ModelError::file("read", path, error))?.len();
        if size > LARGEST {
            return Err(ModelError::content(path, format!("is no description of a model: {size} bytes long")));
        }
        let text = std::fs::read(path).map_err(|error| ModelError::file("read", path, error))?;
        let Version { format } = serde_json::from_slice(&text).map_err(wrong)?;
        if format != FORMAT {
            let message = format!("has format {format}; this build reads format {FORMAT}");
            return Err(ModelError::content(path, message));
        }
        serde_json::from_slice(&text).map_err(wrong)
    }

    /// The form of the sequences that it was trained on, if it is a model of sequences.
    pub fn form(&self) -> Option<&str> {
        self.training.get("vocabulary")?.get("form")?.as_str()
    }

    /// Writes it, keys in a fixed order.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ModelError> {
        let mut text = serde_json::to_string_pretty(self).expect("a description is plain data");
        text.push('\n');
        std::fs::write(path, text).map_err(|error| ModelError::file("write", path, error))
    }
}
