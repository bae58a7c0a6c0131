//! Moves in algebraic notation, as python-chess takes them.

use shakmaty::{Bitboard, CastlingSide, File, Rank, Role, Square};

use super::{Move, Position, Variant, bit};

/// A word that stands for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum San {
    /// `Nf3`, `exd5`, `e7e8=Q`, `Ng1-f3`.
    Move(SanMove),
    /// `N@f3`, `@f3`.
    Drop(Role, Square),
    /// `O-O`, `0-0-0`.
    Castling(CastlingSide),
    /// `--`, `Z0`, `0000`.
    Null,
    /// `@@@@`, which passes everywhere but in Crazyhouse.
    NullDrop,
    /// A result inside a variation, which is taken for a move and is none.
    Result,
}

/// The fields of a move in standard algebraic notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SanMove {
    /// The piece, if a letter names it.
    pub role: Option<Role>,
    /// Its file, if given.
    pub file: Option<File>,
    /// Its rank, if given.
    pub rank: Option<Rank>,
    /// Its destination.
    pub to: Square,
    /// The promotion of a pawn.
    pub promotion: Option<Role>,
}

impl Position {
    /// The move that `san` stands for; `None` if it is illegal or ambiguous here.
    pub fn read_san(&self, san: San) -> Option<Move> {
        match san {
            San::Move(san) => self.read_move(san),
            San::Drop(role, square) => {
                let played = Move { drop: Some(role), ..Move::new(square, square) };
                (self.variant == Variant::Crazyhouse && self.is_legal(played)).then_some(played)
            }
            San::Castling(side) => self.read_castling(side),
            San::Null => Some(Move::NULL),
            San::NullDrop => (self.variant != Variant::Crazyhouse).then_some(Move::NULL),
            San::Result => None,
        }
    }

    /// Castling written as such need not be the only legal move, nor obey a duty to capture.
    fn read_castling(&self, side: CastlingSide) -> Option<Move> {
        let mut first = None;
        self.castling_moves(Bitboard::FULL, Bitboard::FULL, &mut |played| {
            let is_side = match side {
                CastlingSide::KingSide => played.to.file() > played.from.file(),
                CastlingSide::QueenSide => played.to.file() < played.from.file(),
            };
            if first.is_none() && is_side && self.is_castling(played) {
                first = Some(played);
            }
        });
        first
    }

    fn read_move(&self, san: SanMove) -> Option<Move> {
        let mut from = Bitboard::FULL;
        if let Some(file) = san.file {
            from &= Bitboard::from_file(file);
        }
        if let Some(rank) = san.rank {
            from &= Bitboard::from_rank(rank);
        }
        match (san.role, san.file, san.rank) {
            (Some(role), ..) => from &= self.board.by_piece(role.of(self.turn)),
            // With its full origin it may be any piece, and castling.
            (None, Some(file), Some(rank)) => return self.read_full(Square::from_coords(file, rank), san),
            (None, file, _) => {
                from &= self.board.pawns() & Bitboard::from_file(file.unwrap_or(san.to.file()));
            }
        }
        let to = bit(san.to) & !self.ours();
        let (mut first, mut several) = (None, false);
        self.legal_moves(from, to, &mut |played| {
            if played.promotion == san.promotion {
                several |= first.is_some();
                first = Some(played);
            }
        });
        first.filter(|_| !several)
    }

    fn read_full(&self, from: Square, san: SanMove) -> Option<Move> {
        let needs_promotion = self.board.pawns().contains(from) && Bitboard::BACKRANKS.contains(san.to);
        if needs_promotion && san.promotion.is_none() {
            return None;
        }
        let played = self.king_move(Move { promotion: san.promotion, ..Move::new(from, san.to) });
        self.is_legal(played).then_some(played)
    }
}
