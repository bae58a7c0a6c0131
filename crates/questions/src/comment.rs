//! Comments on moves of games; files of them, one JSON object a line.

use std::io::BufRead;

use cwm_contract::Failure;
use serde::{Deserialize, Serialize};

use crate::json_lines::read_lines;

/// The phase of a game, by the number of the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The game up to move 12.
    Opening,
    /// The game up to move 30.
    Middlegame,
    /// Later.
    Endgame,
}

impl Phase {
    /// The phase of a move.
    pub fn of_move(number: u32) -> Phase {
        match number {
            ..=12 => Phase::Opening,
            13..=30 => Phase::Middlegame,
            _ => Phase::Endgame,
        }
    }
}

/// A comment on a move, as it stands in a file; keys in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comment {
    /// The number of the game, from 1: among all games that were read.
    pub game: u64,
    /// The number of the move in plies, from 1; of a game that was set up, counted from its FEN's move number.
    pub ply: u32,
    /// The move, UCI.
    pub move_uci: String,
    /// The side that played it: `white` or `black`.
    pub mover: String,
    /// The piece that was moved: `knight`.
    pub piece: String,
    /// The number of the move.
    pub move_number: u32,
    /// The phase of the game.
    pub phase: Phase,
    /// The position before the move.
    pub fen_before: String,
    /// The position after it.
    pub fen_after: String,
    /// The comment as it was written.
    pub comment: String,
    /// The phrases that it contains, longest first.
    pub keywords: Vec<String>,
    /// The comment as it is shown.
    pub cleaned: String,
    /// The source of `cleaned`: `rules`, or the name of a model.
    pub cleaned_by: String,
}

/// Reads the comments of `file` (its name in messages). Blank lines are skipped.
///
/// # Errors
///
/// The line that is no comment, and what is wrong there.
pub fn read_comments(reader: impl BufRead, file: &str) -> Result<Vec<Comment>, Failure> {
    read_lines(reader, file, |line| serde_json::from_str(line).map_err(|error| format!("not a comment: {error}")))
}
