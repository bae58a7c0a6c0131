//! The gradients, chunk by chunk from the last.

use std::ops::Range;

use super::forward::scale;
use super::{Group, Rates, Shape, add_scaled, weights_for};
use crate::ops::dot;
use crate::ops::matrix::{Matrix, MatrixMut, add_product, multiply};

/// Gradients of a group's inputs, in their shapes, without gaps between rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gradients {
    /// Gradients of the queries.
    pub q: Vec<f32>,
    /// Gradients of the keys.
    pub k: Vec<f32>,
    /// Gradients of the values.
    pub v: Vec<f32>,
    /// Gradients of the log decays.
    pub decay: Vec<f32>,
    /// Gradients of the weights of steps for themselves.
    pub own: Vec<f32>,
    /// Gradients of the weights of steps for later ones.
    pub later: Vec<f32>,
    /// Gradients of the skip connection.
    pub skip: Vec<f32>,
}

impl Gradients {
    fn zeros(shape: &Shape) -> Self {
        let (rows, rates) = (shape.steps * shape.ranks, shape.steps * shape.heads);
        Gradients {
            q: vec![0.0; rows * shape.state],
            k: vec![0.0; rows * shape.state],
            v: vec![0.0; rows * shape.values()],
            decay: vec![0.0; rates],
            own: vec![0.0; rates],
            later: vec![0.0; rates],
            skip: vec![0.0; shape.heads],
        }
    }
}

/// Gradients of one head's rates over one chunk.
struct RateGradients {
    /// Gradients of the sums of log decays.
    sums: Vec<f64>,
    own: Vec<f32>,
    later: Vec<f32>,
}

impl RateGradients {
    fn zeros(steps: usize) -> Self {
        RateGradients { sums: vec![0.0; steps], own: vec![0.0; steps], later: vec![0.0; steps] }
    }
}

/// Scratch for a chunk's triangles and rows.
struct Scratch {
    scores: Vec<f32>,
    weighed: Vec<f32>,
    /// Gradients of the weighed scores of one head.
    grad_weighed: Vec<f32>,
    /// Gradients of the scores, of all heads.
    grad_scores: Vec<f32>,
    /// Rows as wide as all heads' values.
    scaled: Vec<f32>,
    read: Vec<f32>,
    /// Gradients of the rates, head by head.
    grad_rates: Vec<RateGradients>,
}

