//! Castling and its rights.

use shakmaty::attacks::{between, king_attacks};
use shakmaty::{Bitboard, Color, File, Role, Square};

use super::{Move, Position, Variant, backrank, bit};

const CORNERS: Bitboard = Bitboard::CORNERS;

impl Position {
    /// The castling rights that mean something. A game gives no new ones, so after the first move they are taken as
    /// they are.
    pub(super) fn clean_castling(&self) -> Bitboard {
        if self.played { self.castling } else { self.valid_castling(self.chess960) }
    }

    fn valid_castling(&self, chess960: bool) -> Bitboard {
        let mut clean = Bitboard::EMPTY;
        for color in Color::ALL {
            let backrank = backrank(color);
            let rooks = self.castling & self.board.by_piece(Role::Rook.of(color)) & backrank;
            let kings = self.board.by_piece(Role::King.of(color)) & backrank & !self.promoted;
            if !chess960 {
                if kings.contains(Square::from_coords(File::E, color.backrank())) {
                    clean |= rooks & CORNERS;
                }
            } else if let Some(king) = kings.last() {
                // One rook on either side of the king, the outermost.
                clean |= rooks.first().filter(|&rook| rook < king).map_or(Bitboard::EMPTY, bit);
                clean |= rooks.last().filter(|&rook| rook > king).map_or(Bitboard::EMPTY, bit);
            }
        }
        clean
    }

    /// Returns true if there are castling rights that only Chess960 has; called before the first move.
    pub(super) fn has_chess960_castling_rights(&self) -> bool {
        let rights = self.valid_castling(true);
        let astray = |color: Color| {
            let home = Square::from_coords(File::E, color.backrank());
            (rights & backrank(color)).any() && !self.board.by_piece(Role::King.of(color)).contains(home)
        };
        (rights & !CORNERS).any() || astray(Color::White) || astray(Color::Black)
    }

    /// The castling moves of kings in `from` with rooks in `to`, those with the rook on the higher file first.
    pub(super) fn castling_moves(&self, from: Bitboard, to: Bitboard, found: &mut dyn FnMut(Move)) {
        if self.is_over() {
            return;
        }
        let backrank = backrank(self.turn);
        let kings = self.ours() & self.board.kings() & !self.promoted & backrank & from;
        let Some(king) = kings.first() else { return };
        let occupied = self.board.occupied();
        for rook in (self.clean_castling() & backrank & to).into_iter().rev() {
            let (king_file, rook_file) = if rook < king { (File::C, File::D) } else { (File::G, File::F) };
            let king_to = Square::from_coords(king_file, self.turn.backrank());
            let rook_to = Square::from_coords(rook_file, self.turn.backrank());
            let king_path = between(king, king_to);
            let path = king_path | between(rook, rook_to) | bit(king_to) | bit(rook_to);
            // A right without its rook can be left over in positions that no game reaches; hence `^` as there.
            let others = occupied ^ bit(king) ^ bit(rook);
            if (others & path).is_empty()
                && !self.is_attacked_for_king(king_path | bit(king), occupied ^ bit(king))
                && !self.is_attacked_for_king(bit(king_to), others ^ bit(rook_to))
            {
                found(self.king_move(Move::new(king, rook)));
            }
        }
    }

    /// Returns true if the king may not stand on all of `path` when `occupied` is what stands there.
    fn is_attacked_for_king(&self, path: Bitboard, occupied: Bitboard) -> bool {
        let path = match self.variant {
            variant if variant.is_suicide() => return false,
            // Beside the other king no check can be given.
            Variant::Atomic => {
                (self.theirs() & self.board.kings()).into_iter().fold(path, |path, king| path & !king_attacks(king))
            }
            _ => path,
        };
        path.into_iter().any(|square| self.board.attacks_to(square, !self.turn, occupied).any())
    }

    /// Returns `played` in this position's notation: outside Chess960, castling is the king's two steps.
    pub(super) fn king_move(&self, played: Move) -> Move {
        if self.chess960 || played.promotion.is_some() || played.drop.is_some() {
            return played;
        }
        let to = match (played.from, played.to) {
            (Square::E1, Square::H1) => Square::G1,
            (Square::E1, Square::A1) => Square::C1,
            (Square::E8, Square::H8) => Square::G8,
            (Square::E8, Square::A8) => Square::C8,
            _ => return played,
        };
        if self.board.kings().contains(played.from) { Move::new(played.from, to) } else { played }
    }

    /// The opposite: the king's two steps become the move to the rook.
    pub(super) fn rook_move(&self, played: Move) -> Move {
        let rook = match (played.from, played.to) {
            (Square::E1, Square::G1) => Square::H1,
            (Square::E1, Square::C1) => Square::A1,
            (Square::E8, Square::G8) => Square::H8,
            (Square::E8, Square::C8) => Square::A8,
            _ => return played,
        };
        let castles = self.board.kings().contains(played.from) && !self.board.rooks().contains(played.to);
        if castles { Move::new(played.from, rook) } else { played }
    }

    /// Returns true if a move of the side to move is castling.
    pub(super) fn is_castling(&self, played: Move) -> bool {
        self.board.kings().contains(played.from)
            && (played.from.file().distance(played.to.file()) > 1
                || (self.board.rooks() & self.ours()).contains(played.to))
    }
}
