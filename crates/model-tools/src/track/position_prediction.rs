//! A model's prediction of a position, as it is drawn and printed.

use serde::Serialize;

/// A model's prediction of a position, with the true one.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionPrediction {
    /// Plies played.
    pub ply: u64,
    /// The move that led to it; none to the first.
    pub last_move: Option<MoveNotation>,
    /// The true position.
    pub truth: PositionView,
    /// The prediction of the model's head.
    pub head: HeadPrediction,
    /// The board that a linear probe reads in the model; none without linear probes.
    pub probed: Option<ProbedBoard>,
}

/// The prediction of a model's head for a position.
#[derive(Clone, Debug, PartialEq)]
pub enum HeadPrediction {
    /// The position itself.
    Board(BoardPrediction),
    /// The likeliest next moves, the likeliest first; none where the game is over.
    Moves(Vec<MovePrediction>),
}

/// The position as a model's head predicts it, label by label.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardPrediction {
    /// The prediction.
    pub predicted: PositionView,
    /// Number of labels that are right.
    pub correct: u32,
    /// Number of labels.
    pub labels: u32,
    /// The labels that are wrong.
    pub errors: Vec<LabelError>,
    /// The probability that the model gives to all its predictions together, as labels are independent.
    pub joint_probability: f64,
    /// The label with the lowest probability.
    pub least_confident: LeastConfident,
}

/// A next move that a model predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct MovePrediction {
    /// `g1f3`.
    pub uci: String,
    /// `Nf3`; none if the move is not legal.
    pub san: Option<String>,
    /// The product of the probabilities of its words, from 0 to 1.
    pub probability: f64,
}

/// The board that a linear probe reads in a layer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbedBoard {
    /// The layer: 0 is after the embedding, l after block l.
    pub layer: u64,
    /// The board, without other fields of a position; its `fen` has the placement of pieces alone.
    pub board: PositionView,
    /// Number of squares that are right, of 64.
    pub correct: u32,
}

/// A move, in the notations of people and of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveNotation {
    /// `12.`, or `12...` of black.
    pub number: String,
    /// `Nf3`.
    pub san: String,
    /// `g1f3`.
    pub uci: String,
}

/// A position for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionView {
    /// The position in Forsyth-Edwards notation, with `?` for values that no position can have.
    pub fen: String,
    /// The squares a8, b8, … h1: the piece, and true if it is wrong.
    pub squares: Vec<(String, bool)>,
    /// The other fields of a position.
    pub state: Vec<StateField>,
}

/// Castling rights, a clock, …
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateField {
    /// `castling`.
    pub name: &'static str,
    /// `KQkq`.
    pub value: String,
    /// True if the value is wrong.
    pub wrong: bool,
}

/// A label that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelError {
    /// `e4`, `castling K`.
    pub label: String,
    /// The prediction of the model.
    pub predicted: LabelPrediction,
    /// The true value, and the probability that the model gives to it.
    #[serde(rename = "true")]
    pub truth: LabelPrediction,
}

/// A value of a label, and its probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelPrediction {
    /// `P`, `yes`.
    pub value: String,
    /// The probability, from 0 to 1; NaN if the model gave none.
    pub probability: f64,
}

/// The label that a model is least confident of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeastConfident {
    /// `e4`.
    pub label: String,
    /// Its most probable value.
    pub prediction: LabelPrediction,
}
