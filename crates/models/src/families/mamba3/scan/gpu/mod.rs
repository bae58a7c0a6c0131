//! The kernels of [`super::scan`] on a GPU: rates and angles, packed rows of turned keys and queries and scaled values, then
//! the recurrence of `ops::state_space::gpu`.

mod angles;
mod rates;
mod rows;
mod sums;
mod turns;

use std::sync::Arc;

use cubecl::prelude::CubeDim;

use super::Widths;
use crate::families::mamba3::rotation::Pairing;
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of, sum_over_rows};
use crate::ops::state_space::gpu::{Batch, Plan, backward, forward};

/// Computes [`super::scan`], with its nine inputs in the order of the kernel for the CPU.
#[derive(Debug)]
pub struct Scan {
    pub widths: Widths,
    pub time: usize,
    pub lengths: Arc<[usize]>,
}

impl Scan {
    fn batch(&self) -> Batch {
        Batch { games: self.lengths.len(), time: self.time }
    }

    /// Packed rows: for each head queries, keys and values.
    fn plan(&self) -> Plan {
        let Widths { size, ranks, .. } = self.widths;
        let (keys, values) = (self.widths.keys(), self.widths.values());
        let of_head = 2 * keys + values;
        Plan {
            heads: size.heads,
            ranks,
            state: size.state,
            width: size.head_width,
            row: size.heads * of_head,
            places: [0, keys, 2 * keys],
            next_keys: of_head,
            next_values: of_head,
            extra: rates::SUMMED,
        }
    }

    /// Packed rows from the inputs, and cosines and sines [rows, heads, angles, 2].
    fn pack(&self, gpu: &Gpu, inputs: [&Array; 9], turns: &Array, lengths: &Array) -> Array {
        let [keys, queries, x, _, _, key_bias, query_bias, mimo_x, _] = inputs;
        let (plan, rows, halves) = (self.plan(), self.batch().rows(), self.widths.pairing == Pairing::Halves);
        let packed = gpu.empty(rows * plan.row);
        let threads = CubeDim::new_1d(THREADS);
        let count = rows * plan.heads * 2 * plan.ranks * plan.state;
        rows::turn::launch(
            gpu.client(),
            cubes_of(count),
            threads,
            keys.arg(),
            queries.arg(),
            key_bias.arg(),
            query_bias.arg(),
            turns.arg(),
            lengths.arg(),
            packed.arg(),
            count as u32,
            self.time as u32,
            plan,
            halves,
        );
        let count = rows * plan.heads * plan.ranks * plan.width;
        rows::scale::launch(
            gpu.client(),
            cubes_of(count),
            threads,
            x.arg(),
            mimo_x.arg(),
            lengths.arg(),
            packed.arg(),
            count as u32,
            self.time as u32,
            plan,
        );
        packed
    }

    /// Turns the gradients of turned keys and queries and of scaled values in `found` into those of each head's biases
    /// and scales by row; returns those of keys, queries and x, and of the angles.
    fn unpack(
        &self,
        gpu: &Gpu,
        inputs: [&Array; 9],
        [packed, turns, lengths, found]: [&Array; 4],
    ) -> ([Array; 3], Array) {
        let [keys, queries, x, _, _, _, _, mimo_x, _] = inputs;
        let (plan, rows, halves) = (self.plan(), self.batch().rows(), self.widths.pairing == Pairing::Halves);
        let threads = CubeDim::new_1d(THREADS);
        let grads = gpu.empty(rows * plan.heads * self.widths.angles());
        let count = rows * plan.heads * (plan.state / 2);
        rows::rotate_back::launch(
            gpu.client(),
            cubes_of(count),
            threads,
            packed.arg(),
            turns.arg(),
            lengths.arg(),
            found.arg(),
            grads.arg(),
            count as u32,
            self.time as u32,
            plan,
            halves,
        );
        let [grad_keys, grad_queries, grad_x] = [keys, queries, x].map(|input| gpu.empty(input.len()));
        rows::part_back::launch(
            gpu.client(),
            cubes_of(2 * keys.len() + x.len()),
            threads,
            x.arg(),
            mimo_x.arg(),
            lengths.arg(),
            found.arg(),
            grad_keys.arg(),
            grad_queries.arg(),
            grad_x.arg(),
            keys.len() as u32,
            x.len() as u32,
            self.time as u32,
            plan,
        );
        ([grad_keys, grad_queries, grad_x], grads)
    }
}

impl Operation<9> for Scan {
    fn forward(&self, gpu: &Gpu, inputs: [&Array; 9], save: bool) -> (Array, Vec<Array>) {
        let [_, _, _, raw, dt_bias, _, _, _, skip] = inputs;
        let (batch, plan, lengths) = (self.batch(), self.plan(), gpu.lengths(&self.lengths));
        let (rates, turns) = angles::find(gpu, [raw, dt_bias, &lengths], batch, plan);
        let packed = self.pack(gpu, inputs, &turns, &lengths);
        let (y, states) = forward(gpu, [&packed, &rates, skip, &lengths], batch, plan, save);
        // Packed rows are many; they are made again.
        (y, if save { vec![rates, turns, states] } else { Vec::new() })
    }

    fn backward(
        &self,
        gpu: &Gpu,
        inputs: [&Array; 9],
        saved: &[Array],
        gradient: &Array,
        _wanted: [bool; 9],
    ) -> [Option<Array>; 9] {
        let [_, _, _, raw, dt_bias, key_bias, query_bias, mimo_x, skip] = inputs;
        let (rates, turns, states) = (&saved[0], &saved[1], &saved[2]);
        let (batch, plan, lengths) = (self.batch(), self.plan(), gpu.lengths(&self.lengths));
        let packed = self.pack(gpu, inputs, turns, &lengths);
        let (found, found_rates) = backward(gpu, [&packed, rates, skip, &lengths, states, gradient], batch, plan);
        let ([grad_keys, grad_queries, grad_x], grads) = self.unpack(gpu, inputs, [&packed, turns, &lengths, &found]);
        angles::sum_back(gpu, &grads, &lengths, batch, plan);
        let grad_raw = rates::backward(gpu, [raw, dt_bias, &lengths, &found_rates, &grads, &found], batch, plan);

        let totals = sum_over_rows(gpu, &found, batch.rows(), plan.heads * plan.gradients());
        let parameters = [key_bias, query_bias, mimo_x, dt_bias, skip];
        let [grad_key_bias, grad_query_bias, grad_mimo_x, grad_dt_bias, grad_skip] =
            parameters.map(|input| gpu.empty(input.len()));
        sums::split_totals::launch(
            gpu.client(),
            cubes_of(totals.len()),
            CubeDim::new_1d(THREADS),
            totals.arg(),
            grad_key_bias.arg(),
            grad_query_bias.arg(),
            grad_mimo_x.arg(),
            grad_dt_bias.arg(),
            grad_skip.arg(),
            totals.len() as u32,
            plan,
        );
        [
            grad_keys,
            grad_queries,
            grad_x,
            grad_raw,
            grad_dt_bias,
            grad_key_bias,
            grad_query_bias,
            grad_mimo_x,
            grad_skip,
        ]
        .map(Some)
    }
}
