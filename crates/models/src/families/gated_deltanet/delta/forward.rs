//! The answers, chunk by chunk.

use super::chunk::{Chunk, add_scaled, scale};
use super::triangle::solve;
use super::{HeadSequence, Shape};
use crate::ops::matrix::{Matrix, MatrixMut, add_product};

/// The arrays that the backward pass needs, part by part.
#[derive(Default)]
pub struct SavedForBackward {
    /// States before each chunk but the first, [key, value] each.
    pub states: Vec<f32>,
    /// Corrections u, [steps, value].
    pub corrections: Vec<f32>,
}

/// Answers of one head of one game.
pub fn forward(
    shape: &Shape,
    sequence: HeadSequence,
    [q, k, v, gates]: [&[f32]; 4],
    answers: &mut [f32],
    mut saved: Option<&mut SavedForBackward>,
) {
    let Shape { heads, key, value, .. } = *shape;
    let mut chunk = Chunk::default();
    let mut state = vec![0.0; key * value];
    let (mut corrections, mut keys) = (Vec::new(), Vec::new());
    for steps in shape.chunks(sequence.steps) {
        let is_first = steps.start == 0;
        if let Some(saved) = saved.as_deref_mut().filter(|_| !is_first) {
            saved.states.extend_from_slice(&state);
        }
        chunk.load(shape, sequence, &steps, [q, k, gates], Some(state.as_slice()).filter(|_| !is_first));
        let start = ((sequence.row + steps.start) * heads + sequence.head) * value;
        let of_step = |step: usize| start + step * heads * value..start + step * heads * value + value;
        let (from_queries, from_keys) = chunk.reads.split_at(chunk.steps * value);

        corrections.clear();
        for (step, read) in from_keys.chunks_exact(value).enumerate() {
            corrections.extend_from_slice(&v[of_step(step)]);
            let correction = &mut corrections[step * value..];
            add_scaled(correction, -chunk.since_start[step], read);
            scale(correction, chunk.strengths[step]);
        }
        solve(&chunk.triangle, &mut corrections, chunk.steps);
        let corrected = Matrix::new(&corrections, chunk.steps, value, value);

        for (step, read) in from_queries.chunks_exact(value).enumerate() {
            add_scaled(&mut answers[of_step(step)], chunk.since_start[step], read);
        }
        let weights = Matrix::new(&chunk.weights, chunk.steps, chunk.steps, chunk.steps);
        let into = MatrixMut::new(&mut answers[start..], chunk.steps, value, heads * value);
        add_product(into, weights, corrected);

        if steps.end < sequence.steps {
            chunk.keys_at_end(&mut keys);
            scale(&mut state, chunk.whole());
            let keys = Matrix::new(&keys, chunk.steps, key, key);
            add_product(MatrixMut::new(&mut state, key, value, value), keys.transposed(), corrected);
        }
        if let Some(saved) = saved.as_deref_mut() {
            saved.corrections.extend_from_slice(&corrections);
        }
    }
}
