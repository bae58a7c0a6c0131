//! Legal moves by the rules of each variant.

use shakmaty::attacks::{between, bishop_attacks, king_attacks, ray, rook_attacks};
use shakmaty::{Bitboard, Color, Rank, Role, Square};

use super::pseudo_legal::contains;
use super::{Move, Position, Variant, bit};

/// d4, e4, d5, e5.
const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);

impl Position {
    /// The legal moves from squares of `from` to squares of `to`, each once, drops aside: a drop is never requested by
    /// the square that it comes from.
    pub(super) fn legal_moves(&self, from: Bitboard, to: Bitboard, found: &mut dyn FnMut(Move)) {
        match self.variant {
            variant if variant.is_suicide() => self.suicide_moves(from, to, found),
            Variant::Atomic => self.pseudo_legal(from, to, &mut |played| {
                if self.is_legal(played) {
                    found(played);
                }
            }),
            Variant::RacingKings => self.safe_moves(from, to, &mut |played| {
                if !self.gives_check(played) {
                    found(played);
                }
            }),
            _ => self.safe_moves(from, to, found),
        }
    }

    /// Returns true if a move, which may be any, is legal.
    pub(super) fn is_legal(&self, played: Move) -> bool {
        if self.is_over() && !(played.drop.is_some() && self.variant == Variant::Crazyhouse) {
            return false;
        }
        match self.variant {
            Variant::Crazyhouse if played.drop.is_some() => self.is_legal_drop(played),
            _ if !self.is_pseudo_legal(played) => false,
            variant if variant.is_suicide() => self.is_capture(played) || !self.can_capture(),
            Variant::Atomic => self.is_legal_explosion(played),
            Variant::RacingKings => !self.is_into_check(played) && !self.gives_check(played),
            _ => !self.is_into_check(played),
        }
    }

    /// Returns true if the variant's own rules have ended the game.
    pub(super) fn is_over(&self) -> bool {
        let kings = self.board.kings();
        let has_none_of =
            |pieces: Bitboard| (pieces & self.board.white()).is_empty() || (pieces & self.board.black()).is_empty();
        match self.variant {
            Variant::Standard | Variant::Crazyhouse => false,
            Variant::Suicide | Variant::Giveaway | Variant::Antichess | Variant::Horde => has_none_of(Bitboard::FULL),
            Variant::Atomic => has_none_of(kings),
            Variant::KingOfTheHill => (kings & CENTRE).any(),
            Variant::ThreeCheck => self.checks.white <= 0 || self.checks.black <= 0,
            Variant::RacingKings => self.is_race_over(),
        }
    }

    /// A king has arrived, and Black, who moves second, cannot catch up.
    fn is_race_over(&self) -> bool {
        let goal = Bitboard::from_rank(Rank::Eighth);
        if (self.board.kings() & goal).is_empty() {
            return false;
        }
        let black_kings = self.board.by_piece(Role::King.of(Color::Black));
        let Some(black_king) = black_kings.last() else { return true };
        if self.turn == Color::White || (black_kings & goal).any() {
            return true;
        }
        let targets = king_attacks(black_king) & goal & !self.board.black();
        targets.into_iter().all(|target| self.attackers(Color::White, target).any())
    }

    /// Pieces that check the king of the side to move.
    pub(super) fn checkers(&self) -> Bitboard {
        if self.variant.is_suicide() || (self.variant == Variant::Atomic && self.kings_touch()) {
            return Bitboard::EMPTY;
        }
        self.king(self.turn).map_or(Bitboard::EMPTY, |king| self.attackers(!self.turn, king))
    }

    fn gives_check(&self, played: Move) -> bool {
        let mut after = self.clone();
        after.play(played).is_ok() && after.checkers().any()
    }