impl Group<'_> {
    /// Gradients of all inputs, from those of the outputs and the states that [`Group::forward`] saved.
    pub fn backward(&self, saved: &[f32], gradient: Matrix<'_>) -> Gradients {
        let shape = self.shape;
        let longest = shape.chunk.min(shape.steps) * shape.ranks;
        let triangle = || vec![0.0; longest * longest];
        let values = || vec![0.0; longest * shape.values()];
        let mut scratch = Scratch {
            scores: triangle(),
            weighed: triangle(),
            grad_weighed: triangle(),
            grad_scores: triangle(),
            scaled: values(),
            read: values(),
            grad_rates: Vec::new(),
        };
        let mut into = Gradients::zeros(&shape);
        let mut grad_state = vec![0.0; shape.states()];
        for chunk in shape.chunks().rev() {
            let rates: Vec<Rates> = (0..shape.heads).map(|head| self.rates(&chunk, head)).collect();
            scratch.grad_rates = rates.iter().map(|_| RateGradients::zeros(chunk.len())).collect();
            // The state before chunk c is the one saved after chunk c - 1.
            let before =
                (chunk.start / shape.chunk).checked_sub(1).map(|c| &saved[c * shape.states()..][..shape.states()]);
            if chunk.end < shape.steps {
                self.through_written(&chunk, &rates, before, &grad_state, &mut scratch, &mut into);
            }
            if let Some(before) = before {
                self.through_read(&chunk, &rates, before, gradient, &mut grad_state, &mut scratch, &mut into);
            }
            self.within(&chunk, &rates, gradient, &mut scratch, &mut into);
            self.gather(&chunk, &scratch.grad_rates, &mut into);
        }
        into
    }

    /// The part that goes through the state after the chunk: what the chunk wrote, and what it left of the state before.
    fn through_written(
        &self,
        chunk: &Range<usize>,
        rates: &[Rates],
        before: Option<&[f32]>,
        grad_state: &[f32],
        scratch: &mut Scratch,
        into: &mut Gradients,
    ) {
        let (shape, width) = (self.shape, self.shape.values());
        let rows = shape.rows(chunk);
        let (k, v) = (self.k.rows(rows.clone()), self.v.rows(rows.clone()));
        let grad_state = Matrix::new(grad_state, shape.state, width, width);
        let grad_v = &mut into.v[rows.start * width..rows.end * width];
        multiply(MatrixMut::new(grad_v, rows.len(), width, width), k, grad_state);
        for (head, (rates, grad_rates)) in rates.iter().zip(&mut scratch.grad_rates).enumerate() {
            let (of, until, whole) = (shape.of_head(head), rates.until_end(), rates.whole());
            let mut grad_last = 0.0;
            for row in 0..rows.len() {
                let step = row / shape.ranks;
                let (grad_v, v) = (&mut grad_v[row * width..][of.clone()], &v.row(row)[of.clone()]);
                let grad = until[step] * dot(grad_v, v);
                let weight = until[step] * rates.later[step];
                let through = f64::from(grad * rates.later[step]);
                grad_rates.later[step] += grad;
                grad_rates.sums[step] -= through;
                grad_last += through;
                scale(grad_v, weight);
                let scaled = &mut scratch.scaled[row * width..][of.clone()];
                scaled.copy_from_slice(v);
                scale(scaled, weight);
            }
            if let Some(before) = before {
                let saved =
                    (0..shape.state).map(|n| dot(&grad_state.row(n)[of.clone()], &before[n * width..][of.clone()]));
                grad_last += f64::from(whole) * saved.map(f64::from).sum::<f64>();
            }
            *grad_rates.sums.last_mut().expect("a chunk has steps") += grad_last;
        }
        let grad_k = &mut into.k[rows.start * shape.state..rows.end * shape.state];
        let scaled = Matrix::new(&scratch.scaled, rows.len(), width, width);
        multiply(MatrixMut::new(grad_k, rows.len(), shape.state, shape.state), scaled, grad_state.transposed());
    }

    /// The part that goes through the state before the chunk, which its queries read; `grad_state` becomes the gradient
    /// of that state.
    #[expect(clippy::too_many_arguments, reason = "arrays of the chunk and what is added to")]
    fn through_read(
        &self,
        chunk: &Range<usize>,
        rates: &[Rates],
        before: &[f32],
        gradient: Matrix<'_>,
        grad_state: &mut [f32],
        scratch: &mut Scratch,
        into: &mut Gradients,
    ) {
        let (shape, width) = (self.shape, self.shape.values());
        let rows = shape.rows(chunk);
        let (q, gradient) = (self.q.rows(rows.clone()), gradient.rows(rows.clone()));
        let before = Matrix::new(before, shape.state, width, width);
        multiply(MatrixMut::new(&mut scratch.read, rows.len(), width, width), q, before);
        for (head, (rates, grad_rates)) in rates.iter().zip(&mut scratch.grad_rates).enumerate() {
            let (of, since) = (shape.of_head(head), rates.since_start());
            for row in 0..rows.len() {
                let step = row / shape.ranks;
                let scaled = &mut scratch.scaled[row * width..][of.clone()];
                scaled.copy_from_slice(&gradient.row(row)[of.clone()]);
                scale(scaled, since[step]);
                grad_rates.sums[step] += f64::from(dot(scaled, &scratch.read[row * width..][of.clone()]));
            }
            for state in grad_state.chunks_exact_mut(width) {
                scale(&mut state[of.clone()], rates.whole());
            }
        }
        let scaled = Matrix::new(&scratch.scaled, rows.len(), width, width);
        let grad_q = &mut into.q[rows.start * shape.state..rows.end * shape.state];
        multiply(MatrixMut::new(grad_q, rows.len(), shape.state, shape.state), scaled, before.transposed());
        add_product(MatrixMut::new(grad_state, shape.state, width, width), q.transposed(), scaled);
    }

    /// The part between steps of the chunk.
    fn within(
        &self,
        chunk: &Range<usize>,
        rates: &[Rates],
        gradient: Matrix<'_>,
        scratch: &mut Scratch,
        into: &mut Gradients,
    ) {
        let (shape, width) = (self.shape, self.shape.values());
        let rows = shape.rows(chunk);
        let (q, k, v) = (self.q.rows(rows.clone()), self.k.rows(rows.clone()), self.v.rows(rows.clone()));
        let gradient = gradient.rows(rows.clone());
        let size = rows.len();
        self.scores(q, k, chunk.len(), &mut scratch.scores);
        scratch.grad_scores[..size * size].fill(0.0);
        for (head, rates) in rates.iter().enumerate() {
            let of = shape.of_head(head);
            let (v, gradient) = (v.columns(of.clone()), gradient.columns(of.clone()));
            let mut grad_weighed = MatrixMut::new(&mut scratch.grad_weighed, size, size, size);
            for band in shape.bands(chunk.len()) {
                let into = grad_weighed.reborrow().rows(band.clone()).columns(0..band.end);
                multiply(into, gradient.rows(band.clone()), v.rows(0..band.end).transposed());
            }
            through_weights(rates, shape.ranks, size, scratch, head);
            let weighed = Matrix::new(&scratch.weighed, size, size, size);
            let grad_v = &mut into.v[rows.start * width..rows.end * width];
            let mut grad_v = MatrixMut::new(grad_v, size, width, width).columns(of);
            for band in shape.bands(chunk.len()) {
                let weighed = weighed.rows(band.clone()).columns(0..band.end).transposed();
                add_product(grad_v.reborrow().rows(0..band.end), weighed, gradient.rows(band));
            }
            for row in 0..size {
                add_scaled(grad_v.row(row), self.skip[head], gradient.row(row));
                into.skip[head] += dot(gradient.row(row), v.row(row));
            }
        }
        let grad_scores = Matrix::new(&scratch.grad_scores, size, size, size);
        let of = rows.start * shape.state..rows.end * shape.state;
        let mut grad_q = MatrixMut::new(&mut into.q[of.clone()], size, shape.state, shape.state);
        let mut grad_k = MatrixMut::new(&mut into.k[of], size, shape.state, shape.state);
        for band in shape.bands(chunk.len()) {
            let grad_scores = grad_scores.rows(band.clone()).columns(0..band.end);
            add_product(grad_q.reborrow().rows(band.clone()), grad_scores, k.rows(0..band.end));
            add_product(grad_k.reborrow().rows(0..band.end), grad_scores.transposed(), q.rows(band));
        }
    }

    /// Gradients of a chunk's rates to their places; that of a log decay is the sum over all sums that hold it.
    fn gather(&self, chunk: &Range<usize>, grad_rates: &[RateGradients], into: &mut Gradients) {
        let heads = self.shape.heads;
        for (head, grad_rates) in grad_rates.iter().enumerate() {
            let mut sum = 0.0;
            for (at, step) in chunk.clone().enumerate().rev() {
                sum += grad_rates.sums[at];
                into.decay[step * heads + head] = sum as f32;
                into.own[step * heads + head] = grad_rates.own[at];
                into.later[step * heads + head] = grad_rates.later[at];
            }
        }
    }
}

