//! The kernel of [`super::dropout`] on a GPU: an element a thread.

use cubecl::prelude::*;

use super::Dropout;
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of};

impl Dropout {
    /// The arguments of a kernel for a dropout, for [`factor`]: the words of its key, the number of 24-bit values that drop an
    /// element, and the factor of the others.
    pub(crate) fn words(self) -> ([u32; 2], u32, f32) {
        // Below p as a float is below p as a whole number of units: both are exact.
        let dropped = (f64::from(self.p) * 16_777_216.0).ceil() as u32;
        (self.key.words(), dropped, 1.0 / (1.0 - self.p))
    }
}

/// The factor of element `index`, the same as [`Dropout::factor`] to the bit.
#[cube]
pub(crate) fn factor(index: u32, first: u32, second: u32, dropped: u32, kept: f32) -> f32 {
    let bits = scramble(scramble(index ^ first) ^ second) >> 8u32;
    if bits < dropped { 0.0f32.runtime() } else { kept }
}

/// The mixing of 32 bits of `counter_rng`.
#[cube]
fn scramble(x: u32) -> u32 {
    let a = x ^ (x >> 16u32);
    let a = a * 0x7feb_352du32;
    let a = a ^ (a >> 15u32);
    let a = a * 0x846c_a68bu32;
    a ^ (a >> 16u32)
}

/// Each element times its factor.
#[derive(Debug)]
pub struct Factors(pub Dropout);

impl Factors {
    fn scaled(&self, gpu: &Gpu, x: &Array) -> Array {
        let ([first, second], dropped, kept) = self.0.words();
        let (y, elements) = (gpu.empty(x.len()), x.len());
        let dim = CubeDim::new_1d(THREADS);
        scale::launch(gpu.client(), cubes_of(elements), dim, x.arg(), y.arg(), first, second, dropped, kept);
        y
    }
}

impl Operation<1> for Factors {
    fn forward(&self, gpu: &Gpu, [x]: [&Array; 1], _save: bool) -> (Array, Vec<Array>) {
        (self.scaled(gpu, x), Vec::new())
    }

    fn backward(&self, gpu: &Gpu, _: [&Array; 1], _saved: &[Array], g: &Array, _: [bool; 1]) -> [Option<Array>; 1] {
        [Some(self.scaled(gpu, g))]
    }
}

#[cube(launch)]
fn scale(x: &[f32], y: &mut [f32], first: u32, second: u32, dropped: u32, kept: f32) {
    if ABSOLUTE_POS < y.len() {
        y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * factor(ABSOLUTE_POS as u32, first, second, dropped, kept);
    }
}
