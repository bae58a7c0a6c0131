//! The gradients: those of the queries first, then all others from the last step to the first.
//!
//! With h the decayed state before a step and s the gradient of that after it, the gradient of the step's log decay is
//! Σ (r + s) ⊙ h, with r the gradient of what the step reads. It needs h, but going backwards only s is at hand. Σ r ⊙ h
//! comes from the pass over the queries; and since s ⊙ h is the gradient of the next step's log decay less what
//! went through this step's write, it follows from the next step's. At the start of each chunk the state is at hand, and
//! the sum is formed anew, so that errors do not add up over a game.

use cubecl::prelude::*;

use super::queries::queries;
use super::stage::{load_gradients, load_inputs, sum};
use super::{Batch, CHUNK, LANES, Plan, RATE_GRADIENTS, RATES, UNITS, place};
use crate::gpu::{Array, Gpu, cubes};

/// Gradients [rows, heads, plan.gradients()] of values, keys and queries, and [rows, heads, tiles, 4] of rates; whatever
/// the memory holds at padded steps.
pub(crate) fn backward(
    gpu: &Gpu,
    [packed, rates, skip, lengths, states, gradient]: [&Array; 6],
    batch: Batch,
    plan: Plan,
) -> (Array, Array) {
    let count = batch.games * plan.heads * plan.tiles();
    let into = gpu.empty(batch.rows() * plan.heads * plan.gradients());
    let grad_rates = gpu.empty(batch.rows() * plan.heads * plan.tiles() * RATE_GRADIENTS);
    let (games, time) = (batch.games as u32, batch.time as u32);
    queries::launch(
        gpu.client(),
        cubes(count * batch.time.div_ceil(CHUNK)),
        CubeDim::new_1d(UNITS as u32),
        packed.arg(),
        rates.arg(),
        lengths.arg(),
        states.arg(),
        gradient.arg(),
        into.arg(),
        grad_rates.arg(),
        games,
        time,
        plan,
    );
    others::launch(
        gpu.client(),
        cubes(count),
        CubeDim::new_1d(UNITS as u32),
        packed.arg(),
        rates.arg(),
        skip.arg(),
        lengths.arg(),
        states.arg(),
        gradient.arg(),
        into.arg(),
        grad_rates.arg(),
        games,
        time,
        plan,
    );
    (into, grad_rates)
}

