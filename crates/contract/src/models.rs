//! Models that are named by hand, and games followed with them.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Facts about a model in a file of another program that the file does not say.
#[derive(Clone, Debug, Default)]
pub struct ModelHints {
    /// Its family.
    pub family: Option<String>,
    /// Its size, such as `d128/l1`.
    pub size: Option<String>,
    /// Options of the family by name.
    pub options: BTreeMap<String, String>,
    /// Path of its parameters in the file, such as `model_state_dict`.
    pub key: Option<String>,
    /// True if float64 parameters are rounded to float32.
    pub round: bool,
    /// The form of the sequences in which it answers with moves; without one it predicts labels.
    pub form: Option<String>,
}

/// A request to follow a game with a model.
#[derive(Clone, Debug, Default)]
pub struct TrackRequest {
    /// A checkpoint's folder, or a file of weights.
    pub model: PathBuf,
    /// Facts about a file of weights.
    pub hints: ModelHints,
    /// The number of the game among several, from 1.
    pub game: u64,
    /// A folder of linear probes (format `probes`) of the model.
    pub probes: Option<PathBuf>,
    /// The layer whose linear probe reads the board; by default the last that has one.
    pub layer: Option<u64>,
}

/// A request to play as a chess engine.
#[derive(Clone, Debug, Default)]
pub struct UciRequest {
    /// A checkpoint's folder.
    pub model: PathBuf,
    /// The device to compute on.
    pub device: String,
    /// True if the model chooses among the legal moves; else it loses a game in which some attempts give none.
    pub is_masked: bool,
}

/// A report about a game that is followed with a model. Each has a text for people and a line of JSON for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrackReport {
    /// The model's prediction of a position.
    Position {
        /// Lines in pieces, each piece with true if it is wrong.
        text: Vec<(String, bool)>,
        /// The line of JSON.
        json: String,
    },
    /// The counts over all positions.
    Summary {
        /// A sentence.
        text: String,
        /// The line of JSON.
        json: String,
    },
}
