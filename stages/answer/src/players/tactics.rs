//! The best move by rules: a mate, else the best capture.

use cwm_contract::Failure;
use cwm_questions::Item;
use shakmaty::{CastlingMode, Chess, Move, Position, Role, Square};

use super::judgement::value;

/// The position of an item.
///
/// # Errors
/// The input is none.
pub fn position(item: &Item) -> Result<Chess, Failure> {
    let wrong = |what: String| Failure::input(format!("{}: the position `{}` {what}", item.task_id, item.input));
    let fen: shakmaty::fen::Fen = item.input.parse().map_err(|error| wrong(format!("is none: {error}")))?;
    // Some published items have a castling right that cannot be.
    shakmaty::FromSetup::from_setup(fen.into_setup(), CastlingMode::Standard)
        .or_else(shakmaty::PositionError::ignore_invalid_castling_rights)
        .or_else(shakmaty::PositionError::ignore_invalid_ep_square)
        .or_else(shakmaty::PositionError::ignore_too_much_material)
        .or_else(shakmaty::PositionError::ignore_impossible_check)
        .map_err(|error| wrong(format!("cannot be: {error}")))
}

/// A move as answers have it.
pub fn uci(played: Move) -> String {
    played.to_uci(CastlingMode::Standard).to_string()
}

/// All legal moves, in alphabetical order.
pub fn legal_moves(position: &Chess) -> Vec<String> {
    let mut moves: Vec<String> = position.legal_moves().into_iter().map(uci).collect();
    moves.sort();
    moves
}

/// The first mate in one; else the capture that wins most by exchanges on its square; else the first move. Of equals the first in
/// alphabetical order. Empty if there is no move.
pub fn best_move(position: &Chess) -> String {
    let mut moves: Vec<(String, Move)> =
        position.legal_moves().into_iter().map(|played| (uci(played), played)).collect();
    moves.sort_by(|a, b| a.0.cmp(&b.0));
    let after = |played: Move| {
        let mut next = position.clone();
        next.play_unchecked(played);
        next
    };
    let mate = moves.iter().find(|(_, played)| after(*played).is_checkmate());
    let captures = moves.iter().rev().filter(|(_, played)| played.is_capture());
    let best =
        mate.or_else(|| captures.max_by_key(|(_, played)| gain(*played) - exchange(&after(*played), played.to())));
    best.or(moves.first()).map(|(text, _)| text.clone()).unwrap_or_default()
}

/// What a move takes and what its promotion adds.
fn gain(played: Move) -> i64 {
    let promoted = played.promotion().map_or(0, |role| value(role) - value(Role::Pawn));
    played.capture().map_or(0, value) + promoted
}

/// What the side to move wins by captures on `square`, with its least piece first, for as long as that pays.
fn exchange(position: &Chess, square: Square) -> i64 {
    let moves = position.capture_moves();
    let captures = moves.iter().filter(|played| played.to() == square);
    let Some(least) = captures.min_by_key(|played| (value(played.role()), std::cmp::Reverse(gain(**played)))) else {
        return 0;
    };
    let mut next = position.clone();
    next.play_unchecked(*least);
    (gain(*least) - exchange(&next, square)).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(fen: &str) -> String {
        let fen: shakmaty::fen::Fen = fen.parse().unwrap();
        best_move(&fen.into_position(CastlingMode::Standard).unwrap())
    }

    #[test]
    fn a_mate_is_before_a_capture_and_a_defended_piece_is_left() {
        assert_eq!(best("6k1/5ppp/8/q7/8/8/5PPP/R3R1K1 w - - 0 1"), "e1e8");
        // The rook would lose more than the defended pawn; the knight hangs.
        assert_eq!(best("6k1/3n2pp/2p5/1p6/8/8/1R1R2PP/6K1 w - - 0 1"), "d2d7");
        assert_eq!(best("6k1/8/2p5/1p6/8/8/1R4PP/6K1 w - - 0 1"), "b2b5");
        // Without a capture the first move; without a move nothing.
        assert_eq!(best("8/8/8/8/8/2k5/8/K7 w - - 0 1"), "a1a2");
        assert_eq!(best("8/8/8/8/8/1q6/8/K1k5 w - - 0 1"), "");
    }
}
