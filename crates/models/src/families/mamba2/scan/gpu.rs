//! The kernels of [`super::scan`] on a GPU: the rates, then the recurrence of `ops::state_space::gpu`.

use std::sync::Arc;

use cubecl::prelude::*;

use crate::gpu::math::{sigmoid, softplus};
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of, sums_over_rows};
use crate::layers::mamba::MixerSize;
use crate::ops::state_space::gpu::{Batch, Plan, RATE_GRADIENTS, RATES, backward, forward};

/// Computes [`super::scan`]: channels, dt, dt_bias, A_log and D to [rows, inner].
#[derive(Debug)]
pub struct Scan {
    pub size: MixerSize,
    pub time: usize,
    pub lengths: Arc<[usize]>,
}

impl Scan {
    fn batch(&self) -> Batch {
        Batch { games: self.lengths.len(), time: self.time }
    }

    /// Channels are packed already: values head by head, then keys and queries.
    fn plan(&self) -> Plan {
        let MixerSize { inner, heads, head_width, state, .. } = self.size;
        Plan {
            heads,
            ranks: 1,
            state,
            width: head_width,
            row: inner + 2 * state,
            places: [inner + state, inner, 0],
            next_keys: 0,
            next_values: head_width,
            extra: 0,
        }
    }
}

impl Operation<5> for Scan {
    fn forward(&self, gpu: &Gpu, inputs: [&Array; 5], save: bool) -> (Array, Vec<Array>) {
        let [channels, dt, dt_bias, a_log, skip] = inputs;
        let (rows, heads) = (self.batch().rows(), self.size.heads);
        let rates = gpu.empty(rows * heads * RATES);
        let (cubes, threads) = (cubes_of(rows * heads), CubeDim::new_1d(THREADS));
        let count = (rows * heads) as u32;
        find_rates::launch(
            gpu.client(),
            cubes,
            threads,
            dt.arg(),
            dt_bias.arg(),
            a_log.arg(),
            rates.arg(),
            count,
            heads,
        );
        let lengths = gpu.lengths(&self.lengths);
        let (y, states) = forward(gpu, [channels, &rates, skip, &lengths], self.batch(), self.plan(), save);
        (y, if save { vec![rates, states] } else { Vec::new() })
    }

    fn backward(
        &self,
        gpu: &Gpu,
        inputs: [&Array; 5],
        saved: &[Array],
        gradient: &Array,
        _wanted: [bool; 5],
    ) -> [Option<Array>; 5] {
        let [channels, dt, dt_bias, a_log, skip] = inputs;
        let (rates, states) = (&saved[0], &saved[1]);
        let (batch, plan, lengths) = (self.batch(), self.plan(), gpu.lengths(&self.lengths));
        let (rows, heads) = (batch.rows(), plan.heads);
        let (found, found_rates) = backward(gpu, [channels, rates, skip, &lengths, states, gradient], batch, plan);

        let threads = CubeDim::new_1d(THREADS);
        let grad_channels = gpu.empty(channels.len());
        sum_channels::launch(
            gpu.client(),
            cubes_of(channels.len()),
            threads,
            found.arg(),
            lengths.arg(),
            grad_channels.arg(),
            channels.len() as u32,
            self.time as u32,
            plan,
        );
        let (grad_dt, by_row) = (gpu.empty(dt.len()), gpu.empty(rows * 3 * heads));
        through_rates::launch(
            gpu.client(),
            cubes_of(rows * heads),
            threads,
            found_rates.arg(),
            dt.arg(),
            dt_bias.arg(),
            a_log.arg(),
            lengths.arg(),
            grad_dt.arg(),
            by_row.arg(),
            (rows * heads) as u32,
            self.time as u32,
            heads,
            plan.tiles(),
        );
        let [grad_bias, grad_a_log, grad_skip] = sums_over_rows(gpu, &by_row, rows, [heads; 3]);
        [grad_channels, grad_dt, grad_bias, grad_a_log, grad_skip].map(Some)
    }
}

/// `rates` [rows, heads, 3]: e^{ΔA}, and Δ twice.
#[cube(launch)]
fn find_rates(dt: &[f32], dt_bias: &[f32], a_log: &[f32], rates: &mut [f32], count: u32, #[comptime] heads: usize) {
    if ABSOLUTE_POS < count as usize {
        let head = ABSOLUTE_POS % heads;
        let size = softplus(dt[ABSOLUTE_POS] + dt_bias[head]);
        let at = ABSOLUTE_POS * RATES;
        rates[at] = f32::exp(-f32::exp(a_log[head]) * size);
        rates[at + 1] = size;
        rates[at + 2] = size;
    }
}

/// Gradients of the channels from those of each head and tile; zero at padded steps.
#[cube(launch)]
fn sum_channels(found: &[f32], lengths: &[u32], into: &mut [f32], count: u32, time: u32, #[comptime] plan: Plan) {
    if ABSOLUTE_POS < count as usize {
        let row = ABSOLUTE_POS / comptime!(plan.row);
        let column = ABSOLUTE_POS % comptime!(plan.row);
        let (gradients, heads) = comptime!((plan.gradients(), plan.heads));
        let inner = comptime!(plan.places[1]);
        let mut sum = 0.0f32;
        if row % (time as usize) < lengths[row / time as usize] as usize {
            let of_row = row * comptime!(heads * gradients);
            if column < inner {
                sum = found[of_row + column / plan.width * gradients + column % plan.width];
            } else {
                for head in 0..heads {
                    for tile in 0..comptime!(plan.tiles()) {
                        let of_tile = comptime!(plan.key_gradients(0)) + tile * comptime!(2 * plan.state);
                        sum += found[of_row + head * gradients + of_tile + column - inner];
                    }
                }
            }
        }
        into[ABSOLUTE_POS] = sum;
    }
}

/// Gradients of dt; and of dt_bias, A_log and D by row, [rows, 3, heads]. Zero at padded steps.
#[cube(launch)]
fn through_rates(
    found: &[f32],
    dt: &[f32],
    dt_bias: &[f32],
    a_log: &[f32],
    lengths: &[u32],
    grad_dt: &mut [f32],
    by_row: &mut [f32],
    count: u32,
    time: u32,
    #[comptime] heads: usize,
    #[comptime] tiles: usize,
) {
    if ABSOLUTE_POS < count as usize {
        let row = ABSOLUTE_POS / heads;
        let head = ABSOLUTE_POS % heads;
        let mut of_dt = 0.0f32;
        let mut of_a_log = 0.0f32;
        let mut of_skip = 0.0f32;
        if row % (time as usize) < lengths[row / time as usize] as usize {
            let mut of_decay = 0.0f32;
            let mut of_size = 0.0f32;
            for tile in 0..tiles {
                let at = (ABSOLUTE_POS * tiles + tile) * RATE_GRADIENTS;
                of_decay += found[at];
                of_size += found[at + 1] + found[at + 2];
                of_skip += found[at + 3];
            }
            let x = dt[ABSOLUTE_POS] + dt_bias[head];
            let amount = f32::exp(a_log[head]);
            // The derivative of softplus is the logistic function.
            of_dt = (of_size - of_decay * amount) * sigmoid(x);
            of_a_log = -of_decay * amount * softplus(x);
        }
        grad_dt[ABSOLUTE_POS] = of_dt;
        let at = row * comptime!(3 * heads) + head;
        by_row[at] = of_dt;
        by_row[at + heads] = of_a_log;
        by_row[at + 2 * heads] = of_skip;
    }
}
