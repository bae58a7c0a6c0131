//! The kernels of [`super::gates`] on a GPU: forward an element a thread, backward a head of some rows.

use cubecl::prelude::*;

use crate::gpu::math::{sigmoid, softplus};
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of, sums_over_rows};

/// Rows of a thread of the backward pass, which adds the parameters' gradients over them.
const TILE: usize = 32;

/// Log decays and strengths [rows, 2 * heads] from `a` and `b` [rows, heads], `a_log` and `dt_bias` [heads].
#[derive(Debug)]
pub struct Gates {
    pub rows: usize,
    pub heads: usize,
    pub max_beta: f32,
}

impl Operation<4> for Gates {
    fn forward(&self, gpu: &Gpu, [a, b, a_log, dt_bias]: [&Array; 4], _save: bool) -> (Array, Vec<Array>) {
        let gates = gpu.empty(2 * a.len());
        forward::launch(
            gpu.client(),
            cubes_of(a.len()),
            CubeDim::new_1d(THREADS),
            a.arg(),
            b.arg(),
            a_log.arg(),
            dt_bias.arg(),
            gates.arg(),
            self.rows as u32,
            self.heads as u32,
            self.max_beta,
        );
        (gates, Vec::new())
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [a, b, a_log, dt_bias]: [&Array; 4],
        _saved: &[Array],
        g: &Array,
        wanted: [bool; 4],
    ) -> [Option<Array>; 4] {
        let tiles = self.rows.div_ceil(TILE);
        let (grad_a, grad_b) = (gpu.empty(a.len()), gpu.empty(b.len()));
        let partial = gpu.empty(tiles * 2 * self.heads);
        backward::launch(
            gpu.client(),
            cubes_of(tiles * self.heads),
            CubeDim::new_1d(THREADS),
            a.arg(),
            b.arg(),
            a_log.arg(),
            dt_bias.arg(),
            g.arg(),
            grad_a.arg(),
            grad_b.arg(),
            partial.arg(),
            self.rows as u32,
            self.heads as u32,
            self.max_beta,
        );
        if !wanted[2] && !wanted[3] {
            return [Some(grad_a), Some(grad_b), None, None];
        }
        let [grad_a_log, grad_dt_bias] = sums_over_rows(gpu, &partial, tiles, [self.heads; 2]);
        [Some(grad_a), Some(grad_b), Some(grad_a_log), Some(grad_dt_bias)]
    }
}

#[cube(launch)]
fn forward(
    a: &[f32],
    b: &[f32],
    a_log: &[f32],
    dt_bias: &[f32],
    gates: &mut [f32],
    rows: u32,
    heads: u32,
    max_beta: f32,
) {
    let (row, head) = (ABSOLUTE_POS as u32 / heads, ABSOLUTE_POS as u32 % heads);
    if row < rows {
        let at = (2 * row * heads + head) as usize;
        let x = a[ABSOLUTE_POS] + dt_bias[head as usize];
        gates[at] = -f32::exp(a_log[head as usize]) * softplus(x);
        gates[at + heads as usize] = max_beta * sigmoid(b[ABSOLUTE_POS]);
    }
}

#[cube(launch)]
fn backward(
    a: &[f32],
    b: &[f32],
    a_log: &[f32],
    dt_bias: &[f32],
    g: &[f32],
    grad_a: &mut [f32],
    grad_b: &mut [f32],
    partial: &mut [f32],
    rows: u32,
    heads: u32,
    max_beta: f32,
) {
    let (tile, head) = (ABSOLUTE_POS as u32 / heads, ABSOLUTE_POS as u32 % heads);
    if tile < rows.div_ceil(TILE as u32) {
        let rate = f32::exp(a_log[head as usize]);
        let shift = dt_bias[head as usize];
        let mut grad_log = 0.0f32;
        let mut grad_shift = 0.0f32;
        let mut row = tile * TILE as u32;
        let end = u32::min(row + TILE as u32, rows);
        while row < end {
            let at = (row * heads + head) as usize;
            let of_g = (2 * row * heads + head) as usize;
            let x = a[at] + shift;
            let grad_decay = g[of_g] * rate;
            let grad = -grad_decay * sigmoid(x);
            grad_a[at] = grad;
            grad_shift += grad;
            grad_log -= grad_decay * softplus(x);
            let share = sigmoid(b[at]);
            grad_b[at] = g[of_g + heads as usize] * max_beta * share * (1.0f32 - share);
            row += 1;
        }
        let at = (2 * tile * heads + head) as usize;
        partial[at] = grad_log;
        partial[at + heads as usize] = grad_shift;
    }
}
