//! The gradient of the state, step by step from the last.

use cubecl::prelude::*;

use super::rows::{load_gates, load_rows};
use super::{CHUNK, COLUMNS, Sizes};

/// Gradients of values. `adjoint` gets those of the corrections u in the same shape, then those of the states between
/// chunks, in the order of the states.
///
/// With dS the gradient of the state after a step: dS ← dS + q doᵀ; du = dSᵀ k; dv = β du; dS ← e^g (dS - k dvᵀ).
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
pub fn adjoint(
    q: &[f32],
    k: &[f32],
    gates: &[f32],
    lengths: &[u32],
    grad_answers: &[f32],
    grad_v: &mut [f32],
    adjoint: &mut [f32],
    games: usize,
    time: usize,
    #[comptime] sizes: Sizes,
) {
    let (heads, key, value) = comptime!((sizes.heads, sizes.key, sizes.value));
    let pitch = comptime!(sizes.pitch());
    let tiles = comptime!(sizes.tiles());
    let mut rows = Shared::<[f32]>::new_slice(comptime!(sizes.rows()));
    let mut factors = Shared::<[f32]>::new_slice(comptime!(2 * CHUNK));
    let mut decays = Shared::<[f32]>::new_slice(CHUNK);
    let mut strengths = Shared::<[f32]>::new_slice(CHUNK);
    let part = CUBE_POS / tiles;
    let column = CUBE_POS % tiles * COLUMNS as usize + UNIT_POS as usize;
    if part < games * heads {
        let (game, head) = (part / heads, part % heads);
        let length = lengths[game] as usize;
        let between = time.div_ceil(CHUNK) - 1;
        let states = games * time * heads * value + part * between * key * value + column;
        let mut state = Array::<f32>::new(key);
        let chunks = length.div_ceil(CHUNK);
        for later in 0..chunks {
            let chunk = chunks - 1 - later;
            let first = game * time + chunk * CHUNK;
            let count = usize::min(CHUNK, length - chunk * CHUNK);
            load_gates(gates, &mut decays, &mut strengths, first, count, head, sizes);
            load_rows(q, k, &mut rows, &mut factors, first, count, head, sizes);
            if column < value {
                if later > 0 {
                    let at = states + chunk * key * value;
                    #[unroll]
                    for i in 0..key {
                        adjoint[at + i * value] = state[i];
                    }
                }
                for after in 0..count {
                    let step = count - 1 - after;
                    let at = ((first + step) * heads + head) * value + column;
                    let (query, of_key) = (step * pitch, (CHUNK + step) * pitch);
                    let decay = decays[step];
                    let grad_answer = grad_answers[at];
                    let mut sums = Array::<f32>::new(4usize);
                    #[unroll]
                    for i in 0..key {
                        state[i] += rows[query + i] * grad_answer;
                        sums[comptime!(i % 4)] += rows[of_key + i] * state[i];
                    }
                    let grad_correction = (sums[0] + sums[1]) + (sums[2] + sums[3]);
                    let grad_value = strengths[step] * grad_correction;
                    #[unroll]
                    for i in 0..key {
                        state[i] = decay * (state[i] - rows[of_key + i] * grad_value);
                    }
                    grad_v[at] = grad_value;
                    adjoint[at] = grad_correction;
                }
            }
        }
        if column < value {
            for step in length..time {
                grad_v[((game * time + step) * heads + head) * value + column] = 0.0f32;
            }
        }
    }
}
