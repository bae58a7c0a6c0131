//! Sums over rows of two arrays in one: the partial gradients of two parameters, from a kernel that would otherwise have
//! more buffers than GPUs grant (eight).

use cubecl::prelude::*;

use super::{Array, Gpu, THREADS, cubes_of, sum_over_rows};

/// Sums over the rows of `x` [rows, first + second]: [first] and [second].
pub(crate) fn two_sums_over_rows(gpu: &Gpu, x: &Array, rows: usize, [first, second]: [usize; 2]) -> [Array; 2] {
    let sums = sum_over_rows(gpu, x, rows, first + second);
    let parts = [first, second].map(|width| gpu.empty(width));
    let threads = CubeDim::new_1d(THREADS);
    let [a, b] = &parts;
    split::launch(gpu.client(), cubes_of(first + second), threads, sums.arg(), a.arg(), b.arg(), first as u32);
    parts
}

#[cube(launch)]
fn split(x: &[f32], a: &mut [f32], b: &mut [f32], first: u32) {
    let first = first as usize;
    if ABSOLUTE_POS < first {
        a[ABSOLUTE_POS] = x[ABSOLUTE_POS];
    } else if ABSOLUTE_POS < x.len() {
        b[ABSOLUTE_POS - first] = x[ABSOLUTE_POS];
    }
}
