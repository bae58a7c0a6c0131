//! Gradients of what heads or steps have in common.

use cubecl::prelude::*;

use super::rates::SUMMED;
use crate::ops::state_space::gpu::Plan;

/// The gradient of an element of keys or queries [rows, ranks, state]: the sum over all heads of those in `found`.
#[cube]
pub(super) fn sum_heads(found: &[f32], at: usize, is_query: bool, #[comptime] plan: Plan) -> f32 {
    let all = comptime!(plan.ranks * plan.state);
    let mut place = at / all * comptime!(plan.heads * plan.gradients()) + comptime!(plan.key_gradients(0)) + at % all;
    if is_query {
        place += all;
    }
    let mut sum = 0.0f32;
    for head in 0..comptime!(plan.heads) {
        sum += found[place + head * comptime!(plan.gradients())];
    }
    sum
}

/// Gradients of biases, scales, dt_bias and D from sums over rows, [heads, plan.gradients()]. One of these a thread.
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
pub(super) fn split_totals(
    totals: &[f32],
    grad_key_bias: &mut [f32],
    grad_query_bias: &mut [f32],
    grad_mimo_x: &mut [f32],
    grad_dt_bias: &mut [f32],
    grad_skip: &mut [f32],
    count: u32,
    #[comptime] plan: Plan,
) {
    let (keys, values) = comptime!((plan.ranks * plan.state, plan.ranks * plan.width));
    let summed = comptime!(plan.gradients() - SUMMED);
    if ABSOLUTE_POS < count as usize {
        let head = ABSOLUTE_POS / comptime!(plan.gradients());
        let at = ABSOLUTE_POS % comptime!(plan.gradients());
        let value = totals[ABSOLUTE_POS];
        if at < values {
            grad_mimo_x[head * values + at] = value;
        } else if at < comptime!(values + keys) {
            grad_key_bias[head * keys + at - values] = value;
        } else if at < comptime!(values + 2 * keys) {
            grad_query_bias[head * keys + at - comptime!(values + keys)] = value;
        } else if at == summed {
            grad_dt_bias[head] = value;
        } else if at > summed {
            grad_skip[head] = value;
        }
    }
}
