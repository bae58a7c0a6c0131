//! Loads the inputs of some steps into shared memory, and adds the threads' parts of sums there.

use cubecl::prelude::*;

use super::{LANES, Place, Plan, RATES, UNITS};

/// Fills `stage` [block, staged] with the inputs of `count` steps from row `first` on. What is beyond the widths is 0.
#[cube]
pub(super) fn load_inputs(
    packed: &[f32],
    rates: &[f32],
    stage: &mut [f32],
    first: usize,
    count: usize,
    place: &Place,
    #[comptime] plan: Plan,
    #[comptime] block: usize,
) {
    let size = comptime!(plan.staged());
    let keys = comptime!(plan.ranks * plan.rows());
    let values = comptime!(size - RATES);
    let mut i = UNIT_POS as usize;
    while i < comptime!(block * size) {
        let at = i % size;
        let row = first + i / size;
        let mut value = 0.0f32;
        if i / size < count {
            if at < 2 * keys {
                let from =
                    if at < keys { comptime!(plan.places[0]).runtime() } else { comptime!(plan.places[1]).runtime() };
                let n = at % comptime!(plan.rows());
                let rank = at % keys / comptime!(plan.rows());
                if n < comptime!(plan.state) {
                    let of = from + place.head * comptime!(plan.next_keys) + rank * comptime!(plan.state) + n;
                    value = packed[row * comptime!(plan.row) + of];
                }
            } else if at < values {
                let p = (at - 2 * keys) % comptime!(plan.tile()) + place.tile * comptime!(plan.tile());
                let rank = (at - 2 * keys) / comptime!(plan.tile());
                if p < comptime!(plan.width) {
                    let of = place.head * comptime!(plan.next_values) + rank * comptime!(plan.width) + p;
                    value = packed[row * comptime!(plan.row) + comptime!(plan.places[2]) + of];
                }
            } else {
                value = rates[(row * comptime!(plan.heads) + place.head) * RATES + at - values];
            }
        }
        stage[i] = value;
        i += UNITS;
    }
}

/// Fills `pull` [block, ranks, tile] with the gradients of the outputs of the same steps.
#[cube]
pub(super) fn load_gradients(
    gradient: &[f32],
    pull: &mut [f32],
    first: usize,
    count: usize,
    place: &Place,
    #[comptime] plan: Plan,
    #[comptime] block: usize,
) {
    let size = comptime!(plan.ranks * plan.tile());
    let mut i = UNIT_POS as usize;
    while i < comptime!(block * size) {
        let row = first + i / size;
        let rank = i % size / comptime!(plan.tile());
        let p = i % comptime!(plan.tile()) + place.tile * comptime!(plan.tile());
        let mut value = 0.0f32;
        if i / size < count && p < comptime!(plan.width) {
            let of = (row * comptime!(plan.heads) + place.head) * comptime!(plan.ranks) + rank;
            value = gradient[of * comptime!(plan.width) + p];
        }
        pull[i] = value;
        i += UNITS;
    }
}

/// The sum of 16 values from `at` on, `step` apart.
#[cube]
pub(super) fn sum(parts: &[f32], at: usize, step: usize) -> f32 {
    let mut sum = 0.0f32;
    #[unroll]
    for lane in 0..LANES {
        sum += parts[at + lane * step];
    }
    sum
}