/// Adds the gradients of scores and rates, given that of the weighted scores of `head`, and fills the weighted scores.
fn through_weights(rates: &Rates, ranks: usize, rows: usize, scratch: &mut Scratch, head: usize) {
    let into = &mut scratch.grad_rates[head];
    let mut decays = vec![0.0; rows / ranks];
    let mut weights = vec![0.0; rows];
    let mut grads = vec![0.0; rows];
    for row in 0..rows {
        let step = row / ranks;
        let until = (step + 1) * ranks;
        if row % ranks == 0 {
            weights_for(rates, step, ranks, &mut decays, &mut weights);
            grads[..until].fill(0.0);
        }
        let of = row * rows..row * rows + until;
        let (weighed, above) = scratch.weighed[row * rows..(row + 1) * rows].split_at_mut(until);
        above.fill(0.0);
        let from =
            Row { scores: &scratch.scores[of.clone()], gradient: &scratch.grad_weighed[of.clone()], weights: &weights };
        through_row(from, weighed, &mut scratch.grad_scores[of], &mut grads);
        if row % ranks == ranks - 1 {
            if ranks > 1 {
                for at in 0..=step {
                    grads[at] = grads[at * ranks..(at + 1) * ranks].iter().sum();
                }
            }
            into.own[step] += grads[step];
            let earlier = &mut grads[..step];
            through_decays(&decays, &rates.later, earlier, &mut into.later);
            let (earlier_sums, own_sum) = into.sums.split_at_mut(step);
            let mut total = 0.0;
            for (sum, &grad) in earlier_sums.iter_mut().zip(&*earlier) {
                *sum -= f64::from(grad);
                total += f64::from(grad);
            }
            own_sum[0] += total;
        }
    }
}

/// One query with all keys up to its own step's.
struct Row<'a> {
    scores: &'a [f32],
    gradient: &'a [f32],
    weights: &'a [f32],
}

#[macerator::with_simd]
fn through_row<'a, S: macerator::Simd>(row: Row<'a>, weighed: &mut [f32], grad_scores: &mut [f32], grads: &mut [f32]) {
    let inputs = row.scores.iter().zip(row.gradient).zip(row.weights);
    let outputs = weighed.iter_mut().zip(grad_scores).zip(grads);
    for (((score, gradient), weight), ((weighed, grad_score), grad)) in inputs.zip(outputs) {
        *weighed = score * weight;
        *grad_score += gradient * weight;
        *grad += gradient * score;
    }
}

/// Adds the gradients of `later`, and turns `grads` of weights into those of the logarithms of the decays.
#[macerator::with_simd]
fn through_decays<S: macerator::Simd>(decays: &[f32], later: &[f32], grads: &mut [f32], grad_later: &mut [f32]) {
    for ((grad, decay), (later, grad_later)) in grads.iter_mut().zip(decays).zip(later.iter().zip(grad_later)) {
        let through = *grad * decay;
        *grad_later += through;
        *grad = through * later;
    }
}