    /// Pseudo-legal moves that leave no king attacked. The king is the last by square, even one that was a pawn.
    fn safe_moves(&self, from: Bitboard, to: Bitboard, found: &mut dyn FnMut(Move)) {
        if self.is_over() {
            return;
        }
        let Some(king) = (self.ours() & self.board.kings()).last() else {
            return self.pseudo_legal(from, to, found);
        };
        let blockers = self.slider_blockers(king);
        let mut safe = |played: Move| {
            if self.is_safe(king, blockers, played) {
                found(played);
            }
        };
        let checkers = self.attackers(!self.turn, king);
        if checkers.any() {
            self.evasions(king, checkers, from, to, &mut safe);
        } else {
            self.pseudo_legal(from, to, &mut safe);
        }
    }

    fn is_into_check(&self, played: Move) -> bool {
        let Some(king) = self.king(self.turn) else { return false };
        let checkers = self.attackers(!self.turn, king);
        let evades =
            || contains(played, |found| self.evasions(king, checkers, bit(played.from), bit(played.to), found));
        (checkers.any() && !evades()) || !self.is_safe(king, self.slider_blockers(king), played)
    }

    /// Moves out of check, pins aside.
    fn evasions(&self, king: Square, checkers: Bitboard, from: Bitboard, to: Bitboard, found: &mut dyn FnMut(Move)) {
        // The king cannot step back along the line of a slider.
        let lines = (checkers & self.board.sliders())
            .into_iter()
            .fold(Bitboard::EMPTY, |lines, checker| lines | (ray(king, checker) & !bit(checker)));
        if from.contains(king) {
            for target in king_attacks(king) & !self.ours() & !lines & to {
                found(Move::new(king, target));
            }
        }
        let Some(checker) = checkers.single_square() else { return };
        let target = between(king, checker) | checkers;
        self.pseudo_legal(!self.board.kings() & from, target & to, found);
        if let Some(square) = self.ep_square.filter(|&square| square != Square::A1 && !target.contains(square))
            && self.passed_pawn(square) == Some(checker)
        {
            self.pseudo_legal_en_passant(from, to, found);
        }
    }

    /// Returns the square of the pawn that passed `square`; none off the board.
    fn passed_pawn(&self, square: Square) -> Option<Square> {
        square.offset(if self.turn == Color::White { -8 } else { 8 })
    }

    /// Own pieces that alone stand between the king and an enemy slider.
    fn slider_blockers(&self, king: Square) -> Bitboard {
        let snipers = (rook_attacks(king, Bitboard::EMPTY) & self.board.rooks_and_queens())
            | (bishop_attacks(king, Bitboard::EMPTY) & self.board.bishops_and_queens());
        let mut blockers = Bitboard::EMPTY;
        for sniper in snipers & self.theirs() {
            let pieces = between(king, sniper) & self.board.occupied();
            if !pieces.more_than_one() {
                blockers |= pieces;
            }
        }
        blockers & self.ours()
    }

    fn is_safe(&self, king: Square, blockers: Bitboard, played: Move) -> bool {
        if played.from == king {
            return self.is_castling(played) || self.attackers(!self.turn, played.to).is_empty();
        }
        if self.is_en_passant(played) {
            return self.pin(played.from).contains(played.to) && !self.is_skewered(king, played);
        }
        !blockers.contains(played.from) || ray(played.from, played.to).contains(king)
    }

    /// The line on which a piece is pinned to its king; the whole board for a piece that is not.
    fn pin(&self, square: Square) -> Bitboard {
        let Some(king) = self.king(self.turn) else { return Bitboard::FULL };
        let line = ray(king, square);
        let straight = king.file() == square.file() || king.rank() == square.rank();
        let sliders = if straight { self.board.rooks_and_queens() } else { self.board.bishops_and_queens() };
        // All lines of its kind through the king are looked at, as python-chess does for diagonals.
        let lines = match (king.file() == square.file(), king.rank() == square.rank()) {
            (true, _) => Bitboard::from_file(king.file()),
            (_, true) => Bitboard::from_rank(king.rank()),
            _ => bishop_attacks(king, Bitboard::EMPTY),
        };
        if line.is_empty() {
            return Bitboard::FULL;
        }
        let blocks = |sniper: &Square| between(*sniper, king) & (self.board.occupied() | bit(square)) == bit(square);
        let mut snipers = (lines & sliders & self.theirs()).into_iter().rev();
        snipers.find(blocks).map_or(Bitboard::FULL, |sniper| ray(king, sniper))
    }

