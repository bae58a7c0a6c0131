//! The Motifs of the side to move: discovered checks and double checks.

use shakmaty::attacks::between;
use shakmaty::{Bitboard, Board, Move, Square};

use crate::truth::Keys;
use crate::truth::position::Position;
use crate::truth::uci::{Uci, moves_text};

/// The moves after which a slider gives check along a line on which nothing but the moved piece stood.
pub(crate) fn discovered_checks(position: &Position, keys: Keys) -> String {
    let before = position.board();
    let uncovers = |played: Move, after: &Board, checkers: Bitboard| {
        let (Some(from), Some(king)) = (played.from(), after.king_of(!position.turn())) else { return false };
        // The origin is the only square of the line on which something stood.
        let opened = |slider: Square| between(slider, king) & before.occupied() == Bitboard::from_square(from);
        (checkers & after.sliders()).without(played.to()).into_iter().any(opened)
    };
    moves_where(position, keys, uncovers)
}

/// The moves after which two or more pieces give check.
pub(crate) fn double_checks(position: &Position, keys: Keys) -> String {
    moves_where(position, keys, |_, _, checkers| checkers.more_than_one())
}

/// The legal moves that are `wanted`. Published keys lack the promotion letter.
fn moves_where(position: &Position, keys: Keys, wanted: impl Fn(Move, &Board, Bitboard) -> bool) -> String {
    let found = position.checks().filter(|(played, after, checkers)| wanted(*played, after, *checkers));
    let uci = match keys {
        Keys::Published => Uci::without_promotion,
        Keys::Sound => Uci::of,
    };
    moves_text(found.map(|(played, ..)| uci(played)).collect())
}
