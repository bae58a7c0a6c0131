//! Answers by simple rules: mate in one, else the best exchange; material on the grid.

use shakmaty::{Board, Color, Move, Position as _, Role, Square};

use crate::truth::chess_of_fen;
use crate::truth::legal;
use crate::truth::tactics::mating_moves;
use crate::truth::uci::{Uci, moves_text};

/// Mate in one, else the move whose exchange wins most: of equal ones the first by its text. None if no move is legal.
pub(crate) fn best_move(fen: &str) -> Result<Option<String>, String> {
    let (position, _) = chess_of_fen(fen)?;
    let text = |uci| moves_text(vec![uci]);
    if let Some(mate) = mating_moves(&position).into_iter().min() {
        return Ok(Some(text(mate)));
    }
    let worth = |played: &Move| (-exchange(position.board(), position.turn(), *played), Uci::of(*played));
    let best = position.legal_moves().into_iter().map(|played| worth(&played)).min();
    Ok(best.map(|(_, uci)| text(uci)))
}

/// Centipawns of White's pieces less those of Black's.
pub(crate) fn material(fen: &str) -> Result<i64, String> {
    let (position, _) = chess_of_fen(fen)?;
    let of = |color| position.board().material_side(color).into_iter().zip(Role::ALL);
    let sum = |color| of(color).map(|(count, role)| i64::from(count) * worth(role)).sum::<i64>();
    Ok(sum(Color::White) - sum(Color::Black))
}

/// The king is worth nothing: it is never taken.
fn worth(role: Role) -> i64 {
    match role {
        Role::Pawn => 100,
        Role::Knight | Role::Bishop => 300,
        Role::Rook => 500,
        Role::Queen => 900,
        Role::King => 0,
    }
}

/// The centipawns that `color` wins by a move if both sides then capture on its square as long as it pays, the least
/// valuable piece first.
fn exchange(board: &Board, color: Color, played: Move) -> i64 {
    let promoted = played.promotion().map_or(0, |role| worth(role) - worth(Role::Pawn));
    let captured = played.capture().map_or(0, worth);
    if played.is_castle() {
        return 0;
    }
    captured + promoted - recapture(&legal::after(board, color, played), !color, played.to())
}

/// The centipawns that `color` wins by capturing on `square`; 0 if no capture pays.
fn recapture(board: &Board, color: Color, square: Square) -> i64 {
    let attackers = board.attacks_to(square, color, board.occupied());
    let Some(role) = Role::ALL.into_iter().find(|role| (attackers & board.by_role(*role)).any()) else { return 0 };
    let guarded = || board.attacks_to(square, !color, board.occupied()).any();
    let (Some(from), Some(captured)) = ((attackers & board.by_role(role)).first(), board.role_at(square)) else {
        return 0;
    };
    if role == Role::King && guarded() {
        return 0;
    }
    let played = Move::Normal { role, from, capture: Some(captured), to: square, promotion: None };
    (worth(captured) - recapture(&legal::after(board, color, played), !color, square)).max(0)
}
