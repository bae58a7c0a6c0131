//! A shallow alpha-beta search with captures played out at its end.

use cwm_game::GameState;
use shakmaty::{Color, Move, MoveList, Position, Role, attacks};

use crate::evaluation::{EvaluatedPosition, MATE, improvement, material, reaches_seventh};

/// Captures are followed so many plies beyond the depth of the search.
const CAPTURE_PLIES: u32 = 6;

/// A quiet move one ply before the end can hardly gain more than this.
const QUIET_GAIN: i32 = 90;

/// A legal move and its value to the player, in centipawns.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The move.
    pub chosen: Move,
    /// Its value.
    pub value: i32,
}

/// Values from here on are mates.
const LEAST_MATE: i32 = MATE - 1_000;

impl Candidate {
    /// The mate that its value stands for, in moves of the side that mates: positive if the player mates. None of other values.
    pub fn mate(&self) -> Option<i32> {
        let moves = (MATE - self.value.abs() + 1) / 2;
        (self.value.abs() >= LEAST_MATE).then_some(moves * self.value.signum())
    }
}

/// The moves whose value is within `margin` of the best, the best first, after looking `depth` plies ahead (at least
/// 1). A move that repeats a position is worth a draw.
pub fn candidates(play: &GameState, moves: &MoveList, depth: u32, margin: i32) -> Vec<Candidate> {
    let root = EvaluatedPosition::new(play.position().clone());
    let mut best = -MATE;
    let mut found: Vec<Candidate> = Vec::new();
    for m in RankedMoves::new(moves, root.position.turn(), |_| true) {
        let next = root.after(m);
        let alpha = (best - margin - 1).max(-MATE);
        let value = value_after(play, &next, depth, alpha);
        // Lesser promotions are played only where nothing is as good: a piece that is taken at once, or a mate.
        let lesser = m.promotion().is_some_and(|role| role != Role::Queen);
        if found.is_empty() || value > if lesser { best } else { alpha } {
            found.push(Candidate { chosen: m, value });
            best = best.max(value);
        }
    }
    found.retain(|candidate| candidate.value >= best - margin);
    found.sort_by_key(|candidate| std::cmp::Reverse(candidate.value));
    found
}

/// The exact value of every move, the best first, and equal ones in the order of `moves`, after looking `depth` plies ahead (at
/// least 1). A move that repeats a position is worth a draw.
pub fn values(play: &GameState, moves: &MoveList, depth: u32) -> Vec<Candidate> {
    let root = EvaluatedPosition::new(play.position().clone());
    let valued = |&chosen: &Move| Candidate { chosen, value: value_after(play, &root.after(chosen), depth, -MATE) };
    let mut found: Vec<Candidate> = moves.iter().map(valued).collect();
    found.sort_by_key(|candidate| std::cmp::Reverse(candidate.value));
    found
}

/// The value of a move that leads to `next`, or a bound of at most `alpha` on it.
fn value_after(play: &GameState, next: &EvaluatedPosition, depth: u32, alpha: i32) -> i32 {
    if play.times_before(&next.position) > 0 { 0 } else { -negamax(next, depth - 1, 1, -MATE, -alpha) }
}

/// The value of `node` for its side to move, between `alpha` and `beta` (or a bound on it outside of them).
fn negamax(node: &EvaluatedPosition, depth: u32, ply: i32, mut alpha: i32, beta: i32) -> i32 {
    let position = &node.position;
    if position.halfmoves() >= 100 || position.is_insufficient_material() {
        return 0;
    }
    let in_check = position.is_check();
    if depth == 0 && !in_check {
        return captures(node, CAPTURE_PLIES, alpha, beta);
    }
    let moves = position.legal_moves();
    if moves.is_empty() {
        return if in_check { ply - MATE } else { 0 };
    }
    if depth == 0 && ply > 4 {
        return node.value();
    }
    let depth = depth.saturating_sub(1);
    let value = node.value();
    let frontier = depth == 0 && !in_check;
    if frontier && value - 2 * QUIET_GAIN >= beta {
        return value;
    }
    let us = position.turn();
    // At the last ply of the search, quiet moves that can hardly help are taken for what they leave.
    let helps = |m| !frontier || !quiet(m) || value + improvement(m, us) + QUIET_GAIN > alpha;
    let mut best = if frontier { (value - QUIET_GAIN).min(alpha) } else { -MATE };
    for m in RankedMoves::new(&moves, us, helps) {
        let found = -negamax(&node.after(m), depth, ply + 1, -beta, -alpha);
        best = best.max(found);
        alpha = alpha.max(found);
        if alpha >= beta {
            break;
        }
    }
    best
}

/// The value of a position by captures and promotions to a queen alone, none of which need be played.
fn captures(node: &EvaluatedPosition, plies: u32, mut alpha: i32, beta: i32) -> i32 {
    let mut best = node.value();
    if best >= beta || plies == 0 {
        return best;
    }
    alpha = alpha.max(best);
    let position = &node.position;
    let us = position.turn();
    let standing = best;
    let helps = |m: Move| {
        let gain = m.capture().map_or(0, material) + m.promotion().map_or(0, material);
        !quiet(m) && standing + gain + QUIET_GAIN > alpha && !loses_material(node, m)
    };
    for m in RankedMoves::new(&position.legal_moves(), us, helps) {
        let found = -captures(&node.after(m), plies - 1, -beta, -alpha);
        best = best.max(found);
        alpha = alpha.max(found);
        if alpha >= beta {
            break;
        }
    }
    best
}

