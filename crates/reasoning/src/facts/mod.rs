//! Facts of a board by rule, and the builder `factual` of questions about them.

mod builder;
mod illegal;
mod kind;
mod question;
mod valued;

use cwm_encoding::PlainMove;
use shakmaty::{Chess, Color, Move, MoveList, Position, Role, Square};

use crate::values::Values;

pub use builder::factual;
pub use kind::FactKind;

/// The facts of a position that questions are about.
pub struct Facts<'a> {
    position: &'a Chess,
    /// The legal moves.
    moves: MoveList,
    /// The moves that the opponent would have were it his turn; none while the side to move is in check.
    their_moves: MoveList,
    /// The values of the legal moves, if they are known.
    values: Option<&'a Values>,
}

/// The kind of piece that captures, and that of the captured one.
pub type CapturePair = (Role, Role);

impl<'a> Facts<'a> {
    /// The facts of a position; `values` are those of its legal moves, if they are known.
    pub fn of(position: &'a Chess, values: Option<&'a Values>) -> Facts<'a> {
        let their_moves = position.clone().swap_turn().map(|theirs| theirs.legal_moves()).unwrap_or_default();
        Facts { position, moves: position.legal_moves(), their_moves, values }
    }

    /// The legal moves.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The side whose king is in check.
    pub fn in_check(&self) -> Option<Color> {
        self.position.is_check().then_some(self.position.turn())
    }

    /// White's material less Black's, in centipawns.
    pub fn material(&self) -> i32 {
        let of = |color| {
            let counts = self.position.board().material_side(color);
            counts.into_iter().zip(Role::ALL).map(|(count, role)| i32::from(count) * worth(role)).sum::<i32>()
        };
        of(Color::White) - of(Color::Black)
    }

    /// The number of legal moves of each piece of the side to move.
    pub fn mobility(&self) -> Vec<(Square, usize)> {
        let moves_from = |square| self.moves.iter().filter(|played| PlainMove::from(**played).from == square).count();
        self.position.us().into_iter().map(|square| (square, moves_from(square))).collect()
    }

    /// The pairs of kinds of piece among the legal captures; captures en passant do not count.
    pub fn capture_pairs(&self) -> Vec<CapturePair> {
        pairs(&self.moves)
    }

    /// The pairs that only the opponent could have, were it his turn.
    pub fn their_capture_pairs(&self) -> Vec<CapturePair> {
        let own = self.capture_pairs();
        pairs(&self.their_moves).into_iter().filter(|pair| !own.contains(pair)).collect()
    }

    /// The squares of the opponent on which exactly one legal move captures, with its origin; captures en passant do not count.
    pub fn only_captures(&self) -> Vec<(Square, Square)> {
        let mut found = Vec::new();
        for target in self.position.them() {
            let mut captures = self.moves.iter().filter(|played| is_capture(played) && played.to() == target);
            if let (Some(only), None) = (captures.next(), captures.next()) {
                found.push((target, PlainMove::from(*only).from));
            }
        }
        found
    }
}

fn is_capture(played: &Move) -> bool {
    played.is_capture() && !played.is_en_passant()
}

/// Sorted, each once.
fn pairs(moves: &MoveList) -> Vec<CapturePair> {
    let capture = |played: &Move| Some((played.role(), played.capture()?));
    let mut pairs: Vec<CapturePair> = moves.iter().filter(|played| is_capture(played)).filter_map(capture).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The centipawns of a piece.
fn worth(role: Role) -> i32 {
    match role {
        Role::Pawn => 100,
        Role::Knight => 320,
        Role::Bishop => 330,
        Role::Rook => 500,
        Role::Queen => 900,
        Role::King => 0,
    }
}

#[cfg(test)]
mod tests;
