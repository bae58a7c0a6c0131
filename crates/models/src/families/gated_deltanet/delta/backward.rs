//! The gradients, chunk by chunk from the last.

use super::chunk::{Chunk, add_scaled, scale};
use super::triangle::solve_transposed;
use super::{HeadSequence, Shape};
use crate::ops::dot;
use crate::ops::matrix::{Matrix, MatrixMut, add_product, multiply};

/// The arrays that the forward pass saved of one head of one game.
#[derive(Clone, Copy)]
pub struct SavedForBackward<'a> {
    /// States before each chunk but the first.
    pub states: &'a [f32],
    /// Corrections u, [steps, value].
    pub corrections: &'a [f32],
}

/// Scratch for one chunk's gradients.
#[derive(Default)]
struct Scratch {
    /// Gradients of the answers, [steps, value].
    answers: Vec<f32>,
    /// Gradients of the corrections, then of what they solve, [steps, value].
    corrections: Vec<f32>,
    /// Keys decayed to the end, [steps, key], then their gradients.
    keys: Vec<f32>,
    grad_keys: Vec<f32>,
    /// Gradients of the weights, then of the triangle: [2 * steps, steps].
    scores: Vec<f32>,
    /// Gradients of what queries and keys read, [2 * steps, value].
    reads: Vec<f32>,
    /// Gradients of queries and keys as normalised, [2 * steps, key].
    rows: Vec<f32>,
    /// Gradients of the sums of log decays.
    sums: Vec<f64>,
    strengths: Vec<f32>,
}

/// Gradients of one head of one game: those of queries, keys, values and gates, in the shapes of these.
pub fn backward(
    shape: &Shape,
    sequence: HeadSequence,
    [q, k, v, gates]: [&[f32]; 4],
    saved: SavedForBackward<'_>,
    gradient: &[f32],
    into: &mut [Vec<f32>; 4],
) {
    let Shape { heads, key, value, .. } = *shape;
    let (mut chunk, mut scratch) = (Chunk::default(), Scratch::default());
    // Gradient of the state after the chunk; none after the last.
    let mut grad_state = vec![0.0; key * value];
    for steps in shape.chunks(sequence.steps).rev() {
        let before = (steps.start / shape.chunk).checked_sub(1);
        let before = before.map(|index| &saved.states[index * shape.state()..(index + 1) * shape.state()]);
        chunk.load(shape, sequence, &steps, [q, k, gates], before);
        let n = chunk.steps;
        let start = ((sequence.row + steps.start) * heads + sequence.head) * value;
        let of_step = |step: usize| start + step * heads * value..start + step * heads * value + value;
        scratch.answers.clear();
        (0..n).for_each(|step| scratch.answers.extend_from_slice(&gradient[of_step(step)]));
        let corrections = &saved.corrections[steps.start * value..steps.end * value];
        let corrected = Matrix::new(corrections, n, value, value);
        scratch.clear(n, key, value);

        let has_later = steps.end < sequence.steps;
        through_state(&chunk, has_later.then_some(&grad_state), before, corrected, &mut scratch);
        through_corrections(&chunk, corrected, &mut scratch);

        // v, and what was read at queries and keys from the state before.
        for step in 0..n {
            let grad_solved = &scratch.corrections[step * value..(step + 1) * value];
            let (decay, strength) = (chunk.since_start[step], chunk.strengths[step]);
            let (read, of_key) = (&chunk.reads[(n + step) * value..(n + step + 1) * value], &v[of_step(step)]);
            scratch.strengths[step] += dot(grad_solved, of_key) - decay * dot(grad_solved, read);
            add_scaled(&mut into[2][of_step(step)], strength, grad_solved);
            let at = n + step;
            add_scaled(&mut scratch.reads[at * value..(at + 1) * value], -strength * decay, grad_solved);
            add_scaled(
                &mut scratch.reads[step * value..(step + 1) * value],
                decay,
                &scratch.answers[step * value..][..value],
            );
            if before.is_some() {
                let grad = |row: usize| {
                    let of = row * value..(row + 1) * value;
                    f64::from(dot(&scratch.reads[of.clone()], &chunk.reads[of]))
                };
                scratch.sums[step] += grad(step) + grad(n + step);
            }
        }
        let reads = Matrix::new(&scratch.reads, 2 * n, value, value);
        if let Some(before) = before {
            let before = Matrix::new(before, key, value, value);
            add_product(MatrixMut::new(&mut scratch.rows, 2 * n, key, key), reads, before.transposed());
            scale(&mut grad_state, chunk.whole());
            add_product(MatrixMut::new(&mut grad_state, key, value, value), chunk.rows().transposed(), reads);
        }

        // Scores of queries and keys with keys.
        let scores = Matrix::new(&scratch.scores, 2 * n, n, n);
        add_product(MatrixMut::new(&mut scratch.rows, 2 * n, key, key), scores, chunk.keys());
        let grad_keys = MatrixMut::new(&mut scratch.rows, 2 * n, key, key).rows(n..2 * n);
        add_product(grad_keys, scores.transposed(), chunk.rows());
        scatter(shape, sequence, steps.start, &chunk, &scratch, [q, k], into);
    }
}

impl Scratch {
    /// Zeros where gradients are added.
    fn clear(&mut self, steps: usize, key: usize, value: usize) {
        fn zeros<F: Clone + Default>(values: &mut Vec<F>, len: usize) {
            values.clear();
            values.resize(len, F::default());
        }
        zeros(&mut self.corrections, steps * value);
        zeros(&mut self.scores, 2 * steps * steps);
        zeros(&mut self.reads, 2 * steps * value);
        zeros(&mut self.rows, 2 * steps * key);
        zeros(&mut self.grad_keys, steps * key);
        zeros(&mut self.sums, steps);
        zeros(&mut self.strengths, steps);
    }
}