/// Returns true if `m` takes something cheap with something dear that a pawn can take back.
fn loses_material(node: &EvaluatedPosition, m: Move) -> bool {
    let Some(captured) = m.capture() else { return false };
    if material(m.role()) <= material(captured) + 50 || m.role() == Role::King {
        return false;
    }
    let us = node.position.turn();
    (attacks::pawn_attacks(us, m.to()) & node.position.their(Role::Pawn)).any()
}

/// Returns true if `m` is neither a capture nor a promotion to a queen; lesser promotions count as quiet.
fn quiet(m: Move) -> bool {
    !m.is_capture() && m.promotion() != Some(Role::Queen)
}

/// Returns the priority of a move in the search: valuable pieces captured by cheap ones first.
fn priority(m: Move, us: Color) -> i32 {
    let capture = m.capture().map_or(0, |captured| 10_000 + 10 * material(captured) - material(m.role()));
    let promotion = match m.promotion() {
        Some(Role::Queen) => 9_000,
        Some(_) => -1_000,
        None => 0,
    };
    let seventh = if reaches_seventh(m, us) { 50 } else { 0 };
    capture + promotion + seventh + improvement(m, us)
}

/// Some of a list of moves, the most promising first; equally promising ones as they stand in the list.
struct RankedMoves<'a> {
    moves: &'a MoveList,
    /// Sorted so that the last is the next: the promise in the upper bits, below them the place counted from the end.
    keys: [u32; PLACES as usize],
    left: usize,
}

/// More than the 218 moves that a position can have at most.
const PLACES: u32 = 256;

impl<'a> RankedMoves<'a> {
    fn new(moves: &'a MoveList, us: Color, wanted: impl Fn(Move) -> bool) -> Self {
        let mut keys = [0; PLACES as usize];
        let mut left = 0;
        for (place, &m) in moves.iter().enumerate() {
            if wanted(m) {
                keys[left] = ((priority(m, us) + 0x8000) as u32 * PLACES) | (PLACES - 1 - place as u32);
                left += 1;
            }
        }
        keys[..left].sort_unstable();
        RankedMoves { moves, keys, left }
    }
}

impl Iterator for RankedMoves<'_> {
    type Item = Move;

    fn next(&mut self) -> Option<Move> {
        self.left = self.left.checked_sub(1)?;
        Some(self.moves[(PLACES - 1 - self.keys[self.left] % PLACES) as usize])
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::san::San;

    use super::*;

    /// The best move after these moves from the initial position.
    fn check(moves: &str, depth: u32, expected: &str) {
        let mut play = GameState::new();
        for san in moves.split_whitespace() {
            let m = san.parse::<San>().unwrap().to_move(play.position()).unwrap();
            play.play(m);
        }
        let best = candidates(&play, &play.position().legal_moves(), depth, 0)[0];
        assert_eq!(San::from_move(play.position(), best.chosen).to_string(), expected, "after {moves}: {best:?}");
    }

    #[test]
    fn mates_in_one_are_seen() {
        check("e4 e5 Bc4 Nc6 Qh5 Nf6", 2, "Qxf7");
        check("f3 e5 g4", 1, "Qh4");
    }

    #[test]
    fn a_piece_left_hanging_is_taken_and_a_guarded_one_is_not() {
        check("e4 e5 Nf3 Nc6 Bb5 Qg5", 2, "Nxg5");
        let mut play = GameState::new();
        for san in ["e4", "e5", "Qh5", "Nc6"] {
            let m = san.parse::<San>().unwrap().to_move(play.position()).unwrap();
            play.play(m);
        }
        let moves = play.position().legal_moves();
        let near = candidates(&play, &moves, 2, 200);
        assert!(near.iter().all(|c| San::from_move(play.position(), c.chosen).to_string() != "Qxe5"), "{near:?}");
    }

    #[test]
    fn mates_are_counted_in_moves() {
        let of = |value| Candidate { chosen: GameState::new().position().legal_moves()[0], value }.mate();
        assert_eq!([29_999, 29_997, -29_998, 900].map(of), [Some(1), Some(2), Some(-1), None]);
    }

    #[test]
    fn a_margin_only_adds_moves() {
        let play = GameState::new();
        let moves = play.position().legal_moves();
        let narrow = candidates(&play, &moves, 2, 20);
        let wide = candidates(&play, &moves, 2, 60);
        assert!(narrow.len() < wide.len());
        let all = values(&play, &moves, 2);
        assert_eq!(all.len(), moves.len());
        assert!(all.is_sorted_by_key(|candidate| std::cmp::Reverse(candidate.value)));
        for candidate in narrow {
            assert!(all.iter().any(|c| c.chosen == candidate.chosen && c.value == candidate.value));
            assert!(wide.iter().any(|c| c.chosen == candidate.chosen && c.value == candidate.value));
        }
    }
}