#[cube(launch)]
fn others(
    packed: &[f32],
    rates: &[f32],
    skip: &[f32],
    lengths: &[u32],
    states: &[f32],
    gradient: &[f32],
    into: &mut [f32],
    grad_rates: &mut [f32],
    games: u32,
    time: u32,
    #[comptime] plan: Plan,
) {
    let block = comptime!(plan.block(true));
    let (down, across, ranks) = comptime!((plan.down(), plan.across(), plan.ranks));
    let (rows, tile, tiles) = comptime!((plan.rows(), plan.tile(), plan.tiles()));
    let staged = comptime!(plan.staged());
    let (pitch_n, pitch_p) = comptime!((rows + 2, tile + LANES));
    let products = comptime!(LANES * pitch_p);
    let mut stage = Shared::<[f32]>::new_slice(comptime!(block * staged));
    let mut pull = Shared::<[f32]>::new_slice(comptime!(block * ranks * tile));
    let mut parts = Shared::<[f32]>::new_slice(comptime!((LANES * pitch_n).max(products + RATE_GRADIENTS * UNITS)));
    let mut sums = Shared::<[f32]>::new_slice(comptime!(RATE_GRADIENTS * LANES));
    if CUBE_POS < games as usize * comptime!(plan.heads * tiles) {
        let place = place(CUBE_POS, plan);
        let time = time as usize;
        let saved_states = time.div_ceil(CHUNK) - 1;
        let first = place.game * time;
        let length = lengths[place.game] as usize;
        let unit = UNIT_POS as usize;
        let slice = unit / LANES;
        let column = unit % LANES;
        let skip = skip[place.head];

        let mut grad_state = cubecl::prelude::Array::<f32>::new(comptime!(down * across));
        #[unroll]
        for cell in 0..comptime!(down * across) {
            grad_state[cell] = 0.0f32;
        }
        // Keys and queries of all ranks in one of the state's rows.
        let mut k = cubecl::prelude::Array::<f32>::new(ranks);
        let mut q = cubecl::prelude::Array::<f32>::new(ranks);
        let mut v = cubecl::prelude::Array::<f32>::new(comptime!(ranks * across));
        let mut g = cubecl::prelude::Array::<f32>::new(comptime!(ranks * across));
        let mut grad_k = cubecl::prelude::Array::<f32>::new(comptime!(ranks * down));
        let mut grad_v = cubecl::prelude::Array::<f32>::new(comptime!(ranks * across));
        // The gradient of the log decay of the step after this one.
        let mut next = 0.0f32;
        let mut blocks = length.div_ceil(block);
        while blocks > 0 {
            blocks -= 1;
            let start = blocks * block;
            load_inputs(packed, rates, &mut stage, first + start, length - start, &place, plan, block);
            load_gradients(gradient, &mut pull, first + start, length - start, &place, plan, block);
            sync_cube();
            for back in 0..block {
                let step = block - 1 - back;
                let t = start + step;
                if t < length {
                    let queries = step * staged;
                    let keys = queries + comptime!(ranks * rows);
                    let values = keys + comptime!(ranks * rows);
                    let pulls = step * comptime!(ranks * tile);
                    let factor = stage[queries + comptime!(staged - RATES)];
                    let own = stage[queries + comptime!(staged - RATES + 1)];
                    let later = stage[queries + comptime!(staged - RATES + 2)];
                    let mut grad_skip = 0.0f32;
                    #[unroll]
                    for r in 0..ranks {
                        #[unroll]
                        for i in 0..across {
                            v[r * across + i] = stage[values + r * tile + i * LANES + column];
                            g[r * across + i] = pull[pulls + r * tile + i * LANES + column];
                            grad_v[r * across + i] = 0.0f32;
                            if slice == 0 {
                                grad_skip += v[r * across + i] * g[r * across + i];
                            }
                        }
                    }
                    let mut grad_own = 0.0f32;
                    let mut grad_later = 0.0f32;
                    #[unroll]
                    for j in 0..down {
                        let n = j * LANES + slice;
                        #[unroll]
                        for r in 0..ranks {
                            k[r] = stage[keys + r * rows + n];
                            q[r] = stage[queries + r * rows + n];
                            grad_k[r * down + j] = 0.0f32;
                        }
                        #[unroll]
                        for i in 0..across {
                            let mut written = 0.0f32;
                            let mut grad_read = 0.0f32;
                            #[unroll]
                            for r in 0..ranks {
                                written += k[r] * v[r * across + i];
                                grad_read += q[r] * g[r * across + i];
                            }
                            let after = grad_state[j * across + i];
                            grad_own += grad_read * written;
                            grad_later += after * written;
                            let grad_written = own * grad_read + later * after;
                            #[unroll]
                            for r in 0..ranks {
                                grad_k[r * down + j] += grad_written * v[r * across + i];
                                grad_v[r * across + i] += grad_written * k[r];
                            }
                            grad_state[j * across + i] = factor * (grad_read + after);
                        }
                    }
                    // At the start of a chunk: what the gradient of the log decay is without that of the next step.
                    let is_start = t > 0 && t % CHUNK == 0;
                    let mut whole = 0.0f32;
                    if is_start {
                        let at = (CUBE_POS * saved_states + t / CHUNK - 1) * comptime!(down * across * UNITS);
                        #[unroll]
                        for cell in 0..comptime!(down * across) {
                            whole += grad_state[cell] * states[at + cell * UNITS + unit];
                        }
                    }

                    let row = (first + t) * comptime!(plan.heads) + place.head;
                    let gradients = row * comptime!(plan.gradients());
                    #[unroll]
                    for r in 0..ranks {
                        #[unroll]
                        for j in 0..down {
                            parts[column * pitch_n + j * LANES + slice] = grad_k[r * down + j];
                        }
                        sync_cube();
                        let mut n = unit;
                        while n < comptime!(plan.state) {
                            let at = gradients
                                + comptime!(plan.key_gradients(0) + r * plan.state)
                                + place.tile * comptime!(2 * ranks * plan.state);
                            into[at + n] = sum(&parts, n, pitch_n);
                            n += UNITS;
                        }
                        sync_cube();

                        #[unroll]
                        for i in 0..across {
                            parts[slice * pitch_p + i * LANES + column] = grad_v[r * across + i];
                        }
                        if comptime!(r == 0) {
                            parts[products + unit] = whole;
                            parts[products + UNITS + unit] = grad_own;
                            parts[products + 2 * UNITS + unit] = grad_later;
                            parts[products + 3 * UNITS + unit] = grad_skip;
                        }
                        sync_cube();
                        let p = place.tile * tile + unit;
                        if unit < tile && p < comptime!(plan.width) {
                            into[gradients + comptime!(r * plan.width) + p] =
                                sum(&parts, unit, pitch_p) + skip * pull[pulls + r * tile + unit];
                        }
                        if comptime!(r == 0) {
                            // The last threads, which have the least to do above.
                            let rest = UNITS - 1 - unit;
                            if rest < comptime!(RATE_GRADIENTS * LANES) {
                                sums[rest] = sum(&parts, products + rest / LANES * UNITS + rest % LANES, LANES);
                            }
                        }
                        sync_cube();
                    }
                    if unit == 0 {
                        let at = (row * tiles + place.tile) * RATE_GRADIENTS;
                        let through_later = sum(&sums, 2 * LANES, 1);
                        next += grad_rates[at] - later * through_later;
                        if is_start {
                            next = sum(&sums, 0, 1);
                        }
                        // Nothing decays before the first step.
                        grad_rates[at] = if t > 0 { next } else { 0.0f32.runtime() };
                        grad_rates[at + 1] = sum(&sums, LANES, 1);
                        grad_rates[at + 2] = through_later;
                        grad_rates[at + 3] = sum(&sums, 3 * LANES, 1);
                    }
                }
            }
            sync_cube();
        }
    }
}
