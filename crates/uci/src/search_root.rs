//! Positions for queries to an engine: only those with a legal move.

use cwm_contract::Failure;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, EnPassantMode, Position};
use shakmaty_uci::UciMessage;

/// A position of chess by its rules, with a legal move. Others never reach an engine: some crash it.
#[derive(Clone, Debug)]
pub struct SearchRoot {
    position: Chess,
    /// The command, such as `position startpos moves e2e4`.
    command: String,
}

impl SearchRoot {
    /// A position by itself. Its FEN has an en passant square only where that capture is legal, as python-chess writes it.
    ///
    /// # Errors
    /// There is no legal move.
    pub fn position(position: &Chess) -> Result<Self, Failure> {
        let fen = Fen::from_position(position, EnPassantMode::Legal);
        Self::new(position.clone(), UciMessage::Position { startpos: false, fen: Some(fen), moves: Vec::new() })
    }

    /// The position after these moves from the initial one. The engine sees repetitions.
    ///
    /// # Errors
    /// A move is illegal, or there is no legal move after the last.
    pub fn game(moves: &[UciMove]) -> Result<Self, Failure> {
        let mut position = Chess::default();
        for (ply, word) in moves.iter().enumerate() {
            let illegal = |_| Failure::input(format!("move {} of the game, `{word}`, is illegal", ply + 1));
            position.play_unchecked(word.to_move(&position).map_err(illegal)?);
        }
        Self::new(position, UciMessage::Position { startpos: true, fen: None, moves: moves.to_vec() })
    }

    fn new(position: Chess, command: UciMessage) -> Result<Self, Failure> {
        let root = SearchRoot { position, command: command.to_string() };
        if root.position.legal_moves().is_empty() {
            return Err(Failure::input(format!("there is no legal move in the position `{}`", root.fen())));
        }
        Ok(root)
    }

    /// The position of the query.
    pub fn chess(&self) -> &Chess {
        &self.position
    }

    /// Its FEN, with an en passant square only where that capture is legal.
    pub fn fen(&self) -> String {
        Fen::from_position(&self.position, EnPassantMode::Legal).to_string()
    }

    /// The command that sets it up in an engine.
    pub(crate) fn command(&self) -> &str {
        &self.command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(shakmaty::CastlingMode::Standard).unwrap()
    }

    #[test]
    fn positions_are_told_by_their_fen() {
        // En passant: no pawn can capture; one can.
        for (square, field) in [
            ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", "-"),
            ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "e3"),
        ] {
            let root = SearchRoot::position(&position(square)).unwrap();
            assert_eq!(root.command(), format!("position fen {}", root.fen()));
            assert_eq!(root.fen().split(' ').nth(3), Some(field));
        }
    }

    #[test]
    fn games_are_told_by_their_moves() {
        let moves: Vec<UciMove> = ["e2e4", "e7e5"].map(|word| word.parse().unwrap()).into();
        assert_eq!(SearchRoot::game(&moves).unwrap().command(), "position startpos moves e2e4 e7e5");
        assert_eq!(SearchRoot::game(&[]).unwrap().command(), "position startpos");
        let wrong = SearchRoot::game(&[moves[0], moves[0]]).unwrap_err();
        assert_eq!(wrong.message, "move 2 of the game, `e2e4`, is illegal");
    }

    #[test]
    fn nobody_is_asked_at_the_end_of_a_game() {
        for end in ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"] {
            let failure = SearchRoot::position(&position(end)).unwrap_err();
            assert_eq!(failure.message, format!("there is no legal move in the position `{end}`"));
        }
    }
}
