//! The kernels of [`super::swiglu`] on a GPU: an element of the output a thread.

use cubecl::prelude::*;

use super::Gate;
use crate::gpu::math::{sigmoid, silu_grad};
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of};

/// SiLU(gate) ⊙ value for the halves of rows of 2 * `width`.
#[derive(Debug)]
pub struct SwiGlu {
    pub width: usize,
    pub gate: Gate,
}

impl SwiGlu {
    /// The first columns of gate and value in a row.
    fn starts(&self) -> (usize, usize) {
        if self.gate == Gate::First { (0, self.width) } else { (self.width, 0) }
    }
}

impl Operation<1> for SwiGlu {
    fn forward(&self, gpu: &Gpu, [x]: [&Array; 1], _save: bool) -> (Array, Vec<Array>) {
        let (cubes, (gate, value)) = (cubes_of(x.len() / 2), self.starts());
        let y = gpu.empty(x.len() / 2);
        let threads = CubeDim::new_1d(THREADS);
        forward::launch(gpu.client(), cubes, threads, x.arg(), y.arg(), self.width, gate, value);
        (y, Vec::new())
    }

    fn backward(&self, gpu: &Gpu, [x]: [&Array; 1], _saved: &[Array], g: &Array, _: [bool; 1]) -> [Option<Array>; 1] {
        let (cubes, (gate, value)) = (cubes_of(x.len() / 2), self.starts());
        let grad_x = gpu.empty(x.len());
        let (threads, [x, g, into]) = (CubeDim::new_1d(THREADS), [x, g, &grad_x].map(Array::arg));
        backward::launch(gpu.client(), cubes, threads, x, g, into, self.width, gate, value);
        [Some(grad_x)]
    }
}

#[cube(launch)]
fn forward(x: &[f32], y: &mut [f32], #[comptime] width: usize, #[comptime] gate: usize, #[comptime] value: usize) {
    if ABSOLUTE_POS < y.len() {
        let row = ABSOLUTE_POS / width * (2 * width) + ABSOLUTE_POS % width;
        let z = x[row + gate];
        y[ABSOLUTE_POS] = z * sigmoid(z) * x[row + value];
    }
}

#[cube(launch)]
fn backward(
    x: &[f32],
    g: &[f32],
    grad_x: &mut [f32],
    #[comptime] width: usize,
    #[comptime] gate: usize,
    #[comptime] value: usize,
) {
    if ABSOLUTE_POS < g.len() {
        let row = ABSOLUTE_POS / width * (2 * width) + ABSOLUTE_POS % width;
        let (z, g) = (x[row + gate], g[ABSOLUTE_POS]);
        let s = sigmoid(z);
        grad_x[row + gate] = g * x[row + value] * silu_grad(z, s);
        grad_x[row + value] = g * z * s;
    }
}
