//! Types and forms of answers.

use serde::{Deserialize, Serialize};

/// The type of an answer, by which it is judged: one text, a list that is compared as a set, or one with rules of its
/// own.
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

/// The form of an answer, such as a move or a list of squares.
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
