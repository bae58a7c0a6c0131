//! The claims of a text about a position, and their truth: that moves are legal, and that pieces stand on squares.
//!
//! They measure false statements without a judge: every move and every named piece of the thinking is checked.

mod line;
mod moves;
mod pieces;
mod text;

use std::ops::Range;

use shakmaty::{Chess, Color, Role, Square};

use crate::reading::ReadAnswer;

/// The rule by which the claim of a move is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClaimRule {
    /// The move is legal in the item's position.
    #[default]
    Position,
    /// The move is legal there, or after the moves that were claimed directly before it in the same sentence.
    Line,
}

impl ClaimRule {
    /// Both.
    pub const ALL: [ClaimRule; 2] = [ClaimRule::Position, ClaimRule::Line];

    /// The name in pipelines.
    pub fn name(self) -> &'static str {
        match self {
            ClaimRule::Position => "rule",
            ClaimRule::Line => "line",
        }
    }

    /// The rule of this name.
    pub fn of_name(name: &str) -> Option<ClaimRule> {
        ClaimRule::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

/// The claims of a text, each kind in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Moves.
    pub moves: Vec<MoveClaim>,
    /// Pieces.
    pub pieces: Vec<PieceClaim>,
}

/// A move that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveClaim {
    /// The move, UCI in lower case.
    pub uci: String,
    /// True if it is legal by the [`ClaimRule`].
    pub is_true: bool,
    /// Its bytes in the text.
    pub bytes: Range<usize>,
}

/// A piece that a text names with its square.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceClaim {
    /// Its colour, if the text names one.
    pub color: Option<Color>,
    /// Its kind.
    pub role: Role,
    /// Its square.
    pub square: Square,
    /// True if it stands there; without a colour one of either colour may.
    pub is_true: bool,
    /// The bytes of the claim in the text.
    pub bytes: Range<usize>,
}

impl Claims {
    /// The number of true claims of moves.
    pub fn true_moves(&self) -> usize {
        self.moves.iter().filter(|claim| claim.is_true).count()
    }

    /// The number of true claims of pieces.
    pub fn true_pieces(&self) -> usize {
        self.pieces.iter().filter(|claim| claim.is_true).count()
    }

    /// True if the answered move is among the claims; none without one move that was read.
    pub fn grounded(&self, read: Option<&ReadAnswer>) -> Option<bool> {
        let Some(ReadAnswer::Move(uci)) = read else { return None };
        Some(self.moves.iter().any(|claim| claim.uci == *uci))
    }

    /// True if the answered move is the last claim of a move; none without one move that was read.
    pub fn last(&self, read: Option<&ReadAnswer>) -> Option<bool> {
        let Some(ReadAnswer::Move(uci)) = read else { return None };
        Some(self.moves.last().is_some_and(|claim| claim.uci == *uci))
    }
}

/// The claims of `text` about `position`: those before the last answer tag, without lines that draw a board.
pub fn claims(position: &Chess, text: &str, rule: ClaimRule) -> Claims {
    let text = text::thinking(text);
    let moves = match rule {
        ClaimRule::Position => moves::claims(position, &text),
        ClaimRule::Line => line::claims(position, &text),
    };
    Claims { moves, pieces: pieces::claims(position, &text) }
}

#[cfg(test)]
mod replay;
#[cfg(test)]
mod tests;
