//! A game in progress, as each kind of player needs it.

use cwm_game::GameState;
use cwm_player::GamePrefix;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move};

/// A game in progress.
#[derive(Default)]
pub struct Board {
    /// The state, for the end of the game and repetitions.
    pub state: GameState,
    /// The game as models read it.
    pub game: GamePrefix,
    /// The moves as engines read them.
    pub uci_moves: Vec<UciMove>,
}

impl Board {
    /// A game that begins with these moves.
    pub fn after(opening: &[Move]) -> Self {
        let mut board = Board::default();
        opening.iter().for_each(|&played| board.play(played));
        board
    }

    /// Plays a move, which must be legal.
    pub fn play(&mut self, played: Move) {
        self.uci_moves.push(played.to_uci(CastlingMode::Standard));
        self.game.push(played);
        self.state.play(played);
    }

    /// The position.
    pub fn position(&self) -> &Chess {
        self.state.position()
    }

    /// The moves so far.
    pub fn moves(&self) -> &[Move] {
        self.game.moves()
    }
}
