//! Counts over a whole game, and the JSON of a position.

use std::fmt;

use cwm_contract::{Failure, TrackReport};
use serde::Serialize;
use serde_json::{Value, json};

use super::position_prediction::{BoardPrediction, HeadPrediction, PositionPrediction};

/// Squares of a board.
const SQUARES: u64 = 64;

/// Counts over the positions so far.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// The number of positions, with the initial one.
    pub positions: u64,
    exact: u64,
    right: u64,
    labels: u64,
    first_error: Option<u64>,
    /// Positions with a next move, of a model of words.
    to_move: u64,
    /// Positions whose likeliest move is legal.
    legal: u64,
    /// Squares that a linear probe read.
    squares: u64,
    squares_right: u64,
}

impl Summary {
    /// Counts a position.
    pub fn add(&mut self, tracked: &PositionPrediction) {
        self.positions += 1;
        match &tracked.head {
            HeadPrediction::Board(board) => self.add_board(tracked.ply, board),
            HeadPrediction::Moves(moves) => {
                self.to_move += u64::from(!moves.is_empty());
                self.legal += u64::from(moves.first().is_some_and(|likeliest| likeliest.san.is_some()));
            }
        }
        if let Some(probed) = &tracked.probed {
            self.squares += SQUARES;
            self.squares_right += u64::from(probed.correct);
        }
    }

    /// The report of the counts.
    ///
    /// # Errors
    /// None: all counts are numbers.
    pub fn report(&self) -> Result<TrackReport, Failure> {
        let json = serde_json::to_string(self).map_err(|error| Failure::internal(error.to_string()))?;
        Ok(TrackReport::Summary { text: self.to_string(), json })
    }

    fn add_board(&mut self, ply: u64, board: &BoardPrediction) {
        self.right += u64::from(board.correct);
        self.labels += u64::from(board.labels);
        if board.correct == board.labels {
            self.exact += 1;
        } else if self.first_error.is_none() {
            self.first_error = Some(ply);
        }
    }
}

/// `12 of 13 positions exact, 974 of 975 labels right; the first error is at ply 12`; of a model of words `the likeliest move is
/// legal in 12 of 13 positions`; with linear probes also `; linear probe: 830 of 832 squares right`.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { positions, exact, right, labels, first_error, to_move, legal, squares, squares_right } = self;
        match labels {
            0 => write!(f, "the likeliest move is legal in {legal} of {to_move} positions")?,
            _ => write!(f, "{exact} of {positions} positions exact, {right} of {labels} labels right")?,
        }
        first_error.map_or(Ok(()), |ply| write!(f, "; the first error is at ply {ply}"))?;
        match squares {
            0 => Ok(()),
            _ => write!(f, "; linear probe: {squares_right} of {squares} squares right"),
        }
    }
}

/// A position as `--json` prints it.
pub fn json_line(position: &PositionPrediction) -> String {
    let (board, moves) = match &position.head {
        HeadPrediction::Board(board) => (Some(board), None),
        HeadPrediction::Moves(moves) => (None, Some(moves)),
    };
    let moves = moves.map(|moves| {
        let of = moves.iter().map(|next| json!({ "uci": next.uci, "san": next.san, "probability": next.probability }));
        of.collect::<Vec<Value>>()
    });
    let probed = position.probed.as_ref();
    let line = json!({
        "ply": position.ply,
        "uci": position.last_move.as_ref().map(|played| &played.uci),
        "san": position.last_move.as_ref().map(|played| &played.san),
        "predicted": board.map(|board| &board.predicted.fen),
        "true": position.truth.fen,
        "right": board.map(|board| board.correct),
        "labels": board.map(|board| board.labels),
        "wrong": board.map(|board| &board.errors),
        "joint_probability": board.map(|board| board.joint_probability),
        "least_confident": board.map(|board| &board.least_confident),
        "moves": moves,
        "probed": probed.map(|probed| {
            json!({ "layer": probed.layer, "board": probed.board.fen, "right": probed.correct })
        }),
    });
    line.to_string()
}
