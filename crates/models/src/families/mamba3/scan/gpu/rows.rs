//! Packed rows: keys and queries with biases, turned, and scaled values; and the same back.

use cubecl::prelude::*;

use super::sums::sum_heads;
use crate::ops::state_space::gpu::Plan;

/// Writes queries and keys of real steps to `packed`: an element a thread.
#[cube(launch)]
pub(super) fn turn(
    keys: &[f32],
    queries: &[f32],
    key_bias: &[f32],
    query_bias: &[f32],
    turns: &[f32],
    lengths: &[u32],
    packed: &mut [f32],
    count: u32,
    time: u32,
    #[comptime] plan: Plan,
    #[comptime] halves: bool,
) {
    let (heads, ranks, state) = comptime!((plan.heads, plan.ranks, plan.state));
    let all = comptime!(ranks * state);
    if ABSOLUTE_POS < count as usize {
        let row = ABSOLUTE_POS / comptime!(heads * 2 * all);
        if row % (time as usize) < lengths[row / time as usize] as usize {
            let head = ABSOLUTE_POS / comptime!(2 * all) % heads;
            let at = ABSOLUTE_POS % comptime!(2 * all);
            let of_row = at % all;
            let n = at % state;
            let other = partner(n, state, halves);
            let is_second = if comptime!(halves) { n >= comptime!(state / 2) } else { n % 2 == 1 };
            let pair = if comptime!(halves) { n % comptime!(state / 2) } else { n / 2 };
            let (source, bias) = (row * all + of_row, head * all + of_row);
            let other_source = source - n + other;
            let other_bias = bias - n + other;
            let is_query = at < all;
            let mut x = if is_query { queries[source] + query_bias[bias] } else { keys[source] + key_bias[bias] };
            let y = if is_query {
                queries[other_source] + query_bias[other_bias]
            } else {
                keys[other_source] + key_bias[other_bias]
            };
            if pair < comptime!(state / 4) {
                let of_turn = ((row * heads + head) * comptime!(state / 4) + pair) * 2;
                let (cosine, sine) = (turns[of_turn], turns[of_turn + 1]);
                // The first of a pair loses what the second gains.
                x = if is_second { y * sine + x * cosine } else { x * cosine - y * sine };
            }
            packed[row * comptime!(plan.row) + head * comptime!(plan.next_keys) + at] = x;
        }
    }
}

/// The channel that turns with channel `n`.
#[cube]
fn partner(n: usize, #[comptime] state: usize, #[comptime] halves: bool) -> usize {
    if comptime!(halves) { (n + comptime!(state / 2)) % state } else { n + 1 - n % 2 * 2 }
}

/// Writes scaled values of real steps to `packed`: an element a thread.
#[cube(launch)]
pub(super) fn scale(
    x: &[f32],
    mimo_x: &[f32],
    lengths: &[u32],
    packed: &mut [f32],
    count: u32,
    time: u32,
    #[comptime] plan: Plan,
) {
    let (heads, width) = comptime!((plan.heads, plan.width));
    let values = comptime!(plan.ranks * width);
    if ABSOLUTE_POS < count as usize {
        let row = ABSOLUTE_POS / comptime!(heads * values);
        if row % (time as usize) < lengths[row / time as usize] as usize {
            let of_row = ABSOLUTE_POS % comptime!(heads * values);
            let head = of_row / values;
            let at = row * comptime!(plan.row) + head * comptime!(plan.next_values) + comptime!(plan.places[2]);
            packed[at + of_row % values] = mimo_x[of_row] * x[(row * heads + head) * width + of_row % width];
        }
    }
}

