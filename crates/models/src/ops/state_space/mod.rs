//! Linear recurrences with a decaying state, in chunks of matrix products: what Mamba-2 and Mamba-3 have in common.
//!
//! One head reads values v (width P) at keys k and answers queries q (both of the state's size N). With the log decay
//! a ≤ 0 of each step and G_i the sum of a up to step i,
//!
//! ```text
//! y_i = own_i (q_i · k_i) v_i + Σ_{j<i} e^{G_i - G_j} later_j (q_i · k_j) v_j + skip v_i
//! ```
//!
//! which is a state h of N x P that forgets (times e^a), is written to (k vᵀ) and read (qᵀ h). `own` is what a step's
//! write weighs for that step itself and `later` for all later ones: the same in Mamba-2, not in Mamba-3. With R `ranks`
//! a step has R rows in each of q, k and v, and every one of its queries sees all of its keys.
//!
//! [`chunked`](Group::forward) is the form that trains: inside a chunk the sum above as masked products (Dao and Gu
//! 2024), between chunks the state; [`decomposed`] is the same of Burn's operations. [`steps`] is the recurrence itself, in
//! any precision: what they must equal, and what reads token after token.
//!
//! Decays are always formed as e^{G_i - G_j} with i ≥ j from sums in f64: each is at most 1, and adjacent steps lose no
//! digits however far the sum has run.

mod backward;
pub(crate) mod decomposed;
mod forward;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
pub(crate) mod steps;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::exp::exp;
use super::matrix::Matrix;

/// Rows (steps times ranks) of a chunk: the fewest products for games of usual length.
pub(crate) const CHUNK_ROWS: usize = 128;

/// Rows that triangular products take at once; what lies above the diagonal in such a band is computed in vain.
const BAND_ROWS: usize = 32;

/// Sizes of a group of heads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Steps of the sequence.
    pub steps: usize,
    /// Rows a step in queries, keys and values.
    pub ranks: usize,
    /// Heads that share queries and keys.
    pub heads: usize,
    /// Width of queries and keys, N.
    pub state: usize,
    /// Width of a head's values, P.
    pub width: usize,
    /// Steps of a chunk.
    pub chunk: usize,
}

impl Shape {
    /// Steps of a chunk for so many ranks.
    pub fn usual_chunk(ranks: usize) -> usize {
        (CHUNK_ROWS / ranks).max(1)
    }

    /// Width of all heads' values.
    pub fn values(&self) -> usize {
        self.heads * self.width
    }

    /// Size of all heads' states, [state, heads * width].
    fn states(&self) -> usize {
        self.state * self.values()
    }

    /// The chunks, as ranges of steps.
    fn chunks(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + use<> {
        let (steps, chunk) = (self.steps, self.chunk);
        (0..steps.div_ceil(chunk)).map(move |index| index * chunk..((index + 1) * chunk).min(steps))
    }

    /// The rows of these steps.
    fn rows(&self, steps: &Range<usize>) -> Range<usize> {
        steps.start * self.ranks..steps.end * self.ranks
    }

    /// Bands of a chunk's triangle, as ranges of its rows; whole steps each.
    fn bands(&self, steps: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (ranks, band) = (self.ranks, (BAND_ROWS / self.ranks).max(1));
        (0..steps).step_by(band).map(move |start| start * ranks..(start + band).min(steps) * ranks)
    }

    /// The columns of a head's values.
    fn of_head(&self, head: usize) -> Range<usize> {
        head * self.width..(head + 1) * self.width
    }
}

/// The heads that share queries and keys, over one sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'a> {
    /// Sizes of what follows.
    pub shape: Shape,
    /// Queries, [steps * ranks, state].
    pub q: Matrix<'a>,
    /// Keys, [steps * ranks, state].
    pub k: Matrix<'a>,
    /// Values, [steps * ranks, heads * width].
    pub v: Matrix<'a>,
    /// Log decays, at most 0, [steps, heads].
    pub decay: &'a [f32],
    /// Weight of each step's write for itself, [steps, heads].
    pub own: &'a [f32],
    /// Weight of each step's write for later steps, [steps, heads].
    pub later: &'a [f32],
    /// Share of the values that goes straight to the output, [heads].
    pub skip: &'a [f32],
}

/// The rates of one head over one chunk.
struct Rates {
    /// Sums of log decays from the chunk's start up to each step.
    sums: Vec<f64>,
    own: Vec<f32>,
    later: Vec<f32>,
}

impl Rates {
    /// Decay from before the chunk to after each step.
    fn since_start(&self) -> Vec<f32> {
        self.sums.iter().map(|&sum| exp(sum as f32)).collect()
    }

    /// Decay from each step to the end of the chunk.
    fn until_end(&self) -> Vec<f32> {
        let last = self.sums.last().copied().unwrap_or_default();
        self.sums.iter().map(|&sum| exp((last - sum) as f32)).collect()
    }

    /// Decay over the whole chunk.
    fn whole(&self) -> f32 {
        exp(self.sums.last().copied().unwrap_or_default() as f32)
    }
}

impl Group<'_> {
    /// The rates of `head` in a chunk.
    fn rates(&self, chunk: &Range<usize>, head: usize) -> Rates {
        let heads = self.shape.heads;
        let of = |values: &[f32]| chunk.clone().map(|step| values[step * heads + head]).collect::<Vec<f32>>();
        let sum = |total: &mut f64, decay: f32| {
            *total += f64::from(decay);
            Some(*total)
        };
        Rates { sums: of(self.decay).into_iter().scan(0.0, sum).collect(), own: of(self.own), later: of(self.later) }
    }
}

/// Decays from each earlier step of a chunk to `step`.
#[macerator::with_simd]
fn decays_to<S: macerator::Simd>(sums: &[f64], step: usize, decays: &mut [f32]) {
    let until = sums[step];
    for (decay, sum) in decays.iter_mut().zip(&sums[..step]) {
        *decay = exp((until - sum) as f32);
    }
}

/// Returns the weight of each step's write for `step`: [step + 1], each repeated for all ranks.
fn weights_for(rates: &Rates, step: usize, ranks: usize, decays: &mut [f32], weights: &mut [f32]) {
    decays_to(&rates.sums, step, decays);
    if ranks == 1 {
        for ((weight, decay), later) in weights.iter_mut().zip(&decays[..step]).zip(&rates.later) {
            *weight = decay * later;
        }
        weights[step] = rates.own[step];
        return;
    }
    for ((weights, decay), later) in weights.chunks_exact_mut(ranks).zip(&decays[..step]).zip(&rates.later) {
        weights.fill(decay * later);
    }
    weights[step * ranks..(step + 1) * ranks].fill(rates.own[step]);
}

/// into_i += factor from_i
#[inline(always)]
fn add_scaled(into: &mut [f32], factor: f32, from: &[f32]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into += factor * from;
    }
}
