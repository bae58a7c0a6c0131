//! The kernels of [`super::cross_entropy`] on a GPU: a cube a row.

use cubecl::prelude::*;

use crate::gpu::{Array, Gpu, Operation, THREADS, cubes, sum_of_cube};
use crate::heads::choice::Targets;

/// The target of a row without one.
const NONE: u32 = u32::MAX;

/// Losses [rows] of logits [rows, outputs].
#[derive(Debug)]
pub struct CrossEntropy {
    pub targets: Targets,
    pub outputs: usize,
}

impl Operation<1> for CrossEntropy {
    fn forward(&self, gpu: &Gpu, [logits]: [&Array; 1], _save: bool) -> (Array, Vec<Array>) {
        let rows = self.targets.rows();
        let targets: Vec<u32> = self.targets.iter().map(|class| class.map_or(NONE, |class| class as u32)).collect();
        let (targets, losses) = (gpu.upload(&targets), gpu.empty(rows));
        let (cube, arrays) = (CubeDim::new_1d(THREADS), (logits.arg(), targets.arg(), losses.arg()));
        let sizes = (rows as u32, self.outputs as u32);
        forward::launch(gpu.client(), cubes(rows), cube, arrays.0, arrays.1, arrays.2, sizes.0, sizes.1);
        (losses, vec![targets])
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [logits]: [&Array; 1],
        saved: &[Array],
        gradient: &Array,
        _: [bool; 1],
    ) -> [Option<Array>; 1] {
        let (rows, grads) = (self.targets.rows(), gpu.empty(logits.len()));
        backward::launch(
            gpu.client(),
            cubes(rows),
            CubeDim::new_1d(THREADS),
            logits.arg(),
            saved[0].arg(),
            gradient.arg(),
            grads.arg(),
            rows as u32,
            self.outputs as u32,
        );
        [Some(grads)]
    }
}

#[cube(launch)]
fn forward(logits: &[f32], targets: &[u32], losses: &mut [f32], rows: u32, outputs: u32) {
    let row = CUBE_POS;
    if row < rows as usize {
        let first = row * outputs as usize;
        let largest = largest_of_row(logits, first, outputs as usize);
        let sum = sum_of_row(logits, first, outputs as usize, largest);
        if UNIT_POS == 0 {
            let mut loss = 0.0f32;
            if targets[row] != NONE {
                loss = largest + f32::ln(sum) - logits[first + targets[row] as usize];
            }
            losses[row] = loss;
        }
    }
}

/// Softmax minus one-hot, times the gradient of the loss; zero in rows without target.
#[cube(launch)]
fn backward(logits: &[f32], targets: &[u32], gradient: &[f32], grads: &mut [f32], rows: u32, outputs: u32) {
    let row = CUBE_POS;
    if row < rows as usize {
        let first = row * outputs as usize;
        let largest = largest_of_row(logits, first, outputs as usize);
        let inverse = 1.0f32 / sum_of_row(logits, first, outputs as usize, largest);
        let target = targets[row];
        let factor = gradient[row];
        let mut i = UNIT_POS;
        while i < outputs {
            let at = first + i as usize;
            let mut grad = 0.0f32;
            if target != NONE {
                grad = f32::exp(logits[at] - largest) * inverse;
                if target == i {
                    grad -= 1.0f32;
                }
                grad *= factor;
            }
            grads[at] = grad;
            i += THREADS;
        }
    }
}

/// The largest logit of a row, for each thread of its cube. Comparisons keep NaN out of it unless it comes first; it shows in the
/// sum.
#[cube]
fn largest_of_row(logits: &[f32], first: usize, outputs: usize) -> f32 {
    let mut partial = Shared::<[f32]>::new_slice(THREADS as usize);
    let mut largest = logits[first];
    let mut i = UNIT_POS as usize;
    while i < outputs {
        let x = logits[first + i];
        if x > largest {
            largest = x;
        }
        i += THREADS as usize;
    }
    let unit = UNIT_POS as usize;
    partial[unit] = largest;
    sync_cube();
    let mut half = comptime!(THREADS as usize / 2).runtime();
    while half > 0 {
        if unit < half && partial[unit + half] > partial[unit] {
            partial[unit] = partial[unit + half];
        }
        sync_cube();
        half /= 2;
    }
    let largest = partial[0];
    sync_cube();
    largest
}

/// Σ e^{x - largest} over a row, for each thread of its cube.
#[cube]
fn sum_of_row(logits: &[f32], first: usize, outputs: usize, largest: f32) -> f32 {
    let mut sum = 0.0f32;
    let mut i = UNIT_POS as usize;
    while i < outputs {
        sum += f32::exp(logits[first + i] - largest);
        i += THREADS as usize;
    }
    sum_of_cube(sum, THREADS)
}
