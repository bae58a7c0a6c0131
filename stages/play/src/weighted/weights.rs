//! Weights of moves under each preference but castling. docs/design/play.md has these numbers as a table.

use cwm_game::GameState;
use shakmaty::{Bitboard, Chess, Color, Move, Position, Rank, Role, attacks};

/// The half-move clock from which a long game favours a pawn move or a capture.
const PRESSING_CLOCK: u32 = 80;

/// Games that go on: nothing that ends them, few captures, pawn moves kept for when the fifty moves press.
pub fn long(play: &GameState, m: Move) -> u32 {
    let pressing = play.position().halfmoves() >= PRESSING_CLOCK;
    if comes_to_an_end(play, m) {
        0
    } else if m.is_capture() {
        if pressing { 16 } else { 1 }
    } else if m.role() == Role::Pawn {
        if pressing { 256 } else { 1 }
    } else {
        16
    }
}

/// Pawns go forward, the further the sooner, and promote to all four kinds alike.
pub fn promotion(play: &GameState, m: Move) -> u32 {
    if comes_to_an_end(play, m) {
        return 0;
    }
    if m.role() != Role::Pawn {
        return u32::from(m.capture() != Some(Role::Pawn));
    }
    let advance = match rank_reached(play.position().turn(), m) {
        Rank::Third | Rank::Fourth => 4,
        Rank::Fifth => 8,
        Rank::Sixth => 16,
        Rank::Seventh => 32,
        _ => 64,
    };
    if m.is_capture() { 4 * advance } else { advance }
}

/// Pawns go where enemy pawns pass them by, and pass enemy pawns by; what can be taken en passant is.
pub fn en_passant(play: &GameState, m: Move) -> u32 {
    let position = play.position();
    let us = position.turn();
    if m.is_en_passant() {
        return 1_024;
    }
    if m.is_capture() {
        return 1;
    }
    if m.role() != Role::Pawn {
        return 4;
    }
    let from = m.from().map(|square| us.relative_rank(square.rank()));
    match (from, rank_reached(us, m)) {
        (Some(Rank::Second), Rank::Fourth) if has_enemy_pawn_beside(position, m) => 128,
        (Some(Rank::Second), Rank::Fourth) => 4,
        // A pawn that stays at home can still pass others by.
        (Some(Rank::Second), _) => 1,
        (_, Rank::Fourth | Rank::Fifth) => 32,
        _ => 1,
    }
}

/// No captures.
pub fn quiet(_: &GameState, m: Move) -> u32 {
    u32::from(!m.is_capture())
}

/// Returns true if `m` ends the game or brings the end near: the opponent has no move, the material suffices for no mate, the
/// clock is a ply before a claim of fifty moves, or the position has stood before.
fn comes_to_an_end(play: &GameState, m: Move) -> bool {
    let next = play.after(m);
    next.halfmoves() >= 99
        || next.is_insufficient_material()
        || (!m.is_zeroing() && play.times_before(&next) > 0)
        || next.legal_moves().is_empty()
}

/// The rank that `m` goes to, as the side that plays it counts.
fn rank_reached(us: Color, m: Move) -> Rank {
    us.relative_rank(m.to().rank())
}

/// Returns true if an enemy pawn stands beside the square that `m` goes to.
fn has_enemy_pawn_beside(position: &Chess, m: Move) -> bool {
    let beside = attacks::king_attacks(m.to()) & Bitboard::from_rank(m.to().rank());
    (beside & position.their(Role::Pawn)).any()
}

#[cfg(test)]
mod tests {
    use shakmaty::uci::UciMove;

    use super::*;

    /// Compares the weights of moves after `played`: `move=weight`, castling as the king's move.
    fn check(weight: fn(&GameState, Move) -> u32, played: &str, expected: &str) {
        let mut play = GameState::new();
        for uci in played.split_whitespace() {
            let m = uci.parse::<UciMove>().unwrap().to_move(play.position()).unwrap();
            play.play(m);
        }
        for pair in expected.split_whitespace() {
            let (uci, expected) = pair.split_once('=').unwrap();
            let m = uci.parse::<UciMove>().unwrap().to_move(play.position()).unwrap();
            assert_eq!(weight(&play, m), expected.parse::<u32>().unwrap(), "{uci} after {played}");
        }
    }

    #[test]
    fn long_games_keep_pawns_and_pieces_until_the_clock_presses() {
        check(long, "e2e4 d7d5", "e4d5=1 e4e5=1 a2a3=1 g1f3=16");
        // Mate, and a position that has stood before.
        check(long, "f2f3 e7e5 g2g4", "d8h4=0 d8g5=16");
        check(long, "g1f3 g8f6 f3g1", "f6g8=0 f6g4=16");
        // Knights tour for 78 plies, and for 80.
        let tour = "g1f3 g8f6 f3g5 f6g4 g5h3 g4h6 h3g1 h6g8";
        let nine = [tour; 9].join(" ");
        check(long, &format!("e2e4 d7d5 {nine} g1f3 g8f6 f3g5 f6g4 g5h3 g4h6"), "a2a3=1 e4d5=1");
        check(long, &format!("e2e4 d7d5 {nine} {tour}"), "a2a3=256 e4d5=16 g1f3=0 g1h3=16");
    }

    #[test]
    fn pawns_that_go_further_weigh_more() {
        check(promotion, "", "e2e4=4 e2e3=4 g1f3=1");
        check(promotion, "e2e4 d7d5", "e4d5=32 e4e5=8 g1f3=1");
        check(promotion, "e2e4 d7d5 e4d5 d8d5", "d2d3=4 b1c3=1");
        check(promotion, "e2e4 d7d5 b1c3 d5e4", "c3e4=0 c3d5=1");
        let seventh = "h2h4 g7g5 h4g5 h7h6 g5h6 f8g7";
        check(promotion, seventh, "h6g7=128 h6h7=32");
        let last = "h2h4 g7g5 h4g5 h7h6 g5h6 f8g7 h6g7 a7a6";
        check(promotion, last, "g7h8q=256 g7h8r=256 g7h8b=256 g7h8n=256");
        check(promotion, "f2f3 e7e5 g2g4", "d8h4=0");
    }

    #[test]
    fn pawns_pass_each_other_by_and_are_taken() {
        check(en_passant, "", "e2e4=4 e2e3=1 g1f3=4");
        check(en_passant, "e2e4 a7a6", "e4e5=32");
        check(en_passant, "e2e4 a7a6 e4e5", "d7d5=128 f7f5=128 b7b5=4 d7d6=1 a6a5=32");
        check(en_passant, "e2e4 a7a6 e4e5 d7d5", "e5d6=1024 e5e6=1");
        check(en_passant, "e2e3 a7a6 e3e4 b7b5", "e4e5=32 f1b5=1");
    }

    #[test]
    fn quiet_games_want_no_captures() {
        check(quiet, "e2e4 a7a6 e4e5 d7d5", "e5d6=0 e5e6=1 f1a6=0");
    }
}
