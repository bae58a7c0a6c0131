//! A position as python-chess holds it: of any FEN, by the rules of any variant.
//!
//! shakmaty's positions are always possible ones; python-chess plays from impossible ones too (no king, three kings,
//! pawns on the first rank), and the authors' program pushes moves onto boards that do not allow them. So only boards
//! and attacks are shakmaty's, and the rules are those of python-chess 1.11.2.

mod castling;
mod fen;
mod labels;
mod legal;
mod play;
mod pseudo_legal;
mod san;
mod variant;

use shakmaty::{Bitboard, Board, ByColor, ByRole, Color, Role, Square};

pub use san::{San, SanMove};
pub use variant::Variant;

/// A position with what python-chess remembers of how it came about.
#[derive(Clone, Debug)]
pub struct Position {
    variant: Variant,
    /// Castling is the king's move to the rook's square.
    chess960: bool,
    board: Board,
    /// Pieces that were pawns, as far as that is known.
    promoted: Bitboard,
    turn: Color,
    /// Rooks that may castle; before the first move whatever the FEN says.
    castling: Bitboard,
    /// Set after every double step; before the first move whatever the FEN says.
    ep_square: Option<Square>,
    halfmoves: u32,
    fullmoves: u32,
    /// True if a move was played, which settles the castling rights.
    played: bool,
    /// Crazyhouse: pieces in hand.
    pockets: ByColor<ByRole<u16>>,
    /// Three-check: checks that each side has still to give.
    checks: ByColor<i32>,
}

/// A move as python-chess has it: from, to, promotion, drop. A drop comes from the square that it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The origin of the piece.
    pub from: Square,
    /// Its destination.
    pub to: Square,
    /// The promotion of a pawn; in Antichess it may be a king.
    pub promotion: Option<Role>,
    /// The piece that is dropped.
    pub drop: Option<Role>,
}

/// python-chess refuses to play a move on this board, with an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnplayableMove;

impl Move {
    /// Passing.
    pub const NULL: Move = Move::new(Square::A1, Square::A1);

    /// A move without promotion.
    const fn new(from: Square, to: Square) -> Self {
        Move { from, to, promotion: None, drop: None }
    }

    /// The sixteen bits of a games file (see [`PlainMove::packed`](cwm_encoding::PlainMove::packed)); the authors' numbers
    /// leave out what is dropped and a promotion to a king.
    pub fn packed(self) -> u16 {
        cwm_encoding::PlainMove { from: self.from, to: self.to, promotion: self.promotion }.packed()
    }
}

impl Position {
    fn ours(&self) -> Bitboard {
        self.board.by_color(self.turn)
    }

    fn theirs(&self) -> Bitboard {
        self.board.by_color(!self.turn)
    }

    /// The king that can be checked: the last by square, but none that was a pawn.
    fn king(&self, color: Color) -> Option<Square> {
        (self.board.by_color(color) & self.board.kings() & !self.promoted).last()
    }

    fn attackers(&self, color: Color, square: Square) -> Bitboard {
        self.board.attacks_to(square, color, self.board.occupied())
    }

    fn remove(&mut self, square: Square) -> Option<Role> {
        self.promoted.discard(square);
        self.board.remove_piece_at(square).map(|piece| piece.role)
    }

    fn put(&mut self, square: Square, role: Role, color: Color, promoted: bool) {
        self.board.set_piece_at(square, role.of(color));
        self.promoted.set(square, promoted);
    }
}

fn backrank(color: Color) -> Bitboard {
    Bitboard::from_rank(color.backrank())
}

fn bit(square: Square) -> Bitboard {
    Bitboard::from_square(square)
}
