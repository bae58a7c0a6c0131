//! The recurrence itself, one step after the other.

use super::Game;
use crate::streaming::Real;

/// One step: `state` becomes (I + A) `state` + `input`, with A's blocks one after the other, row by row.
pub fn advance<F: Real>(block: usize, transitions: &[F], input: &[F], state: &mut [F]) {
    let mut before = vec![F::zero(); block];
    step(block, transitions, input, state, &mut before);
}

/// Makes the step of [`advance`] with room for one block.
#[inline(always)]
fn step<F: Real>(block: usize, transitions: &[F], input: &[F], state: &mut [F], before: &mut [F]) {
    if block == 1 {
        for ((state, &a), &input) in state.iter_mut().zip(transitions).zip(input) {
            *state = (F::one() + a) * *state + input;
        }
        return;
    }
    let blocks = state.chunks_exact_mut(block).zip(input.chunks_exact(block));
    for ((state, input), transitions) in blocks.zip(transitions.chunks_exact(block * block)) {
        before.copy_from_slice(state);
        for (i, (state, row)) in state.iter_mut().zip(transitions.chunks_exact(block)).enumerate() {
            let mut total = F::zero();
            for (j, (&a, &before)) in row.iter().zip(before.iter()).enumerate() {
                // I + A is formed first, as the authors' code does: it rounds.
                let m = if i == j { F::one() + a } else { a };
                total += m * before;
            }
            *state = total + input[i];
        }
    }
}

/// All steps of a game.
#[macerator::with_simd]
pub fn sequential<'a, S: macerator::Simd>(game: Game<'a>, inputs: &[f32], states: &mut [f32]) {
    let Game { width, block, init, transitions } = game;
    let mut state = init.to_vec();
    let mut before = vec![0.0; block];
    let steps = transitions.chunks_exact(width * block).zip(inputs.chunks_exact(width));
    for ((transitions, input), into) in steps.zip(states.chunks_exact_mut(width)) {
        step(block, transitions, input, &mut state, &mut before);
        into.copy_from_slice(&state);
    }
}
