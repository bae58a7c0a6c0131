//! What answers consist of.

use serde::{Deserialize, Serialize};

/// How an answer is judged: as one text, as a list that is compared as a set, or by rules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerType {
    /// One text.
    Single,
    /// A list with commas.
    Multi,
    /// Rules of another crate give the answer a reward.
    Graded,
}

/// What an answer consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One move (UCI).
    Move,
    /// Moves (UCI).
    Moves,
    /// Squares.
    Squares,
    /// Checking pieces: `White Queen at e5`.
    Checkers,
    /// All pieces with their squares.
    Arrangement,
    /// A FEN of six fields.
    Fen,
    /// Three squares of a line: `a1>a2>a8`.
    Lines,
    /// A piece and what it forks: `a1>b2-c3`.
    ForkLines,
    /// The squares of a battery: `a1>a2`.
    Battery,
    /// A whole number of centipawns.
    Centipawns,
    /// The letter of an option.
    Letter,
}
