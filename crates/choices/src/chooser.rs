//! The model that chose.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The model that chose the moves of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chooser {
    /// The family of a model of ours, or the name of another program's.
    pub name: String,
    /// Its size, such as `d64/l2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// Number of its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<u64>,
    /// The form in which it reads a position or a game; none of another program's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// The tokens that a token of its input sees: those before it (`causal`) or all (`none`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// Number of different positions that it was trained on, where each of its sequences is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trained_positions: Option<u64>,
    /// Steps of its training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Further properties of its training, such as `batch_size` and `lr`; and `status`, if the training diverged.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub training: Map<String, Value>,
    /// Seed of its training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Precision in which it chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
}

impl Chooser {
    /// The name of its kind in tables: form and mask, such as `board/none`; the name of another program's model.
    pub fn arm(&self) -> String {
        match (&self.form, &self.mask) {
            (Some(form), Some(mask)) => format!("{form}/{mask}"),
            (Some(form), None) => form.clone(),
            (None, _) => self.name.clone(),
        }
    }

    /// True if its training diverged: it ended early, and the model has the weights from before.
    pub fn has_diverged(&self) -> bool {
        self.training.get("status").and_then(Value::as_str) == Some("diverged")
    }
}
