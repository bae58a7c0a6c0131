//! Gradients of what heads or steps have in common.

use cubecl::prelude::*;

use crate::ops::state_space::gpu::Plan;

/// Gradients of keys and queries [rows, ranks, state] from those of all heads. An element a thread, keys first.
#[cube(launch)]
pub(super) fn sum_heads(
    found: &[f32],
    for_keys: &mut [f32],
    for_queries: &mut [f32],
    count: u32,
    #[comptime] plan: Plan,
) {
    let all = comptime!(plan.ranks * plan.state);
    let count = count as usize;
    if ABSOLUTE_POS < 2 * count {
        let at = ABSOLUTE_POS % count;
        let is_query = ABSOLUTE_POS >= count;
        let mut place =
            at / all * comptime!(plan.heads * plan.gradients()) + comptime!(plan.key_gradients(0)) + at % all;
        if is_query {
            place += all;
        }
        let mut sum = 0.0f32;
        for head in 0..comptime!(plan.heads) {
            sum += found[place + head * comptime!(plan.gradients())];
        }
        if is_query {
            for_queries[at] = sum;
        } else {
            for_keys[at] = sum;
        }
    }
}

/// Gradients of biases and scales from sums over rows, [heads, plan.gradients()].
#[cube(launch)]
pub(super) fn split_blocks(
    totals: &[f32],
    for_key_bias: &mut [f32],
    for_query_bias: &mut [f32],
    for_mimo_x: &mut [f32],
    count: u32,
    #[comptime] plan: Plan,
) {
    let (keys, values) = comptime!((plan.ranks * plan.state, plan.ranks * plan.width));
    if ABSOLUTE_POS < count as usize {
        let head = ABSOLUTE_POS / comptime!(values + 2 * keys);
        let at = ABSOLUTE_POS % comptime!(values + 2 * keys);
        let value = totals[head * comptime!(plan.gradients()) + at];
        if at < values {
            for_mimo_x[head * values + at] = value;
        } else if at < comptime!(values + keys) {
            for_key_bias[head * keys + at - values] = value;
        } else {
            for_query_bias[head * keys + at - comptime!(values + keys)] = value;
        }
    }
}

/// The two halves of `totals`, of `len` values each.
#[cube(launch)]
pub(super) fn split_rates(totals: &[f32], first: &mut [f32], second: &mut [f32], len: u32) {
    let len = len as usize;
    if ABSOLUTE_POS < len {
        first[ABSOLUTE_POS] = totals[ABSOLUTE_POS];
        second[ABSOLUTE_POS] = totals[ABSOLUTE_POS + len];
    }
}
