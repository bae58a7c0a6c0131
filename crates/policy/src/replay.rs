//! Replaying a game, and checking that a label belongs to a position of it.

use cwm_encoding::{PlainMove, legal};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position};

use crate::actions::action_of;

/// The id of a best move, packed, which must be legal.
///
/// # Errors
/// The move is not legal.
pub fn best_action(position: &Chess, best: u16) -> Result<u16, String> {
    let plain = PlainMove::from_packed(best).ok_or_else(|| format!("its best move is none but {best:#06x}"))?;
    let is_legal = legal(position, plain).is_some();
    let action = action_of(plain).filter(|_| is_legal);
    action.ok_or_else(|| format!("its best move, {plain}, is not legal"))
}

/// Replays a game: `at` gets each position with the plies before it and the move that is played there, or none in the last.
///
/// # Errors
/// A move is not legal, or `at` fails.
pub fn replay(
    moves: &[u16],
    mut at: impl FnMut(usize, &Chess, Option<Move>) -> Result<(), String>,
) -> Result<(), String> {
    let mut position = Chess::default();
    for (ply, &packed) in moves.iter().enumerate() {
        let played = PlainMove::from_packed(packed).and_then(|plain| legal(&position, plain));
        let played = played.ok_or_else(|| {
            format!("move {} is not legal by the rules of standard chess, which this form is for", ply + 1)
        })?;
        at(ply, &position, Some(played))?;
        position.play_unchecked(played);
    }
    at(moves.len(), &position, None)
}

/// Checks that a label's FEN is this position.
///
/// # Errors
/// The FEN is that of another position, or none.
pub fn check_position(position: &Chess, fen: &str) -> Result<(), String> {
    let written = |position: &Chess| Fen::from_position(position, EnPassantMode::Legal).to_string();
    let expected = written(position);
    if expected == fen {
        return Ok(());
    }
    // Other programs write an en passant square without a capture.
    let other = fen.parse::<Fen>().ok().and_then(|fen| fen.into_position::<Chess>(CastlingMode::Standard).ok());
    if other.is_some_and(|other| written(&other) == expected) {
        return Ok(());
    }
    Err(format!("the game has {expected:?} there, and the evaluations have {fen:?}"))
}
