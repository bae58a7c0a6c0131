//! Gradients of the projection that rates and angles come from.

use cubecl::prelude::*;

use super::angles::amount;
use crate::families::mamba3::rates::LEAST_DECAY;
use crate::gpu::math::{sigmoid, softplus, tanh};
use crate::gpu::{Array, Gpu, THREADS, cubes_of};
use crate::ops::state_space::gpu::{Batch, Plan, RATE_GRADIENTS};

/// Sums over rows that are noted for each row and head: those for dt_bias and D.
pub(super) const SUMMED: usize = 2;

/// Gradients of the projection [rows, 3 heads + angles]; and those of dt_bias and D by row, at the end of `found`
/// [rows, heads, plan.gradients()]. `of_rates` are those of the rates, [rows, heads, tiles, 4], and `grads` those of
/// the steps of the angles, [rows, heads, angles].
pub(super) fn backward(
    gpu: &Gpu,
    [raw, dt_bias, lengths, of_rates, grads, found]: [&Array; 6],
    batch: Batch,
    plan: Plan,
) -> Array {
    let grad_raw = gpu.empty(raw.len());
    through_projection::launch(
        gpu.client(),
        cubes_of(batch.rows() * (plan.heads + plan.state / 4)),
        CubeDim::new_1d(THREADS),
        raw.arg(),
        dt_bias.arg(),
        lengths.arg(),
        of_rates.arg(),
        grads.arg(),
        grad_raw.arg(),
        found.arg(),
        batch.rows() as u32,
        batch.time as u32,
        plan,
    );
    grad_raw
}

/// A row and head a thread: the columns of step sizes, decays and shares. Then a row and angle a thread: those of the angles'
/// speeds.
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
fn through_projection(
    raw: &[f32],
    dt_bias: &[f32],
    lengths: &[u32],
    of_rates: &[f32],
    grads: &[f32],
    grad_raw: &mut [f32],
    found: &mut [f32],
    rows: u32,
    time: u32,
    #[comptime] plan: Plan,
) {
    let (heads, tiles, angles) = comptime!((plan.heads, plan.tiles(), plan.state / 4));
    let columns = comptime!(3 * heads + angles);
    let of_heads = rows as usize * heads;
    if ABSOLUTE_POS < of_heads {
        let row = ABSOLUTE_POS / heads;
        let head = ABSOLUTE_POS % heads;
        let at = row * columns + head;
        let t = row % (time as usize);
        let mut grad_dt = 0.0f32;
        let mut grad_amount = 0.0f32;
        let mut grad_share = 0.0f32;
        let mut grad_skip = 0.0f32;
        if t < lengths[row / time as usize] as usize {
            let x = raw[at] + dt_bias[head];
            let size = softplus(x);
            let amount = amount(raw[at + heads]);
            let share = sigmoid(raw[at + 2 * heads]);
            let mut grad_decay = 0.0f32;
            let mut both = 0.0f32;
            // The step before weighs more for later steps by this step's (1 - τ)Δ.
            let mut before = 0.0f32;
            for tile in 0..tiles {
                let of = (ABSOLUTE_POS * tiles + tile) * RATE_GRADIENTS;
                grad_decay += of_rates[of];
                both += of_rates[of + 1] + of_rates[of + 2];
                grad_skip += of_rates[of + 3];
                if t > 0 {
                    before += of_rates[of - comptime!(heads * tiles * RATE_GRADIENTS) + 2];
                }
            }
            let mut grad_size = both * share + before * (1.0f32 - share) + grad_decay * amount;
            for angle in 0..angles {
                let speed = std::f32::consts::PI * tanh(raw[row * columns + 3 * heads + angle]);
                grad_size += grads[ABSOLUTE_POS * angles + angle] * speed;
            }
            // The derivative of softplus is the logistic function.
            grad_dt = grad_size * sigmoid(x);
            if amount < -LEAST_DECAY {
                grad_amount = -grad_decay * size * sigmoid(raw[at + heads]);
            }
            grad_share = (both - before) * size * share * (1.0f32 - share);
        }
        grad_raw[at] = grad_dt;
        grad_raw[at + heads] = grad_amount;
        grad_raw[at + 2 * heads] = grad_share;
        let sums = (ABSOLUTE_POS + 1) * comptime!(plan.gradients()) - SUMMED;
        found[sums] = grad_dt;
        found[sums + 1] = grad_skip;
    } else if ABSOLUTE_POS < of_heads + rows as usize * angles {
        let row = (ABSOLUTE_POS - of_heads) / angles;
        let angle = (ABSOLUTE_POS - of_heads) % angles;
        let at = row * columns;
        let mut sum = 0.0f32;
        if row % (time as usize) < lengths[row / time as usize] as usize {
            for head in 0..heads {
                let size = softplus(raw[at + head] + dt_bias[head]);
                sum += grads[(row * heads + head) * angles + angle] * size;
            }
            let tanh = tanh(raw[at + 3 * heads + angle]);
            sum *= std::f32::consts::PI * (1.0f32 - tanh * tanh);
        }
        grad_raw[at + 3 * heads + angle] = sum;
    }
}