/// Turns the gradients of turned keys and queries in `found` into those before they were turned, all tiles' parts summed
/// into the first tile's place; computes those of the angles [rows, heads, angles]. Zero at padded steps. A pair of channels
/// a thread.
#[cube(launch)]
pub(super) fn rotate_back(
    packed: &[f32],
    turns: &[f32],
    lengths: &[u32],
    found: &mut [f32],
    grads: &mut [f32],
    count: u32,
    time: u32,
    #[comptime] plan: Plan,
    #[comptime] halves: bool,
) {
    let (heads, ranks, state) = comptime!((plan.heads, plan.ranks, plan.state));
    let (half, angles) = comptime!((state / 2, state / 4));
    if ABSOLUTE_POS < count as usize {
        let row = ABSOLUTE_POS / comptime!(heads * half);
        let head = ABSOLUTE_POS / half % heads;
        let pair = ABSOLUTE_POS % half;
        let is_real = row % (time as usize) < lengths[row / time as usize] as usize;
        let first = if comptime!(halves) { pair } else { 2 * pair };
        let second = first + if comptime!(halves) { comptime!(half).runtime() } else { 1usize.runtime() };
        let of_turn = ((row * heads + head) * angles + pair) * 2;
        let mut cosine = 1.0f32;
        let mut sine = 0.0f32;
        if pair < angles && is_real {
            cosine = turns[of_turn];
            sine = turns[of_turn + 1];
        }
        let gradients = (row * heads + head) * comptime!(plan.gradients()) + comptime!(plan.key_gradients(0));
        let turned = row * comptime!(plan.row) + head * comptime!(plan.next_keys);
        let mut grad = 0.0f32;
        // Keys of all ranks, then queries.
        for which in 0..comptime!(2 * ranks) {
            let mut x = 0.0f32;
            let mut y = 0.0f32;
            if is_real {
                for tile in 0..comptime!(plan.tiles()) {
                    let at = gradients + (tile * comptime!(2 * ranks) + which) * state;
                    x += found[at + first];
                    y += found[at + second];
                }
                if pair < angles {
                    // In packed rows queries come first.
                    let at = turned + (which + ranks) % comptime!(2 * ranks) * state;
                    grad += y * packed[at + first] - x * packed[at + second];
                    let back = x * cosine + y * sine;
                    y = y * cosine - x * sine;
                    x = back;
                }
            }
            found[gradients + which * state + first] = x;
            found[gradients + which * state + second] = y;
        }
        if pair < angles {
            grads[of_turn / 2] = grad;
        }
    }
}

/// Gradients of keys and queries [rows, ranks, state], the sums over all heads; and of x from those of scaled values in
/// `found`, which become those of the scales by row. Zero at padded steps. An element a thread: keys, queries, then x.
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
pub(super) fn part_back(
    x: &[f32],
    mimo_x: &[f32],
    lengths: &[u32],
    found: &mut [f32],
    grad_keys: &mut [f32],
    grad_queries: &mut [f32],
    grad_x: &mut [f32],
    keys: u32,
    count: u32,
    time: u32,
    #[comptime] plan: Plan,
) {
    let (heads, width) = comptime!((plan.heads, plan.width));
    let (keys, count) = (keys as usize, count as usize);
    if ABSOLUTE_POS < keys {
        grad_keys[ABSOLUTE_POS] = sum_heads(&*found, ABSOLUTE_POS, false.runtime(), plan);
    } else if ABSOLUTE_POS < 2 * keys {
        grad_queries[ABSOLUTE_POS - keys] = sum_heads(&*found, ABSOLUTE_POS - keys, true.runtime(), plan);
    } else if ABSOLUTE_POS < 2 * keys + count {
        let of_x = ABSOLUTE_POS - 2 * keys;
        let row = of_x / comptime!(heads * width);
        let head = of_x / width % heads;
        let p = of_x % width;
        let is_real = row % (time as usize) < lengths[row / time as usize] as usize;
        let mut sum = 0.0f32;
        for rank in 0..comptime!(plan.ranks) {
            let at = (row * heads + head) * comptime!(plan.gradients()) + rank * width + p;
            let mut grad_scale = 0.0f32;
            if is_real {
                sum += found[at] * mimo_x[(head * comptime!(plan.ranks) + rank) * width + p];
                grad_scale = found[at] * x[of_x];
            }
            found[at] = grad_scale;
        }
        grad_x[of_x] = sum;
    }
}
