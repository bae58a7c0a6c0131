//! The kernels of [`super::increments`] on a GPU: an element a thread.

use std::sync::Arc;

use cubecl::prelude::*;

use super::SCALE;
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of};

/// Increments [batch * time, 1 + width] of the rows of u [batch * time, width].
#[derive(Debug)]
pub struct Increments {
    pub time: usize,
    pub lengths: Arc<[usize]>,
    pub width: usize,
}

impl Increments {
    fn rows(&self) -> usize {
        self.lengths.len() * self.time
    }
}

impl Operation<1> for Increments {
    fn forward(&self, gpu: &Gpu, [u]: [&Array; 1], _save: bool) -> (Array, Vec<Array>) {
        let (z, lengths) = (gpu.empty(self.rows() * (self.width + 1)), gpu.lengths(&self.lengths));
        let (cubes, threads) = (cubes_of(z.len()), CubeDim::new_1d(THREADS));
        let [time, width] = [self.time, self.width].map(|size| size as u32);
        forward::launch(gpu.client(), cubes, threads, u.arg(), lengths.arg(), z.arg(), time, width);
        (z, Vec::new())
    }

    fn backward(&self, gpu: &Gpu, _: [&Array; 1], _: &[Array], g: &Array, _: [bool; 1]) -> [Option<Array>; 1] {
        let (grad_u, lengths) = (gpu.empty(self.rows() * self.width), gpu.lengths(&self.lengths));
        let (cubes, threads) = (cubes_of(grad_u.len()), CubeDim::new_1d(THREADS));
        let [time, width] = [self.time, self.width].map(|size| size as u32);
        backward::launch(gpu.client(), cubes, threads, g.arg(), lengths.arg(), grad_u.arg(), time, width);
        [Some(grad_u)]
    }
}

#[cube(launch)]
fn forward(u: &[f32], lengths: &[u32], z: &mut [f32], time: u32, width: u32) {
    if ABSOLUTE_POS < z.len() {
        let (time, width) = (time as usize, width as usize);
        let (row, column) = (ABSOLUTE_POS / (width + 1), ABSOLUTE_POS % (width + 1));
        let (game, t) = (row / time, row % time);
        let mut increment = 0.0f32;
        if t < lengths[game] as usize {
            if column == 0 {
                increment = SCALE.runtime();
            } else {
                let at = row * width + column - 1;
                let mut last = 0.0f32;
                if t > 0 {
                    last = u[at - width];
                }
                increment = (u[at] - last) * SCALE;
            }
        }
        z[ABSOLUTE_POS] = increment;
    }
}

#[cube(launch)]
fn backward(g: &[f32], lengths: &[u32], grad_u: &mut [f32], time: u32, width: u32) {
    if ABSOLUTE_POS < grad_u.len() {
        let (time, width) = (time as usize, width as usize);
        let (row, column) = (ABSOLUTE_POS / width, ABSOLUTE_POS % width);
        let (game, t) = (row / time, row % time);
        let steps = lengths[game] as usize;
        let mut grad = 0.0f32;
        if t < steps {
            let at = row * (width + 1) + column + 1;
            let mut next = 0.0f32;
            if t + 1 < steps {
                next = g[at + width + 1];
            }
            grad = (g[at] - next) * SCALE;
        }
        grad_u[ABSOLUTE_POS] = grad;
    }
}
