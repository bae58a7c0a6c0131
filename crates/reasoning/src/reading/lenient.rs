//! Our own rule: every move counts, however the answer is written.

use super::LONGEST;
use super::tags::last_answer;
use crate::move_text::moves_in;

/// The only distinct move.
pub(super) fn one_move(text: &str) -> Option<String> {
    let mut moves = distinct(text).into_iter();
    moves.next().filter(|_| moves.next().is_none())
}

/// The distinct moves in their order.
pub(super) fn moves(text: &str) -> Option<Vec<String>> {
    let moves = distinct(text);
    (!moves.is_empty() && moves.len() <= LONGEST).then_some(moves)
}

fn distinct(text: &str) -> Vec<String> {
    let after_thinking = || text.rsplit_once("</think>").map_or(text, |(_, after)| after);
    let mut moves: Vec<String> = Vec::new();
    for (_, uci) in moves_in(last_answer(text).unwrap_or_else(after_thinking)) {
        if !moves.contains(&uci) {
            moves.push(uci);
        }
        // More than a list may have: what follows does not matter, and time stays linear.
        if moves.len() > LONGEST {
            break;
        }
    }
    moves
}
