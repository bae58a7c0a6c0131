//! The rule, step by step.

use cubecl::prelude::*;

use super::rows::{load_gates, load_rows};
use super::{CHUNK, COLUMNS, Sizes};

/// Answers [games * time, heads * value]. If `save`, `saved` gets the errors v - Sᵀk in the same shape, then the states
/// between chunks, [games * heads, chunks - 1, key, value].
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
pub fn forward(
    q: &[f32],
    k: &[f32],
    v: &[f32],
    gates: &[f32],
    lengths: &[u32],
    answers: &mut [f32],
    saved: &mut [f32],
    games: usize,
    time: usize,
    #[comptime] sizes: Sizes,
    #[comptime] save: bool,
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
        for chunk in 0..chunks {
            let first = game * time + chunk * CHUNK;
            let count = usize::min(CHUNK, length - chunk * CHUNK);
            load_gates(gates, &mut decays, &mut strengths, first, count, head, sizes);
            load_rows(q, k, &mut rows, &mut factors, first, count, head, sizes);
            if column < value {
                if save && chunk > 0 {
                    let at = states + (chunk - 1) * key * value;
                    #[unroll]
                    for i in 0..key {
                        saved[at + i * value] = state[i];
                    }
                }
                for step in 0..count {
                    let at = ((first + step) * heads + head) * value + column;
                    let (query, of_key) = (step * pitch, (CHUNK + step) * pitch);
                    let decay = decays[step];
                    let x = v[at];
                    // Four sums at a time, so that no addition waits for the one before.
                    let mut held = Array::<f32>::new(4usize);
                    #[unroll]
                    for i in 0..key {
                        state[i] *= decay;
                        held[comptime!(i % 4)] += rows[of_key + i] * state[i];
                    }
                    let error = x - ((held[0] + held[1]) + (held[2] + held[3]));
                    let correction = strengths[step] * error;
                    let mut answer = Array::<f32>::new(4usize);
                    #[unroll]
                    for i in 0..key {
                        state[i] += rows[of_key + i] * correction;
                        answer[comptime!(i % 4)] += rows[query + i] * state[i];
                    }
                    answers[at] = (answer[0] + answer[1]) + (answer[2] + answer[3]);
                    if save {
                        saved[at] = error;
                    }
                }
            }
        }
        if column < value {
            for step in length..time {
                answers[((game * time + step) * heads + head) * value + column] = 0.0f32;
            }
        }
    }
}