    /// Returns true if an en passant capture uncovers the king along the rank, or along the diagonal of the pawn that
    /// goes.
    fn is_skewered(&self, king: Square, played: Move) -> bool {
        let gone = self.passed_pawn(played.to).map_or(Bitboard::EMPTY, bit);
        let occupied = (self.board.occupied() & !gone & !bit(played.from)) | bit(played.to);
        let sideways = rook_attacks(king, occupied) & Bitboard::from_rank(king.rank());
        (sideways & self.theirs() & self.board.rooks_and_queens()).any()
            || (bishop_attacks(king, occupied) & self.theirs() & self.board.bishops_and_queens()).any()
    }

    fn is_capture(&self, played: Move) -> bool {
        (bit(played.from) ^ bit(played.to)).intersects(self.theirs()) || self.is_en_passant(played)
    }

    fn captures(&self, found: &mut dyn FnMut(Move)) {
        self.pseudo_legal(Bitboard::FULL, self.theirs(), found);
        self.pseudo_legal_en_passant(Bitboard::FULL, Bitboard::FULL, found);
    }

    fn can_capture(&self) -> bool {
        let mut can = false;
        self.captures(&mut |_| can = true);
        can
    }

    fn suicide_moves(&self, from: Bitboard, to: Bitboard, found: &mut dyn FnMut(Move)) {
        if self.is_over() {
            return;
        }
        let mut must = false;
        self.captures(&mut |played| {
            if from.contains(played.from) && to.contains(played.to) {
                found(played);
            }
            must = true;
        });
        if !must {
            self.pseudo_legal(from, to & !self.theirs(), &mut |played| {
                if !self.is_en_passant(played) {
                    found(played);
                }
            });
        }
    }

    fn kings_touch(&self) -> bool {
        let black = self.board.by_piece(Role::King.of(Color::Black));
        let white = self.board.by_piece(Role::King.of(Color::White));
        white.into_iter().any(|king| king_attacks(king).intersects(black))
    }

    /// The explosion may not take the own king; taking the other's ends the game, whatever attacks one's own.
    fn is_legal_explosion(&self, played: Move) -> bool {
        let mut after = self.clone();
        if after.play(played).is_err() {
            return false;
        }
        let kings = after.board.kings();
        let (mover, other) = (kings & after.theirs(), kings & after.ours());
        if mover.is_empty() {
            return false;
        }
        let attacked = |king: Square| after.attackers(after.turn, king).any();
        other.is_empty() || after.kings_touch() || !after.king(!after.turn).is_some_and(attacked)
    }

    fn is_legal_drop(&self, played: Move) -> bool {
        let Some(role) = played.drop else { return false };
        let open = !self.board.occupied() & self.drop_squares();
        played.from == played.to
            && role != Role::King
            && open.contains(played.to)
            && !(role == Role::Pawn && Bitboard::BACKRANKS.contains(played.to))
            && *self.pockets.get(self.turn).get(role) > 0
    }

    /// Returns the squares where a drop leaves no check: all, or those between the king and its only attacker.
    fn drop_squares(&self) -> Bitboard {
        let Some(king) = self.king(self.turn) else { return Bitboard::FULL };
        let attackers = self.attackers(!self.turn, king);
        match attackers.single_square() {
            Some(attacker) => between(king, attacker),
            None if attackers.is_empty() => Bitboard::FULL,
            None => Bitboard::EMPTY,
        }
    }
}
