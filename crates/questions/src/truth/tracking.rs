//! State tracking: the position after some moves.

use cwm_encoding::EnPassant;
use shakmaty::fen::Fen;
use shakmaty::{EnPassantMode, Position as _};

use crate::truth::chess_of_fen;
use crate::truth::uci::played;

/// The FEN after the moves (UCI, with spaces between them) from the position of a FEN. python-chess writes an en passant square
/// where a capture is legal.
///
/// # Errors
///
/// It is no FEN, no position of a game, or a move is not legal.
pub fn fen_after(start: &str, moves: &str, en_passant: EnPassant) -> Result<String, String> {
    let (mut position, _) = chess_of_fen(start)?;
    for (at, uci) in moves.split_whitespace().enumerate() {
        let played = played(&position, uci).ok_or_else(|| format!("move {} of {moves:?} is not legal", at + 1))?;
        position.play_unchecked(played);
    }
    let mode = match en_passant {
        EnPassant::Legal => EnPassantMode::Legal,
        EnPassant::Always => EnPassantMode::Always,
    };
    Ok(Fen::from_position(&position, mode).to_string())
}
