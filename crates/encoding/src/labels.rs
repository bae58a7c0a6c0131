//! A position as 75 labels.

use shakmaty::{Chess, Color, EnPassantMode, Piece, Position, Rank, Square};

use crate::LABELS;

/// When the en passant labels are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EnPassant {
    /// After every double pawn push, as the paper's code does, whether or not a capture is possible.
    #[default]
    Always,
    /// Only when an en passant capture is legal, as the paper's text may be read.
    Legal,
}

pub(crate) const SIDE: usize = 64;
pub(crate) const CASTLING: usize = 65;
pub(crate) const EN_PASSANT_FILE: usize = 69;
pub(crate) const EN_PASSANT_RANK: usize = 70;
pub(crate) const HALFMOVE: usize = 71;
pub(crate) const FULLMOVE: usize = 73;

/// Index of the label of a square: a8 first, h1 last.
#[inline]
pub(crate) fn label_of(square: Square) -> usize {
    square.to_usize() ^ 56
}

/// Class of a piece in `.PNBRQKpnbrqk`.
#[inline]
pub(crate) fn class_of(piece: Piece) -> u8 {
    piece.role as u8 + if piece.color.is_black() { 6 } else { 0 }
}

/// The 75 labels of a position (see [`GROUPS`](crate::GROUPS)), from scratch.
///
/// Clocks above 65,535 are held there, as in the paper's code.
pub fn labels_of(position: &Chess, en_passant: EnPassant) -> [u8; LABELS] {
    let mut row = [0; LABELS];
    for (square, piece) in position.board().iter() {
        row[label_of(square)] = class_of(piece);
    }
    set_state(&mut row, position, en_passant);
    row
}

/// Sets the eleven labels that are not squares.
#[inline]
pub(crate) fn set_state(row: &mut [u8; LABELS], position: &Chess, en_passant: EnPassant) {
    row[SIDE] = u8::from(position.turn() == Color::Black);
    let rights = position.castles().castling_rights();
    for (i, rook) in [Square::H1, Square::A1, Square::H8, Square::A8].into_iter().enumerate() {
        row[CASTLING + i] = u8::from(rights.contains(rook));
    }
    let square = match en_passant {
        EnPassant::Always => position.maybe_ep_square(),
        EnPassant::Legal => position.ep_square(EnPassantMode::Legal),
    };
    (row[EN_PASSANT_FILE], row[EN_PASSANT_RANK]) = match square {
        None => (0, 0),
        Some(square) => (square.file() as u8 + 1, if square.rank() == Rank::Third { 1 } else { 2 }),
    };
    [row[HALFMOVE], row[HALFMOVE + 1]] = two_bytes(position.halfmoves());
    [row[FULLMOVE], row[FULLMOVE + 1]] = two_bytes(position.fullmoves().get());
}

/// High byte and low byte of a clock.
#[inline]
fn two_bytes(clock: u32) -> [u8; 2] {
    u16::try_from(clock).unwrap_or(u16::MAX).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    use super::*;

    #[test]
    fn the_initial_position_reads_like_a_board() {
        let row = labels_of(&Chess::default(), EnPassant::Always);
        assert_eq!(row[..8], [10, 8, 9, 11, 12, 9, 8, 10]);
        assert_eq!(row[8..16], [7; 8]);
        assert_eq!(row[48..56], [1; 8]);
        assert_eq!(row[56..64], [4, 2, 3, 5, 6, 3, 2, 4]);
        assert_eq!(row[64..], [0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn clocks_are_held_at_two_bytes() {
        for (clock, bytes) in [(255, [0, 255]), (256, [1, 0]), (65_535, [255, 255]), (70_000, [255, 255])] {
            assert_eq!(two_bytes(clock), bytes);
        }
        let fen: Fen = "4k3/8/8/8/8/8/8/4K3 w - - 300 9999".parse().unwrap();
        let row = labels_of(&fen.into_position(CastlingMode::Standard).unwrap(), EnPassant::Always);
        assert_eq!(row[HALFMOVE..], [1, 44, 39, 15]);
    }
}
