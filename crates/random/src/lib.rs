//! Random numbers as CPython draws them: the authors' random games and their order of training rest on its generator.
//!
//! This crate must not depend on what the numbers are for.

mod mersenne;

pub use mersenne::MersenneTwister;

/// A source of random integers.
pub trait Random {
    /// The next 32 bits.
    fn next(&mut self) -> u32;

    /// A number from 0 up to but not including `bound` (at least 1), each equally likely, drawn as CPython's
    /// `randrange` draws it: as many of the highest bits as `bound` itself has, until the value is below it. So even
    /// `below(1)` uses up numbers.
    fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(bound > 0, "nothing is below zero");
        let shift = bound.leading_zeros();
        loop {
            let value = self.next() >> shift;
            if value < bound {
                return value;
            }
        }
    }

    /// Shuffles `items`, fewer than 2^32, as CPython's `shuffle` does: from the last to the second,
    /// each changes places with one that is not behind it.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}
