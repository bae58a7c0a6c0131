//! Random play with a preference: each legal move has a weight, and is as likely as its share in the sum of weights.
//! One draw a ply; the ends are those of uniform play. docs/design/play.md has the purpose and effects of each
//! preference.

mod castling;
mod weights;

use cwm_game::GameState;
use cwm_random::Random;
use shakmaty::Move;

use crate::random_game::{self, RandomGame};
use castling::CastlingGoals;

/// The kind of moves that are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    /// Games that go on and on.
    Long,
    /// Pawns that promote, to pieces of all four kinds.
    Promotion,
    /// Castling on both wings, and losing the right to it in every way.
    Castling,
    /// Pawns that can be taken en passant, and are.
    EnPassant,
    /// No captures.
    Quiet,
}

impl Preference {
    /// All of them.
    pub const ALL: [Preference; 5] =
        [Preference::Long, Preference::Promotion, Preference::Castling, Preference::EnPassant, Preference::Quiet];

    /// The name of the policy.
    pub fn name(self) -> &'static str {
        match self {
            Preference::Long => "long",
            Preference::Promotion => "promotion",
            Preference::Castling => "castling",
            Preference::EnPassant => "en_passant",
            Preference::Quiet => "quiet",
        }
    }

    /// The limit of plies where none is given.
    pub fn default_max_plies(self) -> Option<u32> {
        // As long as the longest games of uniform play, and beyond move 255, where the move counter fills a second byte.
        (self == Preference::Long).then_some(600)
    }
}

/// Plays one game of at most `max_plies`.
pub fn game(preference: Preference, max_plies: Option<u32>, random: &mut impl Random) -> RandomGame {
    match preference {
        Preference::Long => by_weight(max_plies, random, weights::long),
        Preference::Promotion => by_weight(max_plies, random, weights::promotion),
        Preference::Castling => {
            let aims = CastlingGoals::draw(random);
            by_weight(max_plies, random, |play, m| aims.weight(play, m))
        }
        Preference::EnPassant => by_weight(max_plies, random, weights::en_passant),
        Preference::Quiet => by_weight(max_plies, random, weights::quiet),
    }
}

/// Plays one game in which each legal move counts what `weight` gives it.
fn by_weight<R: Random>(
    max_plies: Option<u32>,
    random: &mut R,
    weight: impl Fn(&GameState, Move) -> u32,
) -> RandomGame {
    let mut weights: Vec<u32> = Vec::new();
    random_game::play(random, max_plies, |play, moves, random| {
        weights.clear();
        weights.extend(moves.iter().map(|&m| weight(play, m)));
        moves[draw(&weights, random)]
    })
}

/// A place in `weights` (at least one, the sum below 2^32), each as likely as its share in their sum: the first whose
/// sum with all before it is above a number drawn below the whole sum. Where all weights are 0 each counts 1.
fn draw(weights: &[u32], random: &mut impl Random) -> usize {
    let total: u32 = weights.iter().sum();
    if total == 0 {
        return random.below(weights.len() as u32) as usize;
    }
    let mut drawn = random.below(total);
    let mut place = 0;
    while drawn >= weights[place] {
        drawn -= weights[place];
        place += 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use cwm_game::StreamRng;

    use super::*;

    #[test]
    fn a_weight_is_a_share() {
        let mut stream = StreamRng::new("test", "0", 0);
        let mut counts = [0u32; 5];
        for _ in 0..80_000 {
            counts[draw(&[0, 5, 1, 0, 2], &mut stream)] += 1;
        }
        assert_eq!((counts[0], counts[3]), (0, 0));
        for (place, expected) in [(1, 50_000), (2, 10_000), (4, 20_000)] {
            assert!(counts[place].abs_diff(expected) < 600, "{counts:?}");
        }
    }

    #[test]
    fn where_nothing_is_preferred_every_move_is_equally_likely() {
        let mut stream = StreamRng::new("test", "0", 0);
        let mut counts = [0u32; 3];
        for _ in 0..30_000 {
            counts[draw(&[0, 0, 0], &mut stream)] += 1;
        }
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 400), "{counts:?}");
    }
}