/// Adds the gradients of corrections, keys and decays, given that of the state after the chunk (if anything came
/// after). That of the state before is added later.
fn through_state(
    chunk: &Chunk,
    grad_state: Option<&Vec<f32>>,
    before: Option<&[f32]>,
    corrected: Matrix<'_>,
    scratch: &mut Scratch,
) {
    let Some(grad_state) = grad_state else { return };
    let (n, key, value) = (chunk.steps, chunk.key, chunk.value);
    let last = n - 1;
    if let Some(before) = before {
        scratch.sums[last] += f64::from(chunk.whole()) * f64::from(dot(grad_state, before));
    }
    let grad_state = Matrix::new(grad_state, key, value, value);
    chunk.keys_at_end(&mut scratch.keys);
    let keys = Matrix::new(&scratch.keys, n, key, key);
    multiply(MatrixMut::new(&mut scratch.corrections, n, value, value), keys, grad_state);
    multiply(MatrixMut::new(&mut scratch.grad_keys, n, key, key), corrected, grad_state.transposed());
    for step in 0..n {
        let of = step * key..(step + 1) * key;
        let grad = f64::from(dot(&scratch.grad_keys[of.clone()], &scratch.keys[of.clone()]));
        scratch.sums[step] -= grad;
        scratch.sums[last] += grad;
        add_scaled(&mut scratch.rows[n * key..][of.clone()], chunk.until_end[step], &scratch.grad_keys[of]);
    }
}

/// Takes the gradient of the answers to corrections and, through the triangle, to their right-hand sides; then to
/// scores, strengths and decays.
fn through_corrections(chunk: &Chunk, corrected: Matrix<'_>, scratch: &mut Scratch) {
    let (n, value) = (chunk.steps, chunk.value);
    let weights = Matrix::new(&chunk.weights, n, n, n);
    let answers = Matrix::new(&scratch.answers, n, value, value);
    add_product(MatrixMut::new(&mut scratch.corrections, n, value, value), weights.transposed(), answers);
    solve_transposed(&chunk.triangle, &mut scratch.corrections, n);
    let (grad_weights, grad_triangle) = scratch.scores.split_at_mut(n * n);
    multiply(MatrixMut::new(grad_weights, n, n, n), answers, corrected.transposed());
    let solved = Matrix::new(&scratch.corrections, n, value, value);
    multiply(MatrixMut::new(grad_triangle, n, n, n), solved, corrected.transposed());
    for i in 0..n {
        let row = i * n..(i + 1) * n;
        let (grad_weights, grad_triangle) = (&mut grad_weights[row.clone()], &mut grad_triangle[row.clone()]);
        let (decays, of_keys) = (&chunk.decays[row.clone()], &chunk.scores[n * n..][row.clone()]);
        let strength = chunk.strengths[i];
        // What is above the diagonal (for the triangle: on it, too) was computed in vain.
        grad_weights[i + 1..].fill(0.0);
        grad_triangle[i..].fill(0.0);
        let (mut grad_strength, mut grad_sum) = (0.0, 0.0f64);
        for j in 0..=i {
            // The triangle enters with a minus.
            let grad_l = -grad_triangle[j];
            let l = of_keys[j] * decays[j];
            let grad = f64::from(grad_weights[j] * chunk.weights[i * n + j] + grad_l * strength * l);
            grad_strength += grad_l * l;
            grad_sum += grad;
            scratch.sums[j] -= grad;
            grad_weights[j] *= decays[j];
            grad_triangle[j] = grad_l * strength * decays[j];
        }
        scratch.sums[i] += grad_sum;
        scratch.strengths[i] += grad_strength;
    }
}

/// Gradients of the chunk's rows go where the rows came from, through their normalisation; those of log decays are sums
/// over all later steps of the chunk.
fn scatter(
    shape: &Shape,
    sequence: HeadSequence,
    start: usize,
    chunk: &Chunk,
    scratch: &Scratch,
    inputs: [&[f32]; 2],
    into: &mut [Vec<f32>; 4],
) {
    let Shape { heads, key, .. } = *shape;
    let n = chunk.steps;
    let scales = [1.0 / (key as f32).sqrt(), 1.0];
    let mut grad_decay = 0.0;
    for step in (0..n).rev() {
        let row = sequence.row + start + step;
        let of = (row * heads + sequence.head) * key..(row * heads + sequence.head + 1) * key;
        for (which, (input, scale)) in inputs.into_iter().zip(scales).enumerate() {
            let at = which * n + step;
            let gradient = &scratch.rows[at * key..(at + 1) * key];
            through_normalise(&input[of.clone()], chunk.factors[at], scale, gradient, &mut into[which][of.clone()]);
        }
        grad_decay += scratch.sums[step];
        let gates = &mut into[3][row * 2 * heads..(row + 1) * 2 * heads];
        gates[sequence.head] = grad_decay as f32;
        gates[heads + sequence.head] = scratch.strengths[step];
    }
}

/// With y = f x and f = scale / √(x·x + ε): dx = f dy - x (x·dy) f³ / scale².
#[macerator::with_simd]
fn through_normalise<S: macerator::Simd>(x: &[f32], factor: f32, scale: f32, gradient: &[f32], into: &mut [f32]) {
    let along = dot(x, gradient) * factor * factor * factor / (scale * scale);
    for ((into, x), gradient) in into.iter_mut().zip(x).zip(gradient) {
        *into = factor * gradient - x * along;
    }
}
