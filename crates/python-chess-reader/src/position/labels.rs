//! A position as the authors' 75 labels.

use cwm_encoding::LABELS;
use shakmaty::{Bitboard, Color, Rank, Role, Square};

use super::{Position, backrank};

impl Position {
    /// The 75 labels (see `docs/formats.md`). Clocks end at 65,535; an en passant square that only a FEN can give, on
    /// another rank than the third or sixth, is none.
    pub fn labels(&self) -> [u8; LABELS] {
        let mut row = [0; LABELS];
        for (square, piece) in self.board.iter() {
            let class = piece.role as u8 + if piece.color.is_black() { 6 } else { 0 };
            // a8 comes first, h1 last.
            row[square.flip_vertical().to_usize()] = class;
        }
        row[64] = u8::from(self.turn == Color::Black);
        for (pair, color) in [Color::White, Color::Black].into_iter().enumerate() {
            let (king_side, queen_side) = self.castling_sides(color);
            row[65 + 2 * pair] = u8::from(king_side);
            row[66 + 2 * pair] = u8::from(queen_side);
        }
        let rank = |square: &Square| match square.rank() {
            Rank::Third => Some(1),
            Rank::Sixth => Some(2),
            _ => None,
        };
        if let Some((square, rank)) = self.ep_square.and_then(|square| Some((square, rank(&square)?))) {
            (row[69], row[70]) = (square.file() as u8 + 1, rank);
        }
        let clock = |clock: u32| (clock.min(u32::from(u16::MAX)) as u16).to_be_bytes();
        [row[71], row[72]] = clock(self.halfmoves);
        [row[73], row[74]] = clock(self.fullmoves);
        row
    }

    /// Checks whether a rook beyond the king, and one before it, may castle.
    fn castling_sides(&self, color: Color) -> (bool, bool) {
        let backrank = backrank(color);
        let Bitboard(king) = self.board.by_piece(Role::King.of(color)) & backrank & !self.promoted;
        if king == 0 {
            return (false, false);
        }
        // With several kings this compares with their sum, as python-chess does.
        let rooks = || (self.clean_castling() & backrank).into_iter().map(|rook| 1u64 << rook.to_u32());
        (rooks().any(|rook| rook > king), rooks().any(|rook| rook < king))
    }
}
