//! Gradients of the queries: the recurrence once more, from the state that was saved before each chunk. All chunks at
//! once.

use cubecl::prelude::*;

use super::stage::{load_gradients, load_inputs, sum};
use super::{CHUNK, LANES, Plan, RATE_GRADIENTS, RATES, UNITS, place};

/// Fills the gradients of the queries in `into` [rows, heads, plan.gradients()]; and in `grad_rates` [rows, heads,
/// tiles, 4], in place of that of the log decay, Σ (gradient of what is read) ⊙ (decayed state).
#[cube(launch)]
pub(super) fn queries(
    packed: &[f32],
    rates: &[f32],
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
    let pitch = comptime!(rows + 2);
    let mut stage = Shared::<[f32]>::new_slice(comptime!(block * staged));
    let mut pull = Shared::<[f32]>::new_slice(comptime!(block * ranks * tile));
    let mut parts = Shared::<[f32]>::new_slice(comptime!(LANES * pitch));
    let mut products = Shared::<[f32]>::new_slice(UNITS);
    let mut sums = Shared::<[f32]>::new_slice(LANES);
    let time = time as usize;
    let chunks = time.div_ceil(CHUNK);
    if CUBE_POS < games as usize * comptime!(plan.heads * tiles) * chunks {
        let of = CUBE_POS / chunks;
        let chunk = CUBE_POS % chunks;
        let place = place(of, plan);
        let first = place.game * time;
        let length = lengths[place.game] as usize;
        let end = usize::min(length, (chunk + 1) * CHUNK);
        let unit = UNIT_POS as usize;
        let slice = unit / LANES;
        let column = unit % LANES;

        let mut state = cubecl::prelude::Array::<f32>::new(comptime!(down * across));
        #[unroll]
        for cell in 0..comptime!(down * across) {
            state[cell] = 0.0f32;
        }
        if chunk > 0 && chunk * CHUNK < length {
            let at = (of * (chunks - 1) + chunk - 1) * comptime!(down * across * UNITS);
            #[unroll]
            for cell in 0..comptime!(down * across) {
                state[cell] = states[at + cell * UNITS + unit];
            }
        }
        // Keys and queries of all ranks in one of the state's rows.
        let mut k = cubecl::prelude::Array::<f32>::new(ranks);
        let mut q = cubecl::prelude::Array::<f32>::new(ranks);
        let mut v = cubecl::prelude::Array::<f32>::new(comptime!(ranks * across));
        let mut g = cubecl::prelude::Array::<f32>::new(comptime!(ranks * across));
        let mut grad_q = cubecl::prelude::Array::<f32>::new(comptime!(ranks * down));
        let mut start = chunk * CHUNK;
        while start < end {
            load_inputs(packed, rates, &mut stage, first + start, end - start, &place, plan, block);
            load_gradients(gradient, &mut pull, first + start, end - start, &place, plan, block);
            sync_cube();
            for step in 0..block {
                let t = start + step;
                if t < end {
                    let queries = step * staged;
                    let keys = queries + comptime!(ranks * rows);
                    let values = keys + comptime!(ranks * rows);
                    let pulls = step * comptime!(ranks * tile);
                    let factor = stage[queries + comptime!(staged - RATES)];
                    let own = stage[queries + comptime!(staged - RATES + 1)];
                    let later = stage[queries + comptime!(staged - RATES + 2)];
                    #[unroll]
                    for r in 0..ranks {
                        #[unroll]
                        for i in 0..across {
                            v[r * across + i] = stage[values + r * tile + i * LANES + column];
                            g[r * across + i] = pull[pulls + r * tile + i * LANES + column];
                        }
                    }
                    let mut product = 0.0f32;
                    #[unroll]
                    for j in 0..down {
                        let n = j * LANES + slice;
                        #[unroll]
                        for r in 0..ranks {
                            k[r] = stage[keys + r * rows + n];
                            q[r] = stage[queries + r * rows + n];
                            grad_q[r * down + j] = 0.0f32;
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
                            let before = factor * state[j * across + i];
                            let read = before + own * written;
                            state[j * across + i] = before + later * written;
                            product += grad_read * before;
                            #[unroll]
                            for r in 0..ranks {
                                grad_q[r * down + j] += g[r * across + i] * read;
                            }
                        }
                    }
                    let row = (first + t) * comptime!(plan.heads) + place.head;
                    products[unit] = product;
                    #[unroll]
                    for r in 0..ranks {
                        #[unroll]
                        for j in 0..down {
                            parts[column * pitch + j * LANES + slice] = grad_q[r * down + j];
                        }
                        sync_cube();
                        let mut n = unit;
                        while n < comptime!(plan.state) {
                            let at = row * comptime!(plan.gradients())
                                + comptime!(plan.key_gradients(0) + (ranks + r) * plan.state)
                                + place.tile * comptime!(2 * ranks * plan.state);
                            into[at + n] = sum(&parts, n, pitch);
                            n += UNITS;
                        }
                        if comptime!(r == 0) {
                            if unit < LANES {
                                sums[unit] = sum(&products, unit, LANES);
                            }
                        }
                        sync_cube();
                    }
                    if unit == 0 {
                        grad_rates[(row * tiles + place.tile) * RATE_GRADIENTS] = sum(&sums, 0, 1);
                    }
                }
            }
            sync_cube();
            start += block;
        }
    }
}
