//! Loads the rows of a chunk that all kernels read: queries and keys, normalised, and gates. Sums over rows of threads.

use cubecl::prelude::*;

use super::super::steps::EPSILON;
use super::{CHUNK, Sizes};

/// Elements between rows of CHUNK in shared memory: odd, so that a column of them lies in different banks.
pub const PITCH: usize = CHUNK + 1;

/// The queries, then the keys, of a chunk's `count` steps into `rows` [2 * CHUNK, pitch], normalised; zeros at other steps.
/// `first` is the row of the first step. `factors` are those that the rows were multiplied by. All threads of a cube call
/// it, and may read the rows when it returns; it waits for those that still read earlier ones.
#[cube]
#[allow(clippy::too_many_arguments)]
pub fn load_rows(
    q: &[f32],
    k: &[f32],
    rows: &mut [f32],
    factors: &mut [f32],
    first: usize,
    count: usize,
    head: usize,
    #[comptime] sizes: Sizes,
) {
    let key = comptime!(sizes.key);
    let pitch = comptime!(sizes.pitch());
    let heads = comptime!(sizes.heads);
    let scale = comptime!(1.0 / (sizes.key as f32).sqrt());
    let unit = UNIT_POS as usize;
    sync_cube();
    let mut at = unit;
    while at < comptime!(2 * CHUNK * sizes.key) {
        let (row, i) = (at / key, at % key);
        let step = row % CHUNK;
        let mut x = 0.0f32;
        if step < count {
            let from = ((first + step) * heads + head) * key + i;
            if row < CHUNK {
                x = q[from];
            } else {
                x = k[from];
            }
        }
        rows[row * pitch + i] = x;
        at += CUBE_DIM as usize;
    }
    sync_cube();
    if unit < comptime!(2 * CHUNK) {
        let mut square = EPSILON.runtime();
        for i in 0..key {
            let x = rows[unit * pitch + i];
            square += x * x;
        }
        let factor = select(unit < CHUNK, scale, 1.0f32) / f32::sqrt(square);
        for i in 0..key {
            rows[unit * pitch + i] *= factor;
        }
        factors[unit] = factor;
    }
    sync_cube();
}

/// Decays e^g and strengths β of a chunk's `count` steps; 1 and 0 at other steps. As [`load_rows`], but for the wait
/// behind it.
#[cube]
pub fn load_gates(
    gates: &[f32],
    decays: &mut [f32],
    strengths: &mut [f32],
    first: usize,
    count: usize,
    head: usize,
    #[comptime] sizes: Sizes,
) {
    let heads = comptime!(sizes.heads);
    let step = UNIT_POS as usize;
    sync_cube();
    if step < CHUNK {
        let mut decay = 1.0f32;
        let mut strength = 0.0f32;
        if step < count {
            let from = (first + step) * 2 * heads + head;
            decay = f32::exp(gates[from]);
            strength = gates[from + heads];
        }
        decays[step] = decay;
        strengths[step] = strength;
    }
}

/// The sum of `value` over each CHUNK threads of a cube; each gets that of its own. All threads of the cube call it.
#[cube]
pub fn sum_of_row(value: f32, scratch: &mut [f32]) -> f32 {
    let row = UNIT_POS as usize / CHUNK * PITCH;
    scratch[row + UNIT_POS as usize % CHUNK] = value;
    sync_cube();
    let mut sum = 0.0f32;
    for i in 0..CHUNK {
        sum += scratch[row + i];
    }
    sync_cube();
    sum
}
