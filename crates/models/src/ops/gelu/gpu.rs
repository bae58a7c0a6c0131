//! The kernels of [`super::gelu`] on a GPU: an element a thread.

use cubecl::prelude::*;

use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of};

/// x Φ(x), element by element.
#[derive(Debug)]
pub struct Gelu;

impl Operation<1> for Gelu {
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
        y[ABSOLUTE_POS] = x * below(x);
    }
}

#[cube(launch)]
fn backward(x: &[f32], g: &[f32], grad_x: &mut [f32]) {
    if ABSOLUTE_POS < grad_x.len() {
        let x = x[ABSOLUTE_POS];
        let density = 0.398_942_28f32 * f32::exp(-0.5f32 * x * x);
        grad_x[ABSOLUTE_POS] = g[ABSOLUTE_POS] * (below(x) + x * density);
    }
}

/// Φ(x), the normal distribution.
#[cube]
fn below(x: f32) -> f32 {
    0.5f32 * (1.0f32 + Erf::erf(x * 0.707_106_77f32))
}
