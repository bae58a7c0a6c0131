//! What is told of models by hand: where one comes from, and what it believes of a game.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is known of a model in a file of another program, beyond what the file says.
#[derive(Clone, Debug, Default)]
pub struct ModelHints {
    /// Its family.
    pub family: Option<String>,
    /// Its size, such as `d128/l1`.
    pub size: Option<String>,
    /// Options of the family by name.
    pub options: BTreeMap<String, String>,
    /// Where in the file its parameters are, such as `model_state_dict`.
    pub key: Option<String>,
    /// Whether float64 parameters that are no float32 are rounded.
    pub round: bool,
}

/// A model to follow a game with.
#[derive(Clone, Debug, Default)]
pub struct TrackRequest {
    /// A checkpoint's folder, or a file of weights.
    pub model: PathBuf,
    /// What is known of a file of weights.
    pub hints: ModelHints,
    /// Which game of several, from 1.
    pub game: u64,
}

/// A position that a model believes in, beside the true one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracked {
    /// Plies played.
    pub ply: u64,
    /// The move that led to it; none to the first.
    pub played: Option<Played>,
    /// What the model believes.
    pub believed: Seen,
    /// What is true.
    pub truth: Seen,
    /// How many labels are right.
    pub right: u32,
    /// How many there are.
    pub labels: u32,
    /// Each label that is wrong.
    pub wrong: Vec<Misbelief>,
    /// The probability that the model gives to all that it believes together, its labels being independent.
    pub sure: f64,
    /// The label that it is least sure of.
    pub least_sure: Doubt,
}

/// A move, in the notations of people and of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// `12.`, or `12...` of black.
    pub number: String,
    /// `Nf3`.
    pub san: String,
    /// `g1f3`.
    pub uci: String,
}

/// A position as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// In Forsyth-Edwards notation, with `?` for what no position can have.
    pub fen: String,
    /// The squares a8, b8, … h1: what stands there, and whether that is wrong.
    pub squares: Vec<(String, bool)>,
    /// What else belongs to a position.
    pub state: Vec<StateItem>,
}

/// Castling rights, a clock, …
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateItem {
    /// `castling`.
    pub name: &'static str,
    /// `KQkq`.
    pub value: String,
    /// Whether that is wrong.
    pub wrong: bool,
}

/// A label that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Misbelief {
    /// `e4`, `castling K`.
    pub label: String,
    /// What the model believes.
    pub believed: Belief,
    /// What is true, and how far the model believes that.
    pub truth: Belief,
}

/// A value of a label, and how far it is believed.
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    /// `P`, `yes`.
    pub value: String,
    /// From 0 to 1; not a number where the model gave none.
    pub share: f64,
}

/// A label, and what is believed of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// `e4`.
    pub label: String,
    /// What is believed.
    pub belief: Belief,
}
