//! The players of a file's games.

use serde::{Deserialize, Serialize};

/// The players of all games of a file, and their rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Players {
    /// The player whose score the games have.
    pub first: Participant,
    /// The other player.
    pub second: Participant,
    /// `attempts` or `mask`: how models choose among legal moves; with what is not the paper's, such as `attempts 9` or
    /// `mask, temperature 0.5`. Absent where no model plays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legality: Option<String>,
    /// `allow` or `avoid`: whether models repeat positions. Absent where no model plays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition: Option<String>,
    /// The engine of the players that need one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineName>,
}

/// A player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Participant {
    /// `model`, `other`, `random`, `level:3`, `level:0-19` (drawn for each game) or `nodes:1000`.
    pub kind: String,
    /// The form and mask of a model, such as `board/none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The size of a model, such as `d64/l2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// Number of a model's parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<u64>,
    /// Steps of a model's training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The seed of a model's training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// An engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineName {
    /// The name that the engine reports, such as `Stockfish 15.1`.
    pub name: String,
    /// BLAKE3 of the program, in hexadecimal.
    pub digest: String,
}
