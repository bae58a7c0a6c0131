//! Rates and angles of all steps, and sums back over the angles. A thread a game, head and angle.
//!
//! Angles are sums over a game, in whole numbers.

use cubecl::prelude::*;

use super::turns::{cosine_and_sine, part_of_turn, poison};
use crate::families::mamba3::rates::LEAST_DECAY;
use crate::gpu::math::{sigmoid, softplus, tanh, two_sum};
use crate::gpu::{Array, Gpu, THREADS, cubes_of};
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

/// Sums `grads` [rows, heads, angles] over each step and all later ones, in place: an angle's step moves all angles
/// after it.
pub(super) fn sum_back(gpu: &Gpu, grads: &Array, lengths: &Array, batch: Batch, plan: Plan) {
    let angles = plan.state / 4;
    let count = batch.games * plan.heads * angles;
    sum_grads::launch(
        gpu.client(),
        cubes_of(count),
        CubeDim::new_1d(THREADS),
        grads.arg(),
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
        let mut sum = 0u32;
        let mut not_finite = 0u32;
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
            sum += part_of_turn(speed, size);
            not_finite |= poison(speed * size);
            let (cosine, sine) = cosine_and_sine(sum);
            let into = ((row * heads + head) * angles + angle) * 2;
            turns[into] = f32::reinterpret(u32::reinterpret(cosine) | not_finite);
            turns[into + 1] = f32::reinterpret(u32::reinterpret(sine) | not_finite);
        }
    }
}

/// A = min(-softplus(x), -1e-4).
#[cube]
pub(super) fn amount(x: f32) -> f32 {
    let amount = -softplus(x);
    if amount < -LEAST_DECAY { amount } else { (-LEAST_DECAY).runtime() }
}

#[cube(launch)]
fn sum_grads(grads: &mut [f32], lengths: &[u32], count: u32, time: u32, #[comptime] width: usize) {
    if ABSOLUTE_POS < count as usize {
        let game = ABSOLUTE_POS / width;
        let column = ABSOLUTE_POS % width;
        let mut high = 0.0f32;
        let mut low = 0.0f32;
        let mut left = lengths[game] as usize;
        while left > 0 {
            left -= 1;
            let at = (game * time as usize + left) * width + column;
            let (sum, rest) = two_sum(high, grads[at]);
            high = sum;
            low += rest;
            grads[at] = high + low;
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Tensor;

    use super::*;
    use crate::families::mamba3::Widths;
    use crate::families::mamba3::rates::Rates;
    use crate::families::mamba3::rotation::Pairing;
    use crate::families::mamba3::scan::gpu::Scan;
    use crate::gpu::{Operation, apply};
    use crate::layers::mamba::MixerSize;
    use crate::testing::{assert_close, gpu, random, values};

    /// Cosines and sines alone.
    #[derive(Debug)]
    struct Turns(Scan);

    impl Operation<2> for Turns {
        fn forward(&self, gpu: &Gpu, [raw, dt_bias]: [&Array; 2], _: bool) -> (Array, Vec<Array>) {
            let lengths = gpu.lengths(&self.0.lengths);
            (find(gpu, [raw, dt_bias, &lengths], self.0.batch(), self.0.plan()).1, Vec::new())
        }

        fn backward(&self, _: &Gpu, _: [&Array; 2], _: &[Array], _: &Array, _: [bool; 2]) -> [Option<Array>; 2] {
            unreachable!("nothing is tracked here")
        }
    }

    fn widths() -> Widths {
        let size = MixerSize { width: 8, inner: 16, heads: 2, head_width: 8, state: 12 };
        Widths { size, ranks: 1, pairing: Pairing::Neighbours }
    }

    /// The turns of one game, [steps, heads, angles, 2].
    fn turns(gpu: &burn::tensor::Device, widths: Widths, raw: &[f32]) -> Vec<f32> {
        let steps = raw.len() / widths.rates();
        let inputs = [raw, &[0.0; 2]].map(|values| Tensor::<1>::from_floats(values, gpu));
        values(&apply(inputs, Turns(Scan { widths, time: steps, lengths: [steps].into() })))
    }

    #[test]
    fn a_speed_that_is_not_finite_makes_its_angle_nan_from_there_on() {
        let Some(gpu) = gpu() else { return };
        let mut raw = vec![0.5; 3 * widths().rates()];
        raw[widths().rates() + 7] = f32::NAN;
        let found = turns(&gpu, widths(), &raw);
        for (at, value) in found.iter().enumerate() {
            assert_eq!(value.is_nan(), at >= 12 && at / 2 % 3 == 1, "{at}: {value}");
        }
    }

    /// Steps of 10 to 30 turns: softplus leaves such step sizes as they are, and so far out tanh is 1.
    #[test]
    fn angles_of_a_long_game_keep_their_digits() {
        let Some(gpu) = gpu() else { return };
        const STEPS: usize = 300;
        let widths = widths();
        let noise = values(&random::<1>([STEPS * widths.rates()], 1, 1.0));
        let of_column = |(at, x): (usize, &f32)| match at % widths.rates() {
            ..2 => 40.0 + (5.0 * x).clamp(-20.0, 20.0),
            2..6 => *x,
            _ => 50.0f32.copysign(x + 1.0),
        };
        let raw: Vec<f32> = noise.iter().enumerate().map(of_column).collect();
        let expected = Rates::new(&widths, &raw, &[0.0; 2]);
        let found = turns(&gpu, widths, &raw);
        // [steps, heads, angles, 2]
        for head in 0..2 {
            let of_head = |which: usize| -> Vec<f32> {
                let rows = found.chunks_exact(12).map(|row| &row[6 * head..6 * head + 6]);
                rows.flat_map(|row| row.iter().skip(which).step_by(2).copied()).collect()
            };
            assert_close(&of_head(0), &expected.cosines[head], 5e-7);
            assert_close(&of_head(1), &expected.sines[head], 5e-7);
        }
    }
}
