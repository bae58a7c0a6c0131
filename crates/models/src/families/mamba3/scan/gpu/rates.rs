//! Gradients of the projection that rates and angles come from.

use cubecl::prelude::*;

use super::angles::amount;
use crate::families::mamba3::rates::LEAST_DECAY;
use crate::gpu::{Array, Gpu, THREADS, cubes_of};
use crate::ops::state_space::gpu::functions::{sigmoid, softplus, tanh};
use crate::ops::state_space::gpu::{Batch, Plan, RATE_GRADIENTS};

/// Gradients of the projection [rows, 3 heads + angles]; and those of dt_bias and D by row, [rows, 2, heads]. `found` are
/// those of the rates, [rows, heads, tiles, 4], and `slopes` those of the steps of the angles, [rows, heads, angles].
pub(super) fn backward(
    gpu: &Gpu,
    [raw, dt_bias, lengths, found, slopes]: [&Array; 5],
    batch: Batch,
    plan: Plan,
) -> (Array, Array) {
    let (for_raw, by_row) = (gpu.empty(raw.len()), gpu.empty(batch.rows() * 2 * plan.heads));
    let (rows, threads, angles) = (batch.rows(), CubeDim::new_1d(THREADS), plan.state / 4);
    through_rates::launch(
        gpu.client(),
        cubes_of(rows * plan.heads),
        threads,
        raw.arg(),
        dt_bias.arg(),
        lengths.arg(),
        found.arg(),
        slopes.arg(),
        for_raw.arg(),
        by_row.arg(),
        (rows * plan.heads) as u32,
        batch.time as u32,
        plan,
    );
    through_speeds::launch(
        gpu.client(),
        cubes_of(rows * angles),
        threads,
        raw.arg(),
        dt_bias.arg(),
        lengths.arg(),
        slopes.arg(),
        for_raw.arg(),
        (rows * angles) as u32,
        batch.time as u32,
        plan.heads,
        angles,
    );
    (for_raw, by_row)
}

/// The columns of step sizes, decays and shares. A row and head a thread.
#[cube(launch)]
fn through_rates(
    raw: &[f32],
    dt_bias: &[f32],
    lengths: &[u32],
    found: &[f32],
    slopes: &[f32],
    for_raw: &mut [f32],
    by_row: &mut [f32],
    count: u32,
    time: u32,
    #[comptime] plan: Plan,
) {
    let (heads, tiles, angles) = comptime!((plan.heads, plan.tiles(), plan.state / 4));
    let columns = comptime!(3 * heads + angles);
    if ABSOLUTE_POS < count as usize {
        let row = ABSOLUTE_POS / heads;
        let head = ABSOLUTE_POS % heads;
        let at = row * columns + head;
        let t = row % (time as usize);
        let mut for_dt = 0.0f32;
        let mut for_amount = 0.0f32;
        let mut for_share = 0.0f32;
        let mut for_skip = 0.0f32;
        if t < lengths[row / time as usize] as usize {
            let x = raw[at] + dt_bias[head];
            let size = softplus(x);
            let amount = amount(raw[at + heads]);
            let share = sigmoid(raw[at + 2 * heads]);
            let mut for_decay = 0.0f32;
            let mut both = 0.0f32;
            // The step before weighs more for later steps by this step's (1 - τ)Δ.
            let mut before = 0.0f32;
            for tile in 0..tiles {
                let of = (ABSOLUTE_POS * tiles + tile) * RATE_GRADIENTS;
                for_decay += found[of];
                both += found[of + 1] + found[of + 2];
                for_skip += found[of + 3];
                if t > 0 {
                    before += found[of - comptime!(heads * tiles * RATE_GRADIENTS) + 2];
                }
            }
            let mut for_size = both * share + before * (1.0f32 - share) + for_decay * amount;
            for angle in 0..angles {
                let speed = std::f32::consts::PI * tanh(raw[row * columns + 3 * heads + angle]);
                for_size += slopes[ABSOLUTE_POS * angles + angle] * speed;
            }
            // The slope of softplus is the logistic function.
            for_dt = for_size * sigmoid(x);
            if amount < -LEAST_DECAY {
                for_amount = -for_decay * size * sigmoid(raw[at + heads]);
            }
            for_share = (both - before) * size * share * (1.0f32 - share);
        }
        for_raw[at] = for_dt;
        for_raw[at + heads] = for_amount;
        for_raw[at + 2 * heads] = for_share;
        by_row[row * comptime!(2 * heads) + head] = for_dt;
        by_row[row * comptime!(2 * heads) + heads + head] = for_skip;
    }
}

/// The columns of the angles' speeds. A row and angle a thread.
#[cube(launch)]
fn through_speeds(
    raw: &[f32],
    dt_bias: &[f32],
    lengths: &[u32],
    slopes: &[f32],
    for_raw: &mut [f32],
    count: u32,
    time: u32,
    #[comptime] heads: usize,
    #[comptime] angles: usize,
) {
    let columns = comptime!(3 * heads + angles);
    if ABSOLUTE_POS < count as usize {
        let row = ABSOLUTE_POS / angles;
        let angle = ABSOLUTE_POS % angles;
        let at = row * columns;
        let mut sum = 0.0f32;
        if row % (time as usize) < lengths[row / time as usize] as usize {
            for head in 0..heads {
                let size = softplus(raw[at + head] + dt_bias[head]);
                sum += slopes[(row * heads + head) * angles + angle] * size;
            }
            let tanh = tanh(raw[at + 3 * heads + angle]);
            sum *= std::f32::consts::PI * (1.0f32 - tanh * tanh);
        }
        for_raw[at + 3 * heads + angle] = sum;
    }
}
