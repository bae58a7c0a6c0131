//! Which games are in which batch: a function of the step, so that a run continues anywhere.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Order of games within an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they lie in the dataset, every epoch alike.
    File,
    /// Uniform over all games, anew in each epoch.
    Shuffled {
        /// Decides the order.
        seed: u64,
    },
}

/// Draws batches: every game once an epoch, the last batch of an epoch possibly smaller.
#[derive(Debug)]
pub struct Sampler {
    games: usize,
    batch_size: usize,
    order: Order,
    /// The last epoch asked for and its order.
    current: Option<(u64, Vec<u32>)>,
}

impl Sampler {
    /// Over `games` games, at least one.
    pub fn new(games: usize, batch_size: usize, order: Order) -> Self {
        Sampler { games, batch_size, order, current: None }
    }

    /// Batches of an epoch.
    pub fn steps_per_epoch(&self) -> u64 {
        self.games.div_ceil(self.batch_size) as u64
    }

    /// Games of the batch of step `step`, counted from 0.
    pub fn batch(&mut self, step: u64) -> Vec<usize> {
        let epoch = step / self.steps_per_epoch();
        let start = (step % self.steps_per_epoch()) as usize * self.batch_size;
        let end = (start + self.batch_size).min(self.games);
        match self.order {
            Order::File => (start..end).collect(),
            Order::Shuffled { seed } => {
                if self.current.as_ref().is_none_or(|(of, _)| *of != epoch) {
                    self.current = Some((epoch, shuffled(self.games, seed, epoch)));
                }
                let (_, order) = self.current.as_ref().expect("just set");
                order[start..end].iter().map(|&game| game as usize).collect()
            }
        }
    }
}

/// All numbers below `games` in the order of this epoch, by Fisher and Yates from ChaCha.
fn shuffled(games: usize, seed: u64, epoch: u64) -> Vec<u32> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&epoch.to_le_bytes());
    key[16..].copy_from_slice(b"cwm order: games");
    let mut generator = ChaCha8Rng::from_seed(key);
    let mut order: Vec<u32> = (0..games as u32).collect();
    for last in (1..games).rev() {
        order.swap(last, below(&mut generator, last as u64 + 1) as usize);
    }
    order
}

/// Uniform below `bound`, by Lemire's multiplication with rejection.
fn below(generator: &mut ChaCha8Rng, bound: u64) -> u64 {
    loop {
        let product = u128::from(generator.next_u64()) * u128::from(bound);
        if product as u64 >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_game_comes_once_an_epoch(games in 1usize..300, batch_size in 1usize..50, seed: u64, epoch in 0u64..5) {
            for order in [Order::File, Order::Shuffled { seed }] {
                let mut sampler = Sampler::new(games, batch_size, order);
                let steps = sampler.steps_per_epoch();
                let mut all: Vec<usize> = (0..steps).flat_map(|step| sampler.batch(epoch * steps + step)).collect();
                prop_assert!((0..steps - 1).all(|step| sampler.batch(step).len() == batch_size));
                all.sort_unstable();
                prop_assert_eq!(all, (0..games).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn epochs_and_seeds_differ_and_a_step_is_the_same_however_it_is_reached() {
        let order = |seed| Order::Shuffled { seed };
        let mut sampler = Sampler::new(1000, 1000, order(1));
        let (first, second) = (sampler.batch(0), sampler.batch(1));
        assert_ne!(first, second);
        assert_eq!(Sampler::new(1000, 1000, order(1)).batch(1), second);
        assert_ne!(Sampler::new(1000, 1000, order(2)).batch(0), first);
        let at_home = first.iter().enumerate().filter(|(i, game)| i == *game).count();
        assert!(at_home < 10, "{at_home} games stayed in place");
    }
}
