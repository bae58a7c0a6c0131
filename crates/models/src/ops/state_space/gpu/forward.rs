//! The outputs.

use cubecl::prelude::*;

use super::stage::{load_inputs, sum};
use super::{Batch, CHUNK, LANES, Plan, RATES, UNITS, place};
use crate::gpu::{Array, Gpu, cubes};

/// Outputs [rows, heads, ranks, width], zero at padded steps; and the states after chunks if `save`, else nothing of use.
pub(crate) fn forward(
    gpu: &Gpu,
    [packed, rates, skip, lengths]: [&Array; 4],
    batch: Batch,
    plan: Plan,
    save: bool,
) -> (Array, Array) {
    let count = batch.games * plan.heads * plan.tiles();
    let y = gpu.empty(batch.rows() * plan.heads * plan.ranks * plan.width);
    let states = gpu.empty(if save { count * batch.saved_states() * plan.cells() * UNITS } else { 1 });
    outputs::launch(
        gpu.client(),
        cubes(count),
        CubeDim::new_1d(UNITS as u32),
        packed.arg(),
        rates.arg(),
        skip.arg(),
        lengths.arg(),
        y.arg(),
        states.arg(),
        batch.games as u32,
        batch.time as u32,
        plan,
        save,
    );
    (y, states)
}

#[cube(launch)]
fn outputs(
    packed: &[f32],
    rates: &[f32],
    skip: &[f32],
    lengths: &[u32],
    y: &mut [f32],
    states: &mut [f32],
    games: u32,
    time: u32,
    #[comptime] plan: Plan,
    #[comptime] save: bool,
) {
    let block = comptime!(plan.block(false));
    let (down, across, ranks) = comptime!((plan.down(), plan.across(), plan.ranks));
    let (rows, tile) = comptime!((plan.rows(), plan.tile()));
    let staged = comptime!(plan.staged());
    // Threads of a slice lie next to each other; the next slice lies in other banks.
    let pitch = comptime!(tile + LANES);
    let mut stage = Shared::<[f32]>::new_slice(comptime!(block * staged));
    let mut parts = Shared::<[f32]>::new_slice(comptime!(LANES * pitch));
    if CUBE_POS < games as usize * comptime!(plan.heads * plan.tiles()) {
        let place = place(CUBE_POS, plan);
        let time = time as usize;
        let length = lengths[place.game] as usize;
        let unit = UNIT_POS as usize;
        let slice = unit / LANES;
        let column = unit % LANES;
        let first = place.game * time;
        let skip = skip[place.head];

        let mut state = cubecl::prelude::Array::<f32>::new(comptime!(down * across));
        #[unroll]
        for cell in 0..comptime!(down * across) {
            state[cell] = 0.0f32;
        }
        // Keys and queries of all ranks in one of the state's rows.
        let mut k = cubecl::prelude::Array::<f32>::new(ranks);
        let mut q = cubecl::prelude::Array::<f32>::new(ranks);
        let mut v = cubecl::prelude::Array::<f32>::new(comptime!(ranks * across));
        let mut reads = cubecl::prelude::Array::<f32>::new(comptime!(ranks * across));
        let mut start = 0usize;
        while start < length {
            load_inputs(packed, rates, &mut stage, first + start, length - start, &place, plan, block);
            sync_cube();
            for step in 0..block {
                let t = start + step;
                if t < length {
                    let queries = step * staged;
                    let keys = queries + comptime!(ranks * rows);
                    let values = keys + comptime!(ranks * rows);
                    let factor = stage[queries + comptime!(staged - RATES)];
                    let own = stage[queries + comptime!(staged - RATES + 1)];
                    let later = stage[queries + comptime!(staged - RATES + 2)];
                    #[unroll]
                    for r in 0..ranks {
                        #[unroll]
                        for i in 0..across {
                            v[r * across + i] = stage[values + r * tile + i * LANES + column];
                            reads[r * across + i] = 0.0f32;
                        }
                    }
                    #[unroll]
                    for j in 0..down {
                        let n = j * LANES + slice;
                        #[unroll]
                        for r in 0..ranks {
                            k[r] = stage[keys + r * rows + n];
                            q[r] = stage[queries + r * rows + n];
                        }
                        #[unroll]
                        for i in 0..across {
                            let mut written = 0.0f32;
                            #[unroll]
                            for r in 0..ranks {
                                written += k[r] * v[r * across + i];
                            }
                            let before = factor * state[j * across + i];
                            let read = before + own * written;
                            state[j * across + i] = before + later * written;
                            #[unroll]
                            for r in 0..ranks {
                                reads[r * across + i] += q[r] * read;
                            }
                        }
                    }
                    #[unroll]
                    for r in 0..ranks {
                        #[unroll]
                        for i in 0..across {
                            parts[slice * pitch + i * LANES + column] = reads[r * across + i];
                        }
                        sync_cube();
                        let p = place.tile * tile + unit;
                        if unit < tile && p < comptime!(plan.width) {
                            let row = ((first + t) * comptime!(plan.heads) + place.head) * ranks + r;
                            y[row * comptime!(plan.width) + p] =
                                sum(&parts, unit, pitch) + skip * stage[values + r * tile + unit];
                        }
                        sync_cube();
                    }
                    if comptime!(save) {
                        if (t + 1) % CHUNK == 0 && t + 1 < length {
                            let saved_states = (time - 1) / CHUNK;
                            let at = (CUBE_POS * saved_states + t / CHUNK) * comptime!(down * across * UNITS);
                            #[unroll]
                            for cell in 0..comptime!(down * across) {
                                states[at + cell * UNITS + unit] = state[cell];
                            }
                        }
                    }
                }
            }
            sync_cube();
            start += block;
        }

        // Padded steps.
        let columns = comptime!(ranks * tile);
        let mut i = length * columns + unit;
        while i < time * columns {
            let p = i % tile + place.tile * tile;
            if p < comptime!(plan.width) {
                let row = ((first + i / columns) * comptime!(plan.heads) + place.head) * ranks + i % columns / tile;
                y[row * comptime!(plan.width) + p] = 0.0f32;
            }
            i += UNITS;
        }
    }
}
