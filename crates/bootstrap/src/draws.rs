//! Which games a resample draws.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Draws of as many games as there are, with replacement. A resample depends on the seed, its own number and the number
/// of games alone: whatever was scored on the same games is drawn alike, in any order and on any number of cores.
#[derive(Clone, Debug)]
pub struct Draws {
    /// Keyed by the seed; each resample reads a stream of its own.
    random: ChaCha8Rng,
    games: usize,
}

impl Draws {
    /// Draws among `games` games.
    pub fn new(seed: u64, games: usize) -> Self {
        Draws { random: ChaCha8Rng::seed_from_u64(seed), games }
    }

    /// Calls `drawn` with the place of each game that the resample of this number draws: as often as there are games.
    pub fn resample(&self, number: u64, mut drawn: impl FnMut(usize)) {
        let mut random = self.random.clone();
        random.set_stream(number);
        for _ in 0..self.games {
            // The high bits of a product: no game is favoured by more than one in 2^64 / games.
            drawn(((u128::from(random.next_u64()) * self.games as u128) >> 64) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(draws: &Draws, number: u64) -> Vec<usize> {
        let mut games = Vec::new();
        draws.resample(number, |game| games.push(game));
        games
    }

    #[test]
    fn a_resample_depends_on_seed_number_and_games_alone() {
        let draws = Draws::new(7, 50);
        let later = drawn(&draws, 3);
        assert_eq!(later, drawn(&Draws::new(7, 50), 3));
        assert_ne!(later, drawn(&draws, 2));
        assert_ne!(later, drawn(&Draws::new(8, 50), 3));
        assert_eq!((later.len(), drawn(&Draws::new(7, 0), 3).len()), (50, 0));
    }

    /// Of 100,000 draws among 10 games each gets a tenth: the deviation of such a count is 95.
    #[test]
    fn every_game_is_as_likely() {
        let draws = Draws::new(1, 10);
        let mut counts = [0i32; 10];
        (0..10_000).for_each(|number| draws.resample(number, |game| counts[game] += 1));
        assert!(counts.iter().all(|count| (count - 10_000).abs() < 480), "{counts:?}");
    }

    /// The share of games that a resample leaves out is (1 - 1/n)^n, about 1/e.
    #[test]
    fn games_are_drawn_with_replacement() {
        let draws = Draws::new(1, 1_000);
        let left_out: usize = (0..100).map(|number| 1_000 - distinct(drawn(&draws, number))).sum();
        assert!((left_out as f64 / 100_000.0 - 0.3677).abs() < 0.005, "{left_out}");
    }

    fn distinct(mut games: Vec<usize>) -> usize {
        games.sort_unstable();
        games.dedup();
        games.len()
    }
}
