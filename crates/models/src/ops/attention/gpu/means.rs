//! Mean gradients of the scores of each query, which both other kernels of the backward pass need.

use cubecl::prelude::*;

use super::KernelConfig;
use super::tile::{all_rounded, sum};

/// The mean gradient of each query's scores, `means` [batch, heads, time]: the product of its output and its gradient, both
/// [batch, time, width].
#[cube(launch)]
pub fn means<N: Size>(
    out: &[Vector<f32, N>],
    g: &[Vector<f32, N>],
    means: &mut [f32],
    rows: u32,
    time: u32,
    #[comptime] config: KernelConfig,
) {
    // Neighbours have heads of one step.
    let (row, head) = (ABSOLUTE_POS / config.heads, ABSOLUTE_POS % config.heads);
    if ABSOLUTE_POS < rows as usize {
        let mut all = Vector::<f32, N>::new(0.0f32);
        #[unroll(config.unroll)]
        for v in 0..config.vectors {
            let at = ABSOLUTE_POS * config.vectors + v;
            all = all + out[at] * all_rounded::<N>(g[at], config.operand_bits);
        }
        let (game, t) = (row / time as usize, row % time as usize);
        means[(game * config.heads + head) * time as usize + t] = sum::<N>(all);
    }
}
