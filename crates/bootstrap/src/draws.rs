//! The games that a resample draws, and their signs.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{LANES, Lanes};

/// Signs are read from the streams of the upper half, so that they have nothing to do with the games that are drawn.
const SIGNS: u64 = 1 << 63;

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

    /// Fills `times`, which has a place a game, with how often the resamples from `first` on draw each game.
    pub fn count(&self, first: u64, times: &mut [Lanes]) {
        times.fill([0.0; LANES]);
        for (lane, number) in (0..LANES).zip(first..) {
            self.resample(number, |game| times[game][lane] += 1.0);
        }
    }

    /// A sign for each game, 1 or -1, in the resamples from `first` on: fills `times`, which has a place a game.
    pub fn signs(&self, first: u64, times: &mut [Lanes]) {
        for (lane, number) in (0..LANES).zip(first..) {
            let mut random = self.random.clone();
            random.set_stream(SIGNS | number);
            for games in times.chunks_mut(64) {
                let bits = random.next_u64();
                for (place, game) in games.iter_mut().enumerate() {
                    game[lane] = if bits >> place & 1 == 0 { 1.0 } else { -1.0 };
                }
            }
        }
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

    #[test]
    fn lanes_are_resamples_and_signs_are_both_ways() {
        let draws = Draws::new(3, 200);
        let mut times = vec![[9.0; LANES]; 200];
        draws.count(16, &mut times);
        for lane in 0..LANES {
            let mut counted = vec![0.0; 200];
            draws.resample(16 + lane as u64, |game| counted[game] += 1.0);
            assert!(times.iter().map(|times| times[lane]).eq(counted));
        }
        draws.signs(0, &mut times);
        let sum: f64 = times.iter().flatten().sum();
        // 1,600 signs: their sum has a deviation of 40.
        assert!(times.iter().flatten().all(|sign| sign.abs() == 1.0) && sum.abs() < 200.0, "{sum}");
        let later = times.clone();
        draws.signs(0, &mut times);
        assert_eq!(times, later);
        draws.signs(8, &mut times);
        assert_ne!(times, later);
    }

    /// For games whose values are normal with deviation 1, the interval of the mean is about 2 x 1.96 / sqrt(games) wide, and
    /// holds the true mean in about 95 of 100 experiments.
    #[test]
    fn intervals_are_as_wide_as_the_theory_has_it() {
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let (mut held, mut width) = (0, 0.0);
        for experiment in 0..200 {
            let values: Vec<f64> = (0..100).map(|_| normal()).collect();
            let draws = Draws::new(experiment, 100);
            let mut mean = |number| {
                let mut sum = 0.0;
                draws.resample(number, |game| sum += values[game]);
                sum / 100.0
            };
            let mut means: Vec<f64> = (0..400).map(&mut mean).collect();
            let (low, high) = crate::confidence_interval(&mut means, 0.95).unwrap();
            held += usize::from(low < 0.0 && 0.0 < high);
            width += (high - low) / 200.0;
        }
        assert!((180..=199).contains(&held), "{held} of 200");
        assert!((width - 0.392).abs() < 0.03, "{width}");
    }

    /// Among 100,000 draws from 10 games each gets a tenth: the deviation of such a count is 95.
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
