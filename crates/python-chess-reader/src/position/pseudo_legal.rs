//! Moves that pieces can make, leaving their king aside.

use shakmaty::attacks::pawn_attacks;
use shakmaty::{Bitboard, Color, Rank, Role, Square};

use super::{Move, Position, bit};

impl Position {
    /// The moves from squares of `from` to squares of `to`; castling goes to the rook's square. Each once.
    pub(super) fn pseudo_legal(&self, from: Bitboard, to: Bitboard, found: &mut dyn FnMut(Move)) {
        let ours = self.ours();
        for origin in ours & !self.board.pawns() & from {
            for target in self.board.attacks_from(origin) & !ours & to {
                found(Move::new(origin, target));
            }
        }
        if (from & self.board.kings()).any() {
            self.castling_moves(from, to, found);
        }
        let pawns = self.board.pawns() & ours & from;
        for origin in pawns {
            for target in pawn_attacks(self.turn, origin) & self.theirs() & to {
                self.pawn_move(origin, target, found);
            }
        }
        let empty = !self.board.occupied();
        // From the first rank too, a pawn makes a double step to the third.
        let (ahead, middle): (fn(Bitboard) -> Bitboard, _) = match self.turn {
            Color::White => (|pawns| Bitboard(pawns.0 << 8), [Rank::Third, Rank::Fourth]),
            Color::Black => (|pawns| Bitboard(pawns.0 >> 8), [Rank::Sixth, Rank::Fifth]),
        };
        let single = ahead(pawns) & empty;
        let double = ahead(single) & empty & (Bitboard::from_rank(middle[0]) | Bitboard::from_rank(middle[1]));
        let back = if self.turn == Color::White { -8 } else { 8 };
        for target in single & to {
            if let Some(origin) = target.offset(back) {
                self.pawn_move(origin, target, found);
            }
        }
        for target in double & to {
            if let Some(origin) = target.offset(2 * back) {
                found(Move::new(origin, target));
            }
        }
        self.pseudo_legal_en_passant(from, to, found);
    }

    fn pawn_move(&self, origin: Square, target: Square, found: &mut dyn FnMut(Move)) {
        if !Bitboard::BACKRANKS.contains(target) {
            return found(Move::new(origin, target));
        }
        let king = self.variant.is_suicide().then_some(Role::King);
        for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight].into_iter().chain(king) {
            found(Move { promotion: Some(role), ..Move::new(origin, target) });
        }
    }

    /// En passant captures by pawns of `from`, if the square lies in `to`.
    pub(super) fn pseudo_legal_en_passant(&self, from: Bitboard, to: Bitboard, found: &mut dyn FnMut(Move)) {
        let Some(target) = self.ep_square.filter(|&square| (to & !self.board.occupied()).contains(square)) else {
            return;
        };
        let rank = if self.turn == Color::White { Rank::Fifth } else { Rank::Fourth };
        let capturers = self.board.by_piece(Role::Pawn.of(self.turn))
            & pawn_attacks(!self.turn, target)
            & Bitboard::from_rank(rank);
        for origin in capturers & from {
            found(Move::new(origin, target));
        }
    }

    /// Returns true if a piece could make this move; never so for passing and drops.
    pub(super) fn is_pseudo_legal(&self, played: Move) -> bool {
        let Some(role) = self.board.role_at(played.from) else { return false };
        if played == Move::NULL || played.drop.is_some() || !self.ours().contains(played.from) {
            return false;
        }
        if played.promotion.is_some() && (role != Role::Pawn || played.to.rank() != (!self.turn).backrank()) {
            return false;
        }
        let everywhere = Bitboard::FULL;
        if role == Role::King {
            let castling = self.king_move(played);
            if contains(castling, |found| self.castling_moves(everywhere, everywhere, found)) {
                return true;
            }
        }
        if self.ours().contains(played.to) {
            return false;
        }
        if role == Role::Pawn {
            return contains(played, |found| self.pseudo_legal(bit(played.from), bit(played.to), found));
        }
        self.board.attacks_from(played.from).contains(played.to)
    }

    /// Returns true if a pseudo-legal move is an en passant capture.
    pub(super) fn is_en_passant(&self, played: Move) -> bool {
        self.ep_square == Some(played.to)
            && self.board.pawns().contains(played.from)
            && matches!(played.from.to_u32().abs_diff(played.to.to_u32()), 7 | 9)
            && !self.board.occupied().contains(played.to)
    }
}

/// Returns true if a generator of moves gives `wanted`.
pub(super) fn contains(wanted: Move, generate: impl FnOnce(&mut dyn FnMut(Move))) -> bool {
    let mut is_there = false;
    generate(&mut |found| is_there |= found == wanted);
    is_there
}
