//! Random choices of builders and players.

use cwm_game::StreamRng;
use cwm_random::Random;

/// The random choices of one example or answer. Each has a stream of its own: it does not depend on other examples, on cores, or on
/// other builders.
pub struct RandomChoices(StreamRng);

impl RandomChoices {
    /// The draws for `purpose`, such as a builder's name, and an ordinal, such as that of a position, in a run with
    /// `seed`.
    pub fn new(purpose: &str, seed: i128, ordinal: u64) -> RandomChoices {
        RandomChoices(StreamRng::new(&format!("examples {purpose}"), &seed.to_string(), ordinal))
    }

    /// A number from 0 up to but not including 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// A whole number of `low..=high`, each equally likely.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.0.below(high - low + 1)
    }

    /// One of `items`, each equally likely; none of none.
    pub fn one_of<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.0.below(items.len() as u32) as usize) }
    }

    /// Shuffles `items`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        self.0.shuffle(items);
    }

    /// The index of one of `weights`, which are not negative, in proportion to them; none if all are 0.
    pub fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let sum: f64 = weights.iter().sum();
        let mut left = self.uniform() * sum;
        let mut last = None;
        for (at, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.) {
            last = Some(at);
            if left < weight {
                break;
            }
            left -= weight;
        }
        last
    }
}
