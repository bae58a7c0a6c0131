//! The outputs, chunk by chunk.

use super::{Group, Rates, add_scaled, weights_for};
use crate::ops::matrix::{Matrix, MatrixMut, add_product, multiply};

impl Group<'_> {
    /// Outputs [steps * ranks, heads * width] go to `out`. The states between chunks are added to `saved` if given: what
    /// [`Group::backward`] wants.
    pub fn forward(&self, mut out: MatrixMut<'_>, mut saved: Option<&mut Vec<f32>>) {
        let shape = self.shape;
        let longest = shape.chunk.min(shape.steps) * shape.ranks;
        let mut scores = vec![0.0; longest * longest];
        let mut weighed = vec![0.0; longest * longest];
        let mut state = vec![0.0; shape.states()];
        let mut scaled = vec![0.0; longest * shape.values()];
        for chunk in shape.chunks() {
            let rows = shape.rows(&chunk);
            let (q, k, v) = (self.q.rows(rows.clone()), self.k.rows(rows.clone()), self.v.rows(rows.clone()));
            let mut out = out.reborrow().rows(rows.clone());
            let rates: Vec<Rates> = (0..shape.heads).map(|head| self.rates(&chunk, head)).collect();
            self.scores(q, k, chunk.len(), &mut scores);

            let is_first = chunk.start == 0;
            if !is_first {
                multiply(out.reborrow(), q, Matrix::new(&state, shape.state, shape.values(), shape.values()));
                for (head, rates) in rates.iter().enumerate() {
                    let factors = rates.since_start();
                    for row in 0..rows.len() {
                        scale(&mut out.row(row)[shape.of_head(head)], factors[row / shape.ranks]);
                    }
                }
            }
            for (head, rates) in rates.iter().enumerate() {
                weigh(rates, shape.ranks, rows.len(), &scores, &mut weighed);
                let weighed = Matrix::new(&weighed, rows.len(), rows.len(), rows.len());
                let v = v.columns(shape.of_head(head));
                let mut out = out.reborrow().columns(shape.of_head(head));
                for band in shape.bands(chunk.len()) {
                    let into = out.reborrow().rows(band.clone());
                    let (weighed, v) = (weighed.rows(band.clone()).columns(0..band.end), v.rows(0..band.end));
                    if is_first {
                        multiply(into, weighed, v);
                    } else {
                        add_product(into, weighed, v);
                    }
                }
                for row in 0..rows.len() {
                    add_scaled(out.row(row), self.skip[head], v.row(row));
                }
            }

            if chunk.end < shape.steps {
                self.carry(&rates, k, v, rows.len(), &mut scaled, &mut state);
                if let Some(saved) = &mut saved {
                    saved.extend_from_slice(&state);
                }
            }
        }
    }

    /// Scores q_i · k_j of a chunk, those above its triangle's bands left as they are.
    pub(super) fn scores(&self, q: Matrix<'_>, k: Matrix<'_>, steps: usize, scores: &mut [f32]) {
        let rows = steps * self.shape.ranks;
        let mut scores = MatrixMut::new(scores, rows, rows, rows);
        for band in self.shape.bands(steps) {
            let into = scores.reborrow().rows(band.clone()).columns(0..band.end);
            multiply(into, q.rows(band.clone()), k.rows(0..band.end).transposed());
        }
    }

    /// The state after a chunk, from that before it.
    fn carry(&self, rates: &[Rates], k: Matrix<'_>, v: Matrix<'_>, rows: usize, scaled: &mut [f32], state: &mut [f32]) {
        let (shape, width) = (self.shape, self.shape.values());
        for (head, rates) in rates.iter().enumerate() {
            let of = shape.of_head(head);
            for (row, scaled) in scaled.chunks_exact_mut(width).take(rows).enumerate() {
                scaled[of.clone()].copy_from_slice(&v.row(row)[of.clone()]);
            }
            let until = rates.until_end();
            for (row, scaled) in scaled.chunks_exact_mut(width).take(rows).enumerate() {
                let step = row / shape.ranks;
                scale(&mut scaled[of.clone()], until[step] * rates.later[step]);
            }
            for state in state.chunks_exact_mut(width) {
                scale(&mut state[of.clone()], rates.whole());
            }
        }
        let state = MatrixMut::new(state, shape.state, width, width);
        add_product(state, k.transposed(), Matrix::new(scaled, rows, width, width));
    }
}

/// Scores times weights, zero above the diagonal.
fn weigh(rates: &Rates, ranks: usize, rows: usize, scores: &[f32], weighed: &mut [f32]) {
    let mut decays = vec![0.0; rows / ranks];
    let mut weights = vec![0.0; rows];
    for (row, (scores, weighed)) in scores.chunks_exact(rows).zip(weighed.chunks_exact_mut(rows)).take(rows).enumerate()
    {
        let step = row / ranks;
        if row % ranks == 0 {
            weights_for(rates, step, ranks, &mut decays, &mut weights);
        }
        let (below, above) = weighed.split_at_mut((step + 1) * ranks);
        product(scores, &weights, below);
        above.fill(0.0);
    }
}

#[macerator::with_simd]
fn product<S: macerator::Simd>(a: &[f32], b: &[f32], into: &mut [f32]) {
    for ((into, a), b) in into.iter_mut().zip(a).zip(b) {
        *into = a * b;
    }
}

#[inline(always)]
pub(super) fn scale(values: &mut [f32], factor: f32) {
    for value in values {
        *value *= factor;
    }
}
