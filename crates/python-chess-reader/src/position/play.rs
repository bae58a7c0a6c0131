//! A move played, legal or not.

use shakmaty::attacks::king_attacks;
use shakmaty::{Color, File, Rank, Role, Square};

use super::{Move, Position, UnplayableMove, Variant, backrank, bit};

impl Position {
    /// Plays a move. It need not be legal: the piece on its origin becomes one of the side to move.
    ///
    /// # Errors
    /// There is no such piece, on the board or in hand. The position is then of no use.
    pub fn play(&mut self, played: Move) -> Result<(), UnplayableMove> {
        let mover = self.turn;
        self.play_by_all_rules(self.rook_move(played))?;
        match (self.variant, played.drop) {
            (Variant::Crazyhouse, Some(role)) => {
                let held = self.pockets.get_mut(mover).get_mut(role);
                *held = held.checked_sub(1).ok_or(UnplayableMove)?;
            }
            (Variant::ThreeCheck, _) if self.checkers().any() => {
                let left = self.checks.get_mut(mover);
                *left = left.saturating_sub(1);
            }
            _ => {}
        }
        Ok(())
    }

    /// Plays a move that castles by going to the rook.
    fn play_by_all_rules(&mut self, played: Move) -> Result<(), UnplayableMove> {
        let color = self.turn;
        self.castling = self.clean_castling();
        self.played = true;
        let ep_square = self.ep_square.take();
        self.halfmoves = self.halfmoves.saturating_add(1);
        self.fullmoves = self.fullmoves.saturating_add(u32::from(color == Color::Black));
        if let Some(role) = played.drop {
            self.put(played.to, role, color, false);
        } else if played != Move::NULL {
            self.move_piece(played, ep_square)?;
        }
        self.turn = !color;
        Ok(())
    }

    fn move_piece(&mut self, played: Move, ep_square: Option<Square>) -> Result<(), UnplayableMove> {
        let Move { from, to, promotion, .. } = played;
        let color = self.turn;
        let touched = bit(from) ^ bit(to);
        if touched.intersects(self.board.pawns()) || touched.intersects(self.theirs()) {
            self.halfmoves = 0;
        }
        let was_promoted = self.promoted.contains(from);
        let mut role = self.remove(from).ok_or(UnplayableMove)?;
        let mut captured = self.board.role_at(to);
        self.drop_rights(role, was_promoted, captured, from, to);
        if role == Role::Pawn {
            let steps = to.to_u32() as i32 - from.to_u32() as i32;
            if steps == 16 && from.rank() == Rank::Second || steps == -16 && from.rank() == Rank::Seventh {
                self.ep_square = from.offset(steps / 2);
            } else if ep_square == Some(to) && matches!(steps.abs(), 7 | 9) && captured.is_none() {
                captured = self.remove(square_behind(to, color)?);
            }
        }
        let promoted = was_promoted || promotion.is_some();
        role = promotion.unwrap_or(role);
        if role == Role::King && self.ours().contains(to) {
            self.castle(from, to);
        } else {
            let victim_promoted = self.promoted.contains(to);
            self.put(to, role, color, promoted);
            if let Some(captured) = captured {
                self.captured(to, captured, victim_promoted);
            }
        }
        Ok(())
    }

    /// Takes the castling rights that end with a king or rook leaving or being taken.
    fn drop_rights(&mut self, role: Role, was_promoted: bool, captured: Option<Role>, from: Square, to: Square) {
        let color = self.turn;
        self.castling &= !bit(to) & !bit(from);
        if role == Role::King && !was_promoted {
            self.castling &= !backrank(color);
        } else if captured == Some(Role::King) && !self.promoted.contains(to) && backrank(!color).contains(to) {
            self.castling &= !backrank(!color);
        }
    }

    fn castle(&mut self, from: Square, to: Square) {
        let color = self.turn;
        let (king, rook) = if to.file() < from.file() { (File::C, File::D) } else { (File::G, File::F) };
        self.remove(from);
        self.remove(to);
        self.put(Square::from_coords(king, color.backrank()), Role::King, color, false);
        self.put(Square::from_coords(rook, color.backrank()), Role::Rook, color, false);
    }

    /// Applies the effects that a capture on `to` has in a variant.
    fn captured(&mut self, to: Square, captured: Role, was_promoted: bool) {
        match self.variant {
            Variant::Crazyhouse => {
                let role = if was_promoted { Role::Pawn } else { captured };
                let held = self.pockets.get_mut(self.turn).get_mut(role);
                *held = held.saturating_add(1);
            }
            Variant::Atomic => self.explode(to),
            _ => {}
        }
    }

    fn explode(&mut self, to: Square) {
        let radius = king_attacks(to) & !self.board.pawns();
        self.castling &= !radius;
        for color in [Color::White, Color::Black] {
            let kings = self.board.by_piece(Role::King.of(color)) & !self.promoted;
            if radius.intersects(kings) {
                self.castling &= !backrank(color);
            }
        }
        for square in bit(to) | radius {
            self.remove(square);
        }
    }
}

/// Returns the square of the pawn that is captured by going to `to`. A FEN may name any square; below the board python-chess
/// counts from its end, above there is nothing.
fn square_behind(to: Square, color: Color) -> Result<Square, UnplayableMove> {
    let square = to.to_u32() as i32 + if color == Color::White { -8 } else { 8 };
    if square >= 64 { Err(UnplayableMove) } else { Ok(Square::new((square & 63) as u32)) }
}
