//! State tracking: the position after some moves.

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{EnPassantMode, Position as _};

use crate::truth::chess_of_fen;

/// When the en passant square of a FEN is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnPassant {
    /// Where a capture is legal, as python-chess writes it.
    Legal,
    /// After every double push.
    Always,
}

/// The FEN after the moves (UCI, with spaces between them) from the position of a FEN.
///
/// # Errors
///
/// It is no FEN, no position of a game, or a move is not legal.
pub fn fen_after(start: &str, moves: &str, en_passant: EnPassant) -> Result<String, String> {
    let (mut position, _) = chess_of_fen(start)?;
    for (at, uci) in moves.split_whitespace().enumerate() {
        let played = uci.parse::<UciMove>().ok().and_then(|uci| uci.to_move(&position).ok());
        let played = played.ok_or_else(|| format!("move {} of {moves:?} is not legal", at + 1))?;
        position.play_unchecked(played);
    }
    let mode = match en_passant {
        EnPassant::Legal => EnPassantMode::Legal,
        EnPassant::Always => EnPassantMode::Always,
    };
    Ok(Fen::from_position(&position, mode).to_string())
}
