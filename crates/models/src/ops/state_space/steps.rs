//! The recurrence itself: a state of one head that forgets, is written to and is read.

use crate::ops::Real;

/// state ← decay · state
pub(crate) fn forget<F: Real>(state: &mut [F], decay: F) {
    for state in state {
        *state *= decay;
    }
}

/// state ← state + weight · k vᵀ, with `state` [k, v].
pub(crate) fn write<F: Real>(state: &mut [F], weight: F, k: &[F], v: &[F]) {
    for (state, &k) in state.chunks_exact_mut(v.len()).zip(k) {
        for (state, &v) in state.iter_mut().zip(v) {
            *state += weight * k * v;
        }
    }
}

/// stateᵀ q.
pub(crate) fn read<F: Real>(state: &[F], q: &[F], width: usize) -> Vec<F> {
    let mut answer = vec![F::zero(); width];
    for (state, &q) in state.chunks_exact(width).zip(q) {
        for (answer, &state) in answer.iter_mut().zip(state) {
            *answer += q * state;
        }
    }
    answer
}
