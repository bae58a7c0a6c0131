//! The arrays of a chunk of one head that both directions need: its rows, decays and products.

use std::ops::Range;

use super::{HeadSequence, Shape, normalise};
use crate::ops::exp::exp;
use crate::ops::matrix::{Matrix, MatrixMut, multiply};

/// One head over one chunk of `steps` steps, and room for the next one.
#[derive(Default)]
pub struct Chunk {
    pub steps: usize,
    pub key: usize,
    pub value: usize,
    /// Queries, then keys, normalised: [2 * steps, key].
    pub rows: Vec<f32>,
    /// The factor by which each of them was multiplied.
    pub factors: Vec<f32>,
    /// Strengths β.
    pub strengths: Vec<f32>,
    /// e^G: decay from before the chunk to after each step.
    pub since_start: Vec<f32>,
    /// e^{G_C - G}: decay from each step to the end.
    pub until_end: Vec<f32>,
    /// D_ij = e^{G_i - G_j} up to the diagonal, 0 above: [steps, steps].
    pub decays: Vec<f32>,
    /// Queries, then keys, times keys: [2 * steps, steps].
    pub scores: Vec<f32>,
    /// Q Kᵀ ⊙ D, 0 above the diagonal: [steps, steps].
    pub weights: Vec<f32>,
    /// -L: minus β K Kᵀ ⊙ D below the diagonal, 0 elsewhere: [steps, steps].
    pub triangle: Vec<f32>,
    /// Queries, then keys, times the state before: [2 * steps, value]. Zero in the first chunk.
    pub reads: Vec<f32>,
    /// Sums of log decays. In f64, so that differences of adjacent steps lose no digits however far the sum has run.
    sums: Vec<f64>,
}

impl Chunk {
    /// Loads a chunk; `state` is that before it, or none for zeros.
    pub fn load(
        &mut self,
        shape: &Shape,
        sequence: HeadSequence,
        chunk: &Range<usize>,
        [q, k, gates]: [&[f32]; 3],
        state: Option<&[f32]>,
    ) {
        let Shape { heads, key, value, .. } = *shape;
        let steps = chunk.len();
        (self.steps, self.key, self.value) = (steps, key, value);
        self.rows.resize(2 * steps * key, 0.0);
        self.factors.resize(2 * steps, 0.0);
        let scale = 1.0 / (key as f32).sqrt();
        self.strengths.clear();
        self.sums.clear();
        let mut sum = 0.0;
        let (queries, keys) = self.rows.split_at_mut(steps * key);
        let both = queries.chunks_exact_mut(key).zip(keys.chunks_exact_mut(key));
        for (step, (query, into)) in both.enumerate() {
            let row = sequence.row + chunk.start + step;
            let of = (row * heads + sequence.head) * key..(row * heads + sequence.head + 1) * key;
            self.factors[step] = normalise(&q[of.clone()], scale, query);
            self.factors[steps + step] = normalise(&k[of], 1.0, into);
            let gates = &gates[row * 2 * heads..(row + 1) * 2 * heads];
            sum += f64::from(gates[sequence.head]);
            self.sums.push(sum);
            self.strengths.push(gates[heads + sequence.head]);
        }
        self.decay();
        self.multiply(state);
    }

    /// Everything that log decays decide.
    fn decay(&mut self) {
        let last = self.sums.last().copied().unwrap_or_default();
        self.since_start.clear();
        self.since_start.extend(self.sums.iter().map(|&sum| exp(sum as f32)));
        self.until_end.clear();
        self.until_end.extend(self.sums.iter().map(|&sum| exp((last - sum) as f32)));
        self.decays.clear();
        self.decays.resize(self.steps * self.steps, 0.0);
        decays(&self.sums, &mut self.decays);
    }

    /// Everything that is a product.
    fn multiply(&mut self, state: Option<&[f32]>) {
        let (steps, key, value) = (self.steps, self.key, self.value);
        let rows = Matrix::new(&self.rows, 2 * steps, key, key);
        self.scores.resize(2 * steps * steps, 0.0);
        let keys = rows.rows(steps..2 * steps);
        multiply(MatrixMut::new(&mut self.scores, 2 * steps, steps, steps), rows, keys.transposed());
        self.reads.clear();
        self.reads.resize(2 * steps * value, 0.0);
        if let Some(state) = state {
            let state = Matrix::new(state, key, value, value);
            multiply(MatrixMut::new(&mut self.reads, 2 * steps, value, value), rows, state);
        }
        self.weights.resize(steps * steps, 0.0);
        self.triangle.resize(steps * steps, 0.0);
        let (of_queries, of_keys) = self.scores.split_at(steps * steps);
        weigh(of_queries, &self.decays, &mut self.weights);
        for (i, &strength) in self.strengths.iter().enumerate() {
            let of = i * steps..(i + 1) * steps;
            below(&of_keys[of.clone()], &self.decays[of.clone()], -strength, i, &mut self.triangle[of]);
        }
    }

    /// Queries, then keys.
    pub fn rows(&self) -> Matrix<'_> {
        Matrix::new(&self.rows, 2 * self.steps, self.key, self.key)
    }

    /// The keys alone.
    pub fn keys(&self) -> Matrix<'_> {
        self.rows().rows(self.steps..2 * self.steps)
    }

    /// e^{G_C}: decay over the whole chunk.
    pub fn whole(&self) -> f32 {
        self.since_start.last().copied().unwrap_or(1.0)
    }

    /// Keys times the decay from their step to the end, [steps, key].
    pub fn keys_at_end(&self, into: &mut Vec<f32>) {
        into.clear();
        into.extend_from_slice(&self.rows[self.steps * self.key..]);
        for (key, &decay) in into.chunks_exact_mut(self.key).zip(&self.until_end) {
            scale(key, decay);
        }
    }
}

/// e^{G_i - G_j} for j ≤ i. What is above the diagonal is left alone: there it could overflow.
#[macerator::with_simd]
fn decays<S: macerator::Simd>(sums: &[f64], into: &mut [f32]) {
    for (i, (row, &until)) in into.chunks_exact_mut(sums.len()).zip(sums).enumerate() {
        for (decay, &since) in row[..=i].iter_mut().zip(sums) {
            *decay = exp((until - since) as f32);
        }
    }
}

#[macerator::with_simd]
fn weigh<S: macerator::Simd>(scores: &[f32], decays: &[f32], into: &mut [f32]) {
    for ((into, score), decay) in into.iter_mut().zip(scores).zip(decays) {
        *into = score * decay;
    }
}

/// factor ⊙ score ⊙ decay for the first `row` of a row, 0 for the others.
fn below(scores: &[f32], decays: &[f32], factor: f32, row: usize, into: &mut [f32]) {
    for ((into, score), decay) in into[..row].iter_mut().zip(scores).zip(decays) {
        *into = factor * score * decay;
    }
    into[row..].fill(0.0);
}

/// x ← factor x
#[macerator::with_simd]
pub fn scale<S: macerator::Simd>(x: &mut [f32], factor: f32) {
    for x in x {
        *x *= factor;
    }
}

/// into ← into + factor x
#[macerator::with_simd]
pub fn add_scaled<S: macerator::Simd>(into: &mut [f32], factor: f32, x: &[f32]) {
    for (into, x) in into.iter_mut().zip(x) {
        *into += factor * x;
    }
}
