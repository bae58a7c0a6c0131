//! The kernels of [`super::gate`] on a GPU: forward an element a thread, backward a channel of some rows.

use cubecl::prelude::*;

use super::Widths;
use crate::gpu::math::{sigmoid, silu_grad};
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of, sums_over_rows};

/// Rows of a thread of the backward pass, which adds the parameters' gradients over them.
const TILE: usize = 64;

/// `y` [rows, heads * ranks * head width], `z` [rows, heads * head width], the parameters [heads, ranks, head width].
#[derive(Debug)]
pub struct Gate {
    pub rows: usize,
    pub widths: Widths,
}

impl Operation<4> for Gate {
    fn forward(&self, gpu: &Gpu, [y, z, mimo_z, mimo_o]: [&Array; 4], _save: bool) -> (Array, Vec<Array>) {
        let out = gpu.empty(z.len());
        forward::launch(
            gpu.client(),
            cubes_of(z.len()),
            CubeDim::new_1d(THREADS),
            y.arg(),
            z.arg(),
            mimo_z.arg(),
            mimo_o.arg(),
            out.arg(),
            self.widths.size.heads as u32,
            self.widths.size.head_width as u32,
            self.widths.ranks,
        );
        (out, Vec::new())
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [y, z, mimo_z, mimo_o]: [&Array; 4],
        _saved: &[Array],
        g: &Array,
        wanted: [bool; 4],
    ) -> [Option<Array>; 4] {
        let Widths { size, ranks, .. } = self.widths;
        let (tiles, parameters) = (self.rows.div_ceil(TILE), size.inner * ranks);
        // In SISO the parameters are constants, and the kernel does not add their gradients.
        let summed = wanted[2] || wanted[3];
        let (grad_y, grad_z) = (gpu.empty(y.len()), gpu.empty(z.len()));
        let partial = gpu.empty(if summed { tiles * 2 * parameters } else { 1 });
        backward::launch(
            gpu.client(),
            cubes_of(tiles * size.inner),
            CubeDim::new_1d(THREADS),
            y.arg(),
            z.arg(),
            mimo_z.arg(),
            mimo_o.arg(),
            g.arg(),
            grad_y.arg(),
            grad_z.arg(),
            partial.arg(),
            self.rows as u32,
            size.heads as u32,
            size.head_width as u32,
            ranks,
            summed,
        );
        if !summed {
            return [Some(grad_y), Some(grad_z), None, None];
        }
        let [grad_mimo_z, grad_mimo_o] = sums_over_rows(gpu, &partial, tiles, [parameters; 2]);
        [Some(grad_y), Some(grad_z), Some(grad_mimo_z), Some(grad_mimo_o)]
    }
}

#[cube(launch)]
fn forward(
    y: &[f32],
    z: &[f32],
    mimo_z: &[f32],
    mimo_o: &[f32],
    out: &mut [f32],
    heads: u32,
    width: u32,
    #[comptime] ranks: usize,
) {
    if ABSOLUTE_POS < out.len() {
        let channel = ABSOLUTE_POS as u32 % width;
        let head_row = ABSOLUTE_POS as u32 / width;
        let head = head_row % heads;
        let z = z[ABSOLUTE_POS];
        let mut sum = 0.0f32;
        #[unroll]
        for rank in 0..ranks {
            let of = ((head * ranks as u32 + rank as u32) * width + channel) as usize;
            let at = ((head_row * ranks as u32 + rank as u32) * width + channel) as usize;
            let gate = z * mimo_z[of];
            sum += mimo_o[of] * y[at] * gate * sigmoid(gate);
        }
        out[ABSOLUTE_POS] = sum;
    }
}

#[cube(launch)]
fn backward(
    y: &[f32],
    z: &[f32],
    mimo_z: &[f32],
    mimo_o: &[f32],
    g: &[f32],
    grad_y: &mut [f32],
    grad_z: &mut [f32],
    partial: &mut [f32],
    rows: u32,
    heads: u32,
    width: u32,
    #[comptime] ranks: usize,
    #[comptime] summed: bool,
) {
    let channel = ABSOLUTE_POS as u32 % width;
    let head = ABSOLUTE_POS as u32 / width % heads;
    let tile = ABSOLUTE_POS as u32 / (width * heads);
    if tile < rows.div_ceil(TILE as u32) {
        let mut scale_z = cubecl::prelude::Array::<f32>::new(ranks);
        let mut scale_o = cubecl::prelude::Array::<f32>::new(ranks);
        let mut sum_z = cubecl::prelude::Array::<f32>::new(ranks);
        let mut sum_o = cubecl::prelude::Array::<f32>::new(ranks);
        #[unroll]
        for rank in 0..ranks {
            let of = ((head * ranks as u32 + rank as u32) * width + channel) as usize;
            scale_z[rank] = mimo_z[of];
            scale_o[rank] = mimo_o[of];
            sum_z[rank] = 0.0f32;
            sum_o[rank] = 0.0f32;
        }
        let mut row = tile * TILE as u32;
        let end = u32::min(row + TILE as u32, rows);
        while row < end {
            let head_row = row * heads + head;
            let at_z = (head_row * width + channel) as usize;
            let z = z[at_z];
            let g = g[at_z];
            let mut grad_gate_z = 0.0f32;
            #[unroll]
            for rank in 0..ranks {
                let at = ((head_row * ranks as u32 + rank as u32) * width + channel) as usize;
                let gate = z * scale_z[rank];
                let s = sigmoid(gate);
                let silu = gate * s;
                let y = y[at];
                grad_y[at] = g * scale_o[rank] * silu;
                let grad = g * scale_o[rank] * y * silu_grad(gate, s);
                grad_gate_z += grad * scale_z[rank];
                if summed {
                    sum_o[rank] += g * y * silu;
                    sum_z[rank] += grad * z;
                }
            }
            grad_z[at_z] = grad_gate_z;
            row += 1;
        }
        if summed {
            #[unroll]
            for rank in 0..ranks {
                let parameters = heads * ranks as u32 * width;
                let of = 2 * tile * parameters + (head * ranks as u32 + rank as u32) * width + channel;
                partial[of as usize] = sum_z[rank];
                partial[(of + parameters) as usize] = sum_o[rank];
            }
        }
    }
}
