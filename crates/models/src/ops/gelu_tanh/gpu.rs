//! The kernels of [`super::gelu_tanh`] on a GPU: an element a thread.

use cubecl::prelude::*;

use super::{CUBE, TWICE};
use crate::gpu::math::sigmoid;
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of};

/// x σ(2u), element by element.
#[derive(Debug)]
pub struct GeluTanh;

impl Operation<1> for GeluTanh {
    fn forward(&self, gpu: &Gpu, [x]: [&Array; 1], _save: bool) -> (Array, Vec<Array>) {
        let y = gpu.empty(x.len());
        forward::launch(gpu.client(), cubes_of(x.len()), CubeDim::new_1d(THREADS), x.arg(), y.arg());
        (y, Vec::new())
    }

    fn backward(&self, gpu: &Gpu, [x]: [&Array; 1], _saved: &[Array], g: &Array, _: [bool; 1]) -> [Option<Array>; 1] {
        let grad_x = gpu.empty(x.len());
        let cubes = cubes_of(x.len());
        backward::launch(gpu.client(), cubes, CubeDim::new_1d(THREADS), x.arg(), g.arg(), grad_x.arg());
        [Some(grad_x)]
    }
}

#[cube(launch)]
fn forward(x: &[f32], y: &mut [f32]) {
    if ABSOLUTE_POS < y.len() {
        let x = x[ABSOLUTE_POS];
        y[ABSOLUTE_POS] = x * sigmoid(TWICE * x * (1.0f32 + CUBE * x * x));
    }
}

#[cube(launch)]
fn backward(x: &[f32], g: &[f32], grad_x: &mut [f32]) {
    if ABSOLUTE_POS < grad_x.len() {
        // As on the CPU: beyond this the derivative is 0 or 1, and a square could overflow.
        let mut x = x[ABSOLUTE_POS];
        if x > 1.0e4f32 {
            x = 1.0e4f32;
        }
        if x < -1.0e4f32 {
            x = -1.0e4f32;
        }
        let inner = TWICE * x * (1.0f32 + CUBE * x * x);
        let (share, rest) = (sigmoid(inner), sigmoid(-inner));
        let grad = share + x * share * rest * TWICE * (1.0f32 + 3.0f32 * CUBE * x * x);
        grad_x[ABSOLUTE_POS] = g[ABSOLUTE_POS] * grad;
    }
}
