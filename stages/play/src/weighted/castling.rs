//! Castling: how each side goes about it, and how much each move counts for that.

use cwm_game::GameState;
use cwm_random::Random;
use shakmaty::{ByColor, CastlingSide, Chess, Move, Position, Role};

/// The castling goal of a side for a whole game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastlingGoal {
    /// To castle on this wing.
    Castle(CastlingSide),
    /// To lose the right by moving king or rooks.
    Forfeit,
}

/// The aims of both sides.
#[derive(Clone, Copy, Debug)]
pub struct CastlingGoals(ByColor<CastlingGoal>);

impl CastlingGoals {
    /// Two draws, White's first: king's side, queen's side or neither, each equally likely.
    pub fn draw(random: &mut impl Random) -> Self {
        let mut aim = || match random.below(3) {
            0 => CastlingGoal::Castle(CastlingSide::KingSide),
            1 => CastlingGoal::Castle(CastlingSide::QueenSide),
            _ => CastlingGoal::Forfeit,
        };
        let white = aim();
        CastlingGoals(ByColor { white, black: aim() })
    }

    /// Returns the weight of `m`.
    pub fn weight(&self, play: &GameState, m: Move) -> u32 {
        let position = play.position();
        if takes_a_castling_rook(position, m) {
            return 64;
        }
        match self.0[position.turn()] {
            CastlingGoal::Castle(side) => for_castling(position, m, side),
            CastlingGoal::Forfeit if m.is_castle() => 1,
            CastlingGoal::Forfeit if gives_up_a_right(position, m) => 16,
            CastlingGoal::Forfeit => 4,
        }
    }
}

/// Returns the weight of `m` for a side that wants to castle on `side`: until it has or cannot any more, it keeps that rook
/// and the king where they are and the squares between them free.
fn for_castling(position: &Chess, m: Move, side: CastlingSide) -> u32 {
    let (us, castles) = (position.turn(), position.castles());
    let Some(rook) = castles.rook(us, side) else {
        return 4;
    };
    let path = castles.path(us, side);
    match m.castling_side() {
        Some(castled) if castled == side => 256,
        Some(_) => 1,
        None if m.role() == Role::King || m.from() == Some(rook) => 0,
        None if path.contains(m.to()) => 1,
        None if m.from().is_some_and(|from| path.contains(from)) => 16,
        None => 4,
    }
}

/// Returns true if `m` takes a rook with which the opponent may still castle.
fn takes_a_castling_rook(position: &Chess, m: Move) -> bool {
    m.is_capture() && position.castles().castling_rights().contains(m.to())
}

/// Returns true if `m`, a move of the king or a rook, gives up a right.
fn gives_up_a_right(position: &Chess, m: Move) -> bool {
    let castles = position.castles();
    match m.role() {
        Role::King => castles.has_color(position.turn()),
        Role::Rook => m.from().is_some_and(|from| castles.castling_rights().contains(from)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use cwm_game::StreamRng;
    use shakmaty::uci::UciMove;

    use super::*;

    const KING_SIDE: CastlingGoal = CastlingGoal::Castle(CastlingSide::KingSide);
    const QUEEN_SIDE: CastlingGoal = CastlingGoal::Castle(CastlingSide::QueenSide);

    /// Compares the weights of moves for a side with this goal after `played`: `move=weight`.
    fn check(aim: CastlingGoal, played: &str, expected: &str) {
        let mut play = GameState::new();
        let read = |uci: &str, position: &Chess| uci.parse::<UciMove>().unwrap().to_move(position).unwrap();
        for uci in played.split_whitespace() {
            let m = read(uci, play.position());
            play.play(m);
        }
        let aims = CastlingGoals(ByColor::new_with(|_| aim));
        for pair in expected.split_whitespace() {
            let (uci, expected) = pair.split_once('=').unwrap();
            let weight = aims.weight(&play, read(uci, play.position()));
            assert_eq!(weight, expected.parse::<u32>().unwrap(), "{uci} after {played}, {aim:?}");
        }
    }

    #[test]
    fn the_squares_between_king_and_rook_are_left() {
        let opened = "e2e4 a7a6 d2d4 a6a5";
        check(KING_SIDE, opened, "f1e2=16 g1f3=16 e1e2=0 b1c3=4 d1d2=4 h2h3=4");
        check(QUEEN_SIDE, opened, "c1d2=16 b1c3=16 d1d2=16 e1e2=0 g1f3=4 e1d2=0");
        check(KING_SIDE, "g1f3 a7a6", "f3g1=1 h1g1=0 f3e5=4");
    }

    #[test]
    fn castling_comes_at_once_and_on_the_wing_that_was_drawn() {
        let ready = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 d2d3 d7d6 c1e3 c8e6 b1c3 d8d7 d1d2 g8f6";
        check(KING_SIDE, ready, "e1g1=256 e1c1=1 e1e2=0 h1g1=0 a1b1=4");
        check(QUEEN_SIDE, ready, "e1g1=1 e1c1=256 a1d1=0 h1g1=4");
        check(CastlingGoal::Forfeit, ready, "e1g1=1 e1c1=1 e1e2=16 a1d1=16 h1g1=16 a2a3=4");
        // Afterwards, and when the wing is lost, moves weigh the same but for rooks to be taken.
        check(KING_SIDE, &format!("{ready} e1g1 a7a6"), "g1h1=4 f1e1=4 a2a3=4");
        check(QUEEN_SIDE, &format!("{ready} a1b1 a7a6"), "e1g1=4 e1e2=4 b1a1=4");
    }

    #[test]
    fn rooks_that_could_still_castle_are_taken() {
        let open = "g2g3 b7b6 f1g2 c8b7";
        check(KING_SIDE, open, "g2b7=4");
        check(KING_SIDE, &format!("{open} g2b7 a7a6"), "b7a8=64 b7a6=4");
        check(KING_SIDE, &format!("{open} g2b7 a7a6 h2h3 a8a7 h3h4 a7a8"), "b7a8=4");
    }

    #[test]
    fn aims_are_drawn_equally_often() {
        let mut stream = StreamRng::new("test", "0", 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..9_000 {
            let CastlingGoals(ByColor { white, black }) = CastlingGoals::draw(&mut stream);
            *counts.entry(format!("{white:?} {black:?}")).or_insert(0u32) += 1;
        }
        assert!(counts.len() == 9 && counts.values().all(|count| count.abs_diff(1_000) < 150), "{counts:?}");
    }
}
