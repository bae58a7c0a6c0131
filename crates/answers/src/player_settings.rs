//! The player that answered, and its settings.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// A run: a player that answers all items with one group of settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayerSettings {
    /// The player's name in tables; if it is empty, that is the label of the cell that wrote the answers.
    pub name: String,
    /// The kind of player, such as `server` or `oracle`; none of another program's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
    /// The model, as it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model, as the server names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_model: Option<String>,
    /// The facts that prompts add about the position: `none`, `pieces` or `pieces_moves`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The group of examples in prompts: 1 or 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<u64>,
    /// The form in which prompts give a position: `fen` or `moves`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// Most tokens of a completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The temperature that was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The effort of reasoning that was requested: `none`, `low`, `medium` or `high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

impl PlayerSettings {
    /// The name, and in brackets the settings other than the default: `gpt-5[context=pieces_moves,reasoning=medium]`.
    pub fn full_name(&self) -> String {
        let examples = self.examples.map(|group| group.to_string());
        let ways = [
            ("context", self.context.as_deref(), "none"),
            ("examples", examples.as_deref(), "1"),
            ("given", self.given.as_deref(), "fen"),
            ("reasoning", self.reasoning.as_deref(), "none"),
        ];
        let mut differing = String::new();
        for (what, value, usual) in ways {
            if let Some(value) = value.filter(|value| *value != usual) {
                let before = if differing.is_empty() { "" } else { "," };
                // Text takes all that is written to it.
                let _ = write!(differing, "{before}{what}={value}");
            }
        }
        if differing.is_empty() { self.name.clone() } else { format!("{}[{differing}]", self.name) }
    }
}

/// The description of all grades or tallies of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradesDescription {
    /// The runs, by their full names.
    pub runs: BTreeMap<String, PlayerSettings>,
    /// For each category the SHA-256 of its items' lines, which shows whether they are the published ones.
    pub items: BTreeMap<String, String>,
    /// Number of bootstrap resamples of the intervals.
    pub resamples: u64,
    /// Seed of their draws.
    pub seed: u64,
}
