//! A game as far as it was played.

use cwm_encoding::{EnPassant, LABELS, PlainMove, labels_of};
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Color, Move, Position};

use super::position_prediction::{HeadPrediction, MoveNotation, PositionPrediction, ProbedBoard};
use super::prediction;

/// A position, and how it came to be.
#[derive(Default)]
pub struct Game {
    /// The position.
    pub position: Chess,
    ply: u64,
    last_move: Option<MoveNotation>,
}

impl Game {
    /// Plays a legal move.
    pub fn play(&mut self, played: Move) {
        let dots = if self.position.turn() == Color::White { "." } else { "..." };
        self.last_move = Some(MoveNotation {
            number: format!("{}{dots}", self.position.fullmoves()),
            san: SanPlus::from_move(self.position.clone(), played).to_string(),
            uci: PlainMove::from(played).to_string(),
        });
        self.position.play_unchecked(played);
        self.ply += 1;
    }

    /// The true labels.
    pub fn labels(&self) -> [u8; LABELS] {
        labels_of(&self.position, EnPassant::Always)
    }

    /// The prediction of the position, with the true board.
    pub fn prediction(&self, head: HeadPrediction, probed: Option<ProbedBoard>) -> PositionPrediction {
        let truth = prediction::truth(&self.labels());
        PositionPrediction { ply: self.ply, last_move: self.last_move.clone(), truth, head, probed }
    }
}
