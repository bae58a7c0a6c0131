//! A game as one token a move: the id of its action.

use crate::actions::{ACTIONS, action_of};
use cwm_encoding::PlainMove;

/// The id before the first move.
pub const START: u16 = ACTIONS as u16;

/// Number of ids: the actions and [`START`]. What is predicted is an action.
pub const VOCABULARY: usize = ACTIONS + 1;

/// Tokens of a sequence, at most.
pub const CONTEXT: usize = 512;

/// START and the ids of the moves; place t stands for the position after t of them.
///
/// # Panics
/// A move that no piece can make: callers have replayed the game.
pub fn ids(moves: impl IntoIterator<Item = PlainMove>) -> Vec<u16> {
    let action = |plain| action_of(plain).expect("a legal move is an action");
    std::iter::once(START).chain(moves.into_iter().map(action)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_begins_with_start() {
        let e2e4 = PlainMove { from: shakmaty::Square::E2, to: shakmaty::Square::E4, promotion: None };
        assert_eq!(ids([e2e4]), [1968, action_of(e2e4).unwrap()]);
        assert_eq!(ids([]), [1968]);
    }
}
