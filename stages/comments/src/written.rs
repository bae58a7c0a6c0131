//! A comment that was written about a move, before anything is done with it.

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position, Role};

/// A comment, the move that it is about, and the positions around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenComment {
    /// The number of the move in plies, from 1.
    pub ply: u32,
    /// The number of the move.
    pub move_number: u32,
    /// The move, UCI.
    pub move_uci: String,
    /// The side that played it.
    pub mover: Color,
    /// The piece that was moved.
    pub piece: Role,
    /// The position before the move.
    pub fen_before: String,
    /// The position after it.
    pub fen_after: String,
    /// The text.
    pub comment: String,
}

impl WrittenComment {
    /// A comment on a move that is legal in `before`.
    pub fn new(before: &Chess, played: Move, comment: String) -> Self {
        let mut after = before.clone();
        after.play_unchecked(played);
        let (number, mover) = (before.fullmoves().get(), before.turn());
        WrittenComment {
            ply: 2 * (number - 1) + mover.fold_wb(1, 2),
            move_number: number,
            move_uci: played.to_uci(CastlingMode::Standard).to_string(),
            mover,
            piece: played.role(),
            fen_before: fen(before),
            fen_after: fen(&after),
            comment,
        }
    }
}

/// The name of a side.
pub fn side(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

/// An en passant square stands in it only where a capture is legal.
fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}
