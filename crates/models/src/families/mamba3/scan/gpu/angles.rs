//! Rates and angles of all steps, and sums back over the angles. A thread a game, head and angle.
//!
//! Angles are sums over a game. They are kept as quarter turns and a rest below half a quarter, and the rest in two
//! floats, so that they lose no digits; the processor sums in f64.

use cubecl::prelude::*;

use crate::families::mamba3::rates::LEAST_DECAY;
use crate::gpu::{Array, Gpu, THREADS, cubes_of};
use crate::ops::state_space::gpu::functions::{sigmoid, softplus, tanh, two_sum};
use crate::ops::state_space::gpu::{Batch, Plan, RATES};

/// Rates [rows, heads, 3] (e^{ΔA}, own and later) and cosines and sines [rows, heads, angles, 2], from the projection
/// [rows, 3 heads + angles]; whatever the memory holds at padded steps.
pub(super) fn find(gpu: &Gpu, [raw, dt_bias, lengths]: [&Array; 3], batch: Batch, plan: Plan) -> (Array, Array) {
    let angles = plan.state / 4;
    let count = batch.games * plan.heads * angles;
    let rates = gpu.empty(batch.rows() * plan.heads * RATES);
    let turns = gpu.empty(batch.rows() * plan.heads * angles * 2);
    find_turns::launch(
        gpu.client(),
        cubes_of(count),
        CubeDim::new_1d(THREADS),
        raw.arg(),
        dt_bias.arg(),
        lengths.arg(),
        rates.arg(),
        turns.arg(),
        count as u32,
        batch.time as u32,
        plan.heads,
        angles,
    );
    (rates, turns)
}

/// Sums `slopes` [rows, heads, angles] over each step and all later ones, in place: an angle's step moves all angles after it.
pub(super) fn sum_back(gpu: &Gpu, slopes: &Array, lengths: &Array, batch: Batch, plan: Plan) {
    let angles = plan.state / 4;
    let count = batch.games * plan.heads * angles;
    sum_slopes::launch(
        gpu.client(),
        cubes_of(count),
        CubeDim::new_1d(THREADS),
        slopes.arg(),
        lengths.arg(),
        count as u32,
        batch.time as u32,
        plan.heads * angles,
    );
}

#[cube(launch)]
fn find_turns(
    raw: &[f32],
    dt_bias: &[f32],
    lengths: &[u32],
    rates: &mut [f32],
    turns: &mut [f32],
    count: u32,
    time: u32,
    #[comptime] heads: usize,
    #[comptime] angles: usize,
) {
    if ABSOLUTE_POS < count as usize {
        let columns = comptime!(3 * heads + angles);
        let game = ABSOLUTE_POS / comptime!(heads * angles);
        let head = ABSOLUTE_POS / angles % heads;
        let angle = ABSOLUTE_POS % angles;
        let length = lengths[game] as usize;
        let bias = dt_bias[head];
        let mut quarters = 0.0f32;
        let mut high = 0.0f32;
        let mut low = 0.0f32;
        for t in 0..length {
            let row = game * time as usize + t;
            let at = row * columns;
            let size = softplus(raw[at + head] + bias);
            if angle == t % angles {
                let amount = amount(raw[at + heads + head]);
                let share = sigmoid(raw[at + 2 * heads + head]);
                let mut later = share * size;
                if t + 1 < length {
                    let next = at + columns;
                    let next_share = sigmoid(raw[next + 2 * heads + head]);
                    later += (1.0f32 - next_share) * softplus(raw[next + head] + bias);
                }
                let into = (row * heads + head) * RATES;
                rates[into] = f32::exp(size * amount);
                rates[into + 1] = share * size;
                rates[into + 2] = later;
            }

            let speed = std::f32::consts::PI * tanh(raw[at + 3 * heads + angle]);
            // The product in parts of 12 bits each: the first is exact, and the others are as small as its last bits.
            let (speed_high, size_high) = (upper_half(speed), upper_half(size));
            let (speed_low, size_low) = (speed - speed_high, size - size_high);
            let (sum, rest) = two_sum(high, speed_high * size_high);
            low += rest + (speed_high * size_low + speed_low * size_high + speed_low * size_low);
            // π/2 in parts, so that whole quarters are taken off exactly.
            let whole = f32::floor(sum * std::f32::consts::FRAC_2_PI + 0.5f32);
            let (sum, rest) = two_sum(sum - whole * 1.570_312_5f32, -whole * 4.837_513e-4f32);
            low += rest - whole * 7.549_79e-8f32;
            let (sum, rest) = two_sum(sum, low);
            high = sum;
            low = rest;
            quarters += whole;
            quarters -= 4.0f32 * f32::floor(quarters * 0.25f32);

            let square = high * high;
            let sine =
                high + high * square * (-0.166_666_55f32 + square * (8.332_161e-3f32 - 1.951_529_6e-4f32 * square));
            let quartic = 4.166_664_6e-2f32 + square * (-1.388_731_6e-3f32 + 2.443_315_7e-5f32 * square);
            let cosine = 1.0f32 - 0.5f32 * square + square * square * quartic;
            let is_odd = quarters == 1.0f32 || quarters == 3.0f32;
            let of_cosine = if is_odd { -sine } else { cosine };
            let of_sine = if is_odd { cosine } else { sine };
            let sign = if quarters >= 2.0f32 { -1.0f32.runtime() } else { 1.0f32.runtime() };
            let into = ((row * heads + head) * angles + angle) * 2;
            turns[into] = sign * of_cosine;
            turns[into + 1] = sign * of_sine;
        }
    }
}

/// A = min(-softplus(x), -1e-4).
#[cube]
pub(super) fn amount(x: f32) -> f32 {
    let amount = -softplus(x);
    if amount < -LEAST_DECAY { amount } else { (-LEAST_DECAY).runtime() }
}

/// The 12 first bits of a float.
#[cube]
fn upper_half(x: f32) -> f32 {
    f32::reinterpret(u32::reinterpret(x) & 0xffff_f000u32)
}

#[cube(launch)]
fn sum_slopes(slopes: &mut [f32], lengths: &[u32], count: u32, time: u32, #[comptime] width: usize) {
    if ABSOLUTE_POS < count as usize {
        let game = ABSOLUTE_POS / width;
        let column = ABSOLUTE_POS % width;
        let mut high = 0.0f32;
        let mut low = 0.0f32;
        let mut left = lengths[game] as usize;
        while left > 0 {
            left -= 1;
            let at = (game * time as usize + left) * width + column;
            let (sum, rest) = two_sum(high, slopes[at]);
            high = sum;
            low += rest;
            slopes[at] = high + low;
        }
    }
}
