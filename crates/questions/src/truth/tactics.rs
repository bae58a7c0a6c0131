//! Short Tactics: the move that solves a puzzle, and all that mate as it does.

use shakmaty::{Chess, Move, Position as _};

use crate::truth::Keys;
use crate::truth::chess_of_fen;
use crate::truth::uci::{Uci, moves_text, played};

/// The moves that solve the position of `fen`: the second of `pv`; with sound keys all mating moves if that one mates.
pub(crate) fn solution(fen: &str, pv: &str, keys: Keys) -> Result<String, String> {
    let uci = pv.split_whitespace().nth(1).ok_or_else(|| format!("the line {pv:?} has no second move"))?;
    let (position, _) = chess_of_fen(fen)?;
    let solution = played(&position, uci).ok_or_else(|| format!("the second move of the line {pv:?} is not legal"))?;
    Ok(match keys {
        Keys::Sound if mates(&position, solution) => moves_text(mating_moves(&position)),
        _ => moves_text(vec![Uci::of(solution)]),
    })
}

/// The moves that mate.
pub(crate) fn mating_moves(position: &Chess) -> Vec<Uci> {
    position.legal_moves().into_iter().filter(|played| mates(position, *played)).map(Uci::of).collect()
}

fn mates(position: &Chess, played: Move) -> bool {
    let mut after = position.clone();
    after.play_unchecked(played);
    after.is_checkmate()
}
