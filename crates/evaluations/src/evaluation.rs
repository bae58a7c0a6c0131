//! An evaluated position.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The source of the evaluations of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The engine's name for itself, or the name of a published collection.
    pub made_by: String,
    /// Nodes that the engine searched in each position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// BLAKE3 of the engine's program, in hexadecimal; files of the first versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Options of the engine that were set, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

/// A position and its best lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// Ordinal of the record that it comes from, from 0.
    pub record: u64,
    /// The game that the position is from, by the `index` of its games file.
    pub game: Option<u64>,
    /// The id of that game; empty without one.
    pub id: String,
    /// Plies of the game before the position.
    pub t: Option<u32>,
    /// The position, with an en passant square only where a capture is legal.
    pub fen: String,
    /// The lines, at least one, the best first.
    pub lines: Vec<Line>,
}

impl Evaluation {
    /// Returns true if it has a line, and each line a move.
    pub(crate) fn is_whole(&self) -> bool {
        !self.lines.is_empty() && self.lines.iter().all(|line| !line.moves.is_empty())
    }

    /// The best move, packed (see `PlainMove::packed` of cwm-encoding).
    pub fn best(&self) -> u16 {
        self.lines[0].moves[0]
    }
}

/// Moves and their value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The value for the side to move, if it is known.
    pub score: Option<Score>,
    /// The depth to which it was searched, in plies.
    pub depth: Option<u32>,
    /// The moves, at least one, packed.
    pub moves: Vec<u16>,
}

/// A value for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn.
    Centipawns(i32),
    /// Mate in so many moves (not plies) of the side that mates: of the side to move if positive, else of the other. Their number
    /// may be [`UNKNOWN_MOVES`].
    Mate(i32),
}

/// The moves of a mate of which it is only known which side mates.
pub const UNKNOWN_MOVES: i32 = i32::MAX;

/// Nepers of the odds of winning for a centipawn, as in ChessBench: its published values are whole centipawns by this number.
pub const NEPERS_PER_CENTIPAWN: f64 = 0.003_682_08;

impl Score {
    /// The probability that the same side wins; 1 or 0 of a mate.
    pub fn win_probability(self) -> f64 {
        match self {
            Score::Centipawns(centipawns) => 1. / (1. + (-NEPERS_PER_CENTIPAWN * f64::from(centipawns)).exp()),
            Score::Mate(moves) => f64::from(moves > 0),
        }
    }

    /// The value with this win probability, which must be a number from 0 to 1: the nearest whole centipawns; of 0 and 1, a mate.
    pub fn of_win_probability(win: f64) -> Score {
        if win <= 0. {
            Score::Mate(-UNKNOWN_MOVES)
        } else if win >= 1. {
            Score::Mate(UNKNOWN_MOVES)
        } else {
            Score::Centipawns(((win / (1. - win)).ln() / NEPERS_PER_CENTIPAWN).round() as i32)
        }
    }
}
