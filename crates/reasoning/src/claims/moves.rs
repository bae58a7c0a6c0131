//! Moves that must be legal in the item's position.

use cwm_encoding::PlainMove;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use super::MoveClaim;
use crate::move_text::moves_in;

pub(super) fn claims(position: &Chess, text: &str) -> Vec<MoveClaim> {
    let legal: Vec<u16> = position.legal_moves().iter().map(|played| PlainMove::from(*played).packed()).collect();
    moves_in(text)
        .map(|(bytes, uci)| MoveClaim { is_true: packed(&uci).is_some_and(|uci| legal.contains(&uci)), uci, bytes })
        .collect()
}

fn packed(uci: &str) -> Option<u16> {
    match UciMove::from_ascii(uci.as_bytes()) {
        Ok(UciMove::Normal { from, to, promotion }) => Some(PlainMove { from, to, promotion }.packed()),
        _ => None,
    }
}
