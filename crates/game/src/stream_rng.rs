//! The random number generator of one game.

use cwm_random::Random;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The random number generator of one game: ChaCha with eight rounds, keyed by the seed and what the numbers are for,
/// whose stream is numbered by the game. A game is therefore the same whichever thread plays it.
pub struct StreamRng(ChaCha8Rng);

impl StreamRng {
    /// The generator of game number `game` in a run of `purpose` with `seed`, an integer in canonical decimal digits.
    pub fn new(purpose: &str, seed: &str, game: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("cwm-play 1 one random stream for each game");
        hasher.update(purpose.as_bytes()).update(b"\0").update(seed.as_bytes());
        let mut generator = ChaCha8Rng::from_seed(*hasher.finalize().as_bytes());
        generator.set_stream(game);
        StreamRng(generator)
    }

    /// A number from 0 up to but not including 1, of 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Random for StreamRng {
    fn next(&mut self) -> u32 {
        self.0.next_u32()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_purpose_seed_and_game() {
        let first = |purpose, seed, game| StreamRng::new(purpose, seed, game).next();
        let base = first("engine", "0", 0);
        assert_eq!(base, first("engine", "0", 0));
        for other in
            [first("uniform", "0", 0), first("engine", "1", 0), first("engine", "-1", 0), first("engine", "0", 1)]
        {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn every_number_below_a_bound_is_drawn_about_equally_often() {
        let mut stream = StreamRng::new("test", "0", 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }

    #[test]
    fn uniform_numbers_are_below_one_and_a_half_on_average() {
        let mut stream = StreamRng::new("test", "0", 0);
        let numbers: Vec<f64> = (0..10_000).map(|_| stream.uniform()).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        assert!((numbers.iter().sum::<f64>() / 10_000.0 - 0.5).abs() < 0.02);
    }
}
