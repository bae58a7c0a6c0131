//! Batches as the order has them, or examples of like length together.

use super::Sampler;
use super::permutation::{Key, Permutation};

/// The grouping of examples into batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batching {
    /// The examples that follow one another in the order.
    Exact,
    /// Examples of like length: the examples of `window` batches that follow one another are sorted by length and cut
    /// into as many batches of the same sizes, which come in an order of their own. A departure from the protocol:
    /// what is learnt from together is no longer drawn at random. Every example still comes once an epoch.
    Bucketed {
        /// Batches whose examples are sorted together, at least one.
        window: u64,
        /// Decides the order of the batches.
        seed: u64,
    },
}

/// The batches of a training.
#[derive(Clone, Debug)]
pub struct Batches {
    sampler: Sampler,
    batching: Batching,
    /// The last window.
    window: Option<Window>,
}

/// Batches whose examples were sorted together.
#[derive(Clone, Debug)]
struct Window {
    /// Their first step.
    first: u64,
    batches: Vec<Vec<usize>>,
}

impl Batches {
    /// The batches of `sampler`.
    pub fn new(sampler: Sampler, batching: Batching) -> Self {
        Batches { sampler, batching, window: None }
    }

    /// Examples of the batch of step `step`, counted from 0, as places in the dataset. `length` gives the length of
    /// the example at a place.
    ///
    /// # Errors
    /// The error of `length`.
    pub fn batch<E>(&mut self, step: u64, length: impl FnMut(usize) -> Result<usize, E>) -> Result<Vec<usize>, E> {
        let Batching::Bucketed { window, seed } = self.batching else { return Ok(self.sampler.batch(step)) };
        let epoch = self.sampler.epoch(step);
        let part = (step - epoch.first) / window;
        let first = epoch.first + part * window;
        let steps = first..(first + window).min(epoch.first + epoch.steps);
        let key = Key { seed, epoch: epoch.number, part, purpose: b"cwm order: decks" };
        if self.window.as_ref().is_none_or(|window| window.first != first) {
            let drawn: Vec<Vec<usize>> = steps.map(|step| self.sampler.batch(step)).collect();
            self.window = Some(Window { first, batches: sort_by_length(&drawn, key, length)? });
        }
        let batch = self.window.as_ref().map(|window| window.batches[(step - first) as usize].clone());
        Ok(batch.unwrap_or_default())
    }
}

/// Sorts the examples of all batches by length, ties in their order, cuts them into batches of the same sizes, and
/// puts those in random order.
fn sort_by_length<E>(
    drawn: &[Vec<usize>],
    key: Key,
    mut length: impl FnMut(usize) -> Result<usize, E>,
) -> Result<Vec<Vec<usize>>, E> {
    let mut examples: Vec<(usize, usize)> =
        drawn.iter().flatten().map(|&example| Ok((length(example)?, example))).collect::<Result<_, E>>()?;
    examples.sort_by_key(|(length, _)| *length);
    let mut rest = examples.iter().map(|(_, example)| *example);
    let cut: Vec<Vec<usize>> = drawn.iter().map(|batch| rest.by_ref().take(batch.len()).collect()).collect();
    let order = Permutation::new(cut.len() as u64, key);
    Ok((0..cut.len()).map(|place| cut[order.at(place as u64) as usize].clone()).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Order;
    use super::*;

    /// Lengths without a pattern.
    fn length(example: usize) -> Result<usize, ()> {
        Ok(1 + example * 7_919 % 613)
    }

    fn batches(examples: usize, window: u64) -> Batches {
        let sampler = Sampler::new(examples, 8, Order::Shuffled { seed: 4 });
        Batches::new(sampler, Batching::Bucketed { window, seed: 4 })
    }

    proptest! {
        #[test]
        fn every_example_comes_once_an_epoch_and_from_its_own_window(examples in 1usize..400, window in 1u64..9, epoch in 0u64..3) {
            let mut exact = Sampler::new(examples, 8, Order::Shuffled { seed: 4 });
            let steps = exact.epoch(0).steps;
            let mut bucketed = batches(examples, window);
            for part in (epoch * steps..(epoch + 1) * steps).collect::<Vec<_>>().chunks(window as usize) {
                let sorted = |mut examples: Vec<usize>| { examples.sort_unstable(); examples };
                let drawn: Vec<_> = part.iter().map(|step| exact.batch(*step)).collect();
                let dealt: Vec<_> = part.iter().map(|step| bucketed.batch(*step, length).unwrap()).collect();
                prop_assert_eq!(sorted(dealt.concat()), sorted(drawn.concat()));
                let sizes = |batches: &[Vec<usize>]| sorted(batches.iter().map(Vec::len).collect());
                prop_assert_eq!(sizes(&dealt), sizes(&drawn));
                // No two batches of a window overlap in length.
                let mut spans: Vec<(usize, usize)> = dealt.iter().map(|batch| {
                    let lengths = || batch.iter().map(|example| length(*example).unwrap());
                    (lengths().min().unwrap(), lengths().max().unwrap())
                }).collect();
                spans.sort_unstable();
                prop_assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            }
        }

        #[test]
        fn a_step_is_the_same_however_it_is_reached(steps in prop::collection::vec(0u64..40, 1..20)) {
            let mut wandering = batches(83, 3);
            for step in steps {
                prop_assert_eq!(wandering.batch(step, length), batches(83, 3).batch(step, length));
            }
        }
    }

    #[test]
    fn like_lengths_go_together_in_no_order_of_length() {
        let mut bucketed = batches(4_096, 64);
        let spread = |batch: &[usize]| {
            let lengths: Vec<usize> = batch.iter().map(|example| length(*example).unwrap()).collect();
            lengths.iter().max().unwrap() - lengths.iter().min().unwrap()
        };
        let dealt: Vec<Vec<usize>> = (0..64).map(|step| bucketed.batch(step, length).unwrap()).collect();
        assert!(dealt.iter().all(|batch| spread(batch) < 60), "lengths from 1 to 613 in 64 batches");
        let exact: Vec<Vec<usize>> = (0..64).map(|step| bucketed.sampler.batch(step)).collect();
        assert!(exact.iter().filter(|batch| spread(batch) > 300).count() > 48);
        let upwards = dealt.windows(2).filter(|pair| length(pair[0][0]) < length(pair[1][0])).count();
        assert!((16..48).contains(&upwards), "{upwards} of 63");
    }

    #[test]
    fn an_example_that_cannot_be_read_is_reported() {
        assert_eq!(batches(100, 4).batch(0, |_| Err("damaged")), Err("damaged"));
    }
}
