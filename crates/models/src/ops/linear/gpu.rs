//! The bias of [`super::linear`] on a GPU: an element a thread; its gradient is summed over rows in a fixed order.

use cubecl::prelude::*;

use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of, sum_over_rows};

/// Adds a bias [width] to each row of [rows, width].
#[derive(Debug)]
pub struct AddBias {
    pub rows: usize,
    pub width: usize,
}

impl Operation<2> for AddBias {
    fn forward(&self, gpu: &Gpu, [x, bias]: [&Array; 2], _save: bool) -> (Array, Vec<Array>) {
        let y = gpu.empty(x.len());
        let (cubes, threads) = (cubes_of(x.len()), CubeDim::new_1d(THREADS));
        add::launch(gpu.client(), cubes, threads, x.arg(), bias.arg(), y.arg(), self.width as u32);
        (y, Vec::new())
    }

    fn backward(
        &self,
        gpu: &Gpu,
        _inputs: [&Array; 2],
        _saved: &[Array],
        g: &Array,
        [_, of_bias]: [bool; 2],
    ) -> [Option<Array>; 2] {
        [Some(g.clone()), of_bias.then(|| sum_over_rows(gpu, g, self.rows, self.width))]
    }
}

#[cube(launch)]
fn add(x: &[f32], bias: &[f32], y: &mut [f32], width: u32) {
    if ABSOLUTE_POS < y.len() {
        y[ABSOLUTE_POS] = x[ABSOLUTE_POS] + bias[ABSOLUTE_POS % width as usize];
    }
}
