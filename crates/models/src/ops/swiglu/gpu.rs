//! The kernels of [`super::swiglu`] and [`super::silu_gate`] on a GPU: an element of the output a thread.

use cubecl::prelude::*;

use super::Gate;
use crate::gpu::math::{sigmoid, silu_slope};
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of};

/// SiLU(gate) ⊙ value for the halves of rows of 2 * `width`.
#[derive(Debug)]
pub struct SwiGlu {
    pub width: usize,
    pub gate: Gate,
}

impl SwiGlu {
    /// Where gate and value begin in a row.
    fn starts(&self) -> (usize, usize) {
        if self.gate == Gate::First { (0, self.width) } else { (self.width, 0) }
    }
}

impl Operation<1> for SwiGlu {
    fn forward(&self, gpu: &Gpu, [x]: [&Array; 1], _save: bool) -> (Array, Vec<Array>) {
        let (cubes, (gate, value)) = (cubes_of(x.len() / 2), self.starts());
        let y = gpu.empty(x.len() / 2);
        let threads = CubeDim::new_1d(THREADS);
        halves_forward::launch(gpu.client(), cubes, threads, x.arg(), y.arg(), self.width, gate, value);
        (y, Vec::new())
    }

    fn backward(&self, gpu: &Gpu, [x]: [&Array; 1], _saved: &[Array], g: &Array, _: [bool; 1]) -> [Option<Array>; 1] {
        let (cubes, (gate, value)) = (cubes_of(x.len() / 2), self.starts());
        let for_x = gpu.empty(x.len());
        let (threads, [x, g, into]) = (CubeDim::new_1d(THREADS), [x, g, &for_x].map(Array::arg));
        halves_backward::launch(gpu.client(), cubes, threads, x, g, into, self.width, gate, value);
        [Some(for_x)]
    }
}

/// SiLU(gate) ⊙ value for two arrays.
#[derive(Debug)]
pub struct SiluGate;

impl Operation<2> for SiluGate {
    fn forward(&self, gpu: &Gpu, [gate, value]: [&Array; 2], _save: bool) -> (Array, Vec<Array>) {
        let y = gpu.empty(gate.len());
        let (threads, [gate, value, into]) = (CubeDim::new_1d(THREADS), [gate, value, &y].map(Array::arg));
        forward::launch(gpu.client(), cubes_of(y.len()), threads, gate, value, into);
        (y, Vec::new())
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [gate, value]: [&Array; 2],
        _saved: &[Array],
        g: &Array,
        _: [bool; 2],
    ) -> [Option<Array>; 2] {
        let (for_gate, for_value) = (gpu.empty(g.len()), gpu.empty(g.len()));
        let [gate, value, into_gate, into_value] = [gate, value, &for_gate, &for_value].map(Array::arg);
        let threads = CubeDim::new_1d(THREADS);
        backward::launch(gpu.client(), cubes_of(g.len()), threads, gate, value, g.arg(), into_gate, into_value);
        [Some(for_gate), Some(for_value)]
    }
}

#[cube(launch)]
fn halves_forward(
    x: &[f32],
    y: &mut [f32],
    #[comptime] width: usize,
    #[comptime] gate: usize,
    #[comptime] value: usize,
) {
    if ABSOLUTE_POS < y.len() {
        let row = ABSOLUTE_POS / width * (2 * width) + ABSOLUTE_POS % width;
        y[ABSOLUTE_POS] = gated(x[row + gate], x[row + value]);
    }
}

#[cube(launch)]
fn halves_backward(
    x: &[f32],
    g: &[f32],
    for_x: &mut [f32],
    #[comptime] width: usize,
    #[comptime] gate: usize,
    #[comptime] value: usize,
) {
    if ABSOLUTE_POS < g.len() {
        let row = ABSOLUTE_POS / width * (2 * width) + ABSOLUTE_POS % width;
        let (z, g) = (x[row + gate], g[ABSOLUTE_POS]);
        let s = sigmoid(z);
        for_x[row + gate] = g * x[row + value] * silu_slope(z, s);
        for_x[row + value] = g * z * s;
    }
}

#[cube(launch)]
fn forward(gate: &[f32], value: &[f32], y: &mut [f32]) {
    if ABSOLUTE_POS < y.len() {
        y[ABSOLUTE_POS] = gated(gate[ABSOLUTE_POS], value[ABSOLUTE_POS]);
    }
}

#[cube(launch)]
fn backward(gate: &[f32], value: &[f32], g: &[f32], for_gate: &mut [f32], for_value: &mut [f32]) {
    if ABSOLUTE_POS < g.len() {
        let (z, g) = (gate[ABSOLUTE_POS], g[ABSOLUTE_POS]);
        let s = sigmoid(z);
        for_gate[ABSOLUTE_POS] = g * value[ABSOLUTE_POS] * silu_slope(z, s);
        for_value[ABSOLUTE_POS] = g * z * s;
    }
}

/// SiLU(gate) value.
#[cube]
fn gated(gate: f32, value: f32) -> f32 {
    gate * sigmoid(gate) * value
}
