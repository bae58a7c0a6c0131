//! A game that has been played up to a position.

use shakmaty::{Chess, Move, Position};

/// A game so far: where it began, its moves and the position after them.
#[derive(Clone, Debug, Default)]
pub struct GamePrefix {
    start: Chess,
    moves: Vec<Move>,
    position: Chess,
}

impl GamePrefix {
    /// A game that begins at `start`; by default games begin at the initial position.
    pub fn new(start: Chess) -> Self {
        GamePrefix { position: start.clone(), start, moves: Vec::new() }
    }

    /// Plays a move.
    ///
    /// # Panics
    /// It is not legal.
    pub fn push(&mut self, played: Move) {
        assert!(self.position.is_legal(played), "{played:?} is not legal");
        self.position.play_unchecked(played);
        self.moves.push(played);
    }

    /// The position where it began.
    pub fn start(&self) -> &Chess {
        &self.start
    }

    /// The moves so far.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The position after them.
    pub fn position(&self) -> &Chess {
        &self.position
    }
}
