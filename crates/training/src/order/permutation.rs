//! A random order of any number of examples that takes no memory.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Rounds; four would do to look random, and more cost nothing beside a training.
const ROUNDS: usize = 12;

/// Key of a permutation.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Seed of the order.
    pub seed: u64,
    /// The epoch.
    pub epoch: u64,
    /// The part of the epoch, if it has parts.
    pub part: u64,
    /// The purpose of the order, which separates orders with equal numbers.
    pub purpose: &'static [u8; 16],
}

/// A permutation of the numbers below `size`, of which each place can be computed by itself: a Feistel network.
///
/// A number is `high * right + low` with `high < left` and `low < right`, where `left` and `right` are about the root
/// of `size`. A round adds to one of the two a keyed hash of the other, modulo its bound, which can be undone: so
/// rounds permute the numbers below `left * right` (Black and Rogaway 2002, "Ciphers with arbitrary finite domains").
/// The few of them that are not below `size` are sent through again until they are, which leaves a permutation of
/// those that are.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    size: u64,
    left: u64,
    right: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// Permutes the numbers below `size`, at least one and at most 2^62.
    pub fn new(size: u64, key: Key) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&key.seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&key.epoch.to_le_bytes());
        bytes[16..].copy_from_slice(key.purpose);
        let mut generator = ChaCha8Rng::from_seed(bytes);
        generator.set_stream(key.part);
        let root = size.isqrt();
        let left = (root + u64::from(root * root < size)).max(1);
        let right = size.div_ceil(left).max(1);
        Permutation { size, left, right, keys: std::array::from_fn(|_| generator.next_u64()) }
    }

    /// The number at place `place`, which is below `size`.
    pub fn at(&self, place: u64) -> u64 {
        debug_assert!(place < self.size, "there is no such place");
        let mut number = place;
        loop {
            number = self.rounds(number);
            if number < self.size {
                return number;
            }
        }
    }

    fn rounds(&self, number: u64) -> u64 {
        let (mut high, mut low) = (number / self.right, number % self.right);
        for keys in self.keys.as_chunks::<2>().0 {
            high = (high + hash(keys[0], low, self.left)) % self.left;
            low = (low + hash(keys[1], high, self.right)) % self.right;
        }
        high * self.right + low
    }
}

/// A number below `bound` that depends on `key` and `value`: SplitMix64's finaliser, scaled.
fn hash(key: u64, value: u64, bound: u64) -> u64 {
    let mut mixed = key.wrapping_add(value.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    ((u128::from(mixed) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn permutation(size: u64, seed: u64) -> Permutation {
        Permutation::new(size, Key { seed, epoch: 0, part: 0, purpose: b"permutation test" })
    }

    fn all(size: u64, seed: u64) -> Vec<u64> {
        let permutation = permutation(size, seed);
        (0..size).map(|place| permutation.at(place)).collect()
    }

    proptest! {
        #[test]
        fn every_number_has_one_place(size in 1u64..3_000, seed: u64) {
            let mut numbers = all(size, seed);
            numbers.sort_unstable();
            prop_assert!(numbers.into_iter().eq(0..size));
        }

        #[test]
        fn numbers_of_large_permutations_stay_below(size in 1u64..1 << 62, seed: u64, place: u64) {
            let permutation = permutation(size, seed);
            prop_assert!(permutation.at(place % size) < size);
            prop_assert!(permutation.left * permutation.right >= size);
            prop_assert!(permutation.left * permutation.right - size < permutation.left);
        }
    }

    /// Sum of squared deviations over their expectation, in standard deviations from what chance gives.
    fn surprise(counts: impl ExactSizeIterator<Item = u64>, expected: f64) -> f64 {
        let freedom = (counts.len() - 1) as f64;
        let square: f64 = counts.map(|count| (count as f64 - expected).powi(2) / expected).sum();
        (square - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn all_orders_of_a_few_examples_come_about_equally_often() {
        for (size, orders) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
            let draws = 400 * orders;
            let mut counts = HashMap::<Vec<u64>, u64>::new();
            for seed in 0..draws {
                *counts.entry(all(size, seed)).or_default() += 1;
            }
            assert_eq!(counts.len() as u64, orders, "some orders of {size} never come");
            let surprise = surprise(counts.into_values(), 400.0);
            assert!(surprise.abs() < 4.0, "orders of {size}: {surprise}");
        }
    }

    #[test]
    fn places_and_numbers_are_independent_and_so_are_neighbours() {
        // 100 cells by tenths of the place and of the number, and of the numbers at one place and the next.
        let size = 100_000;
        let numbers = all(size, 1);
        let tenth = |number: u64| number * 10 / size;
        let table = |pairs: &mut dyn Iterator<Item = (u64, u64)>| {
            let mut counts = [0u64; 100];
            pairs.for_each(|(a, b)| counts[(tenth(a) * 10 + tenth(b)) as usize] += 1);
            surprise(counts.into_iter(), size as f64 / 100.0)
        };
        let by_place = table(&mut numbers.iter().enumerate().map(|(place, number)| (place as u64, *number)));
        let by_neighbour = table(&mut numbers.windows(2).map(|pair| (pair[0], pair[1])));
        assert!(by_place.abs() < 4.0 && by_neighbour.abs() < 4.0, "{by_place} {by_neighbour}");
        // As many runs upwards as in a random order: (2n - 1) / 3 turning points are expected.
        let turns = numbers.windows(3).filter(|three| (three[0] < three[1]) != (three[1] < three[2])).count() as f64;
        let expected = 2.0 * (size as f64 - 2.0) / 3.0;
        assert!((turns - expected).abs() < 4.0 * (16.0 * size as f64 / 90.0).sqrt(), "{turns} {expected}");
    }

    #[test]
    fn keys_differ_by_every_part() {
        let with = |seed, epoch, part, purpose| {
            let permutation = Permutation::new(1_000, Key { seed, epoch, part, purpose });
            (0..1_000).map(|place| permutation.at(place)).collect::<Vec<_>>()
        };
        let base = with(0, 0, 0, b"permutation test");
        for other in [
            with(1, 0, 0, b"permutation test"),
            with(0, 1, 0, b"permutation test"),
            with(0, 0, 1, b"permutation test"),
            with(0, 0, 0, b"another purpose!"),
        ] {
            let same = base.iter().zip(&other).filter(|(a, b)| a == b).count();
            assert!(same < 10, "{same} of 1,000 examples are at the same place");
        }
    }

    /// A type that is `Copy` owns no memory: whatever the number of examples, this is all there is.
    #[test]
    fn a_hundred_million_examples_take_no_memory() {
        fn owns_nothing<T: Copy>(_: &T) -> usize {
            size_of::<T>()
        }
        let permutation = permutation(100_000_000, 3);
        assert!(owns_nothing(&permutation) <= 128);
        let far = [0, 1, 50_000_000, 99_999_999].map(|place| permutation.at(place));
        assert!(far.iter().all(|example| *example < 100_000_000));
    }
}
