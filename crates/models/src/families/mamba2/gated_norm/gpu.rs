//! The kernels of [`super::gated_norm`] on a GPU: a few threads a row.

use cubecl::prelude::*;

use crate::gpu::math::{sigmoid, silu_grad};
use crate::gpu::{Array, Gpu, Operation, Rows, THREADS, cubes, sum_of_lanes, sum_of_rows, sum_over_rows};

/// The norm of y ⊙ SiLU(z) for each row, of `y`, `z` and the weight.
#[derive(Debug)]
pub struct GatedNorm {
    pub rows: Rows,
    pub epsilon: f32,
}

impl Operation<3> for GatedNorm {
    /// Keeps the inverse root of each row.
    fn forward(&self, gpu: &Gpu, [y, z, weight]: [&Array; 3], _save: bool) -> (Array, Vec<Array>) {
        let Rows { count, width, lanes } = self.rows;
        let (out, inverses) = (gpu.empty(y.len()), gpu.empty(count));
        forward::launch(
            gpu.client(),
            cubes(self.rows.cubes()),
            CubeDim::new_1d(THREADS),
            y.arg(),
            z.arg(),
            weight.arg(),
            out.arg(),
            inverses.arg(),
            self.epsilon,
            count as u32,
            width,
            lanes,
        );
        (out, vec![inverses])
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [y, z, weight]: [&Array; 3],
        saved: &[Array],
        g: &Array,
        wanted: [bool; 3],
    ) -> [Option<Array>; 3] {
        let Rows { count, width, lanes } = self.rows;
        let sums = self.rows.cubes_in_rounds();
        let (grad_y, grad_z, grad_weight) = (gpu.empty(y.len()), gpu.empty(z.len()), gpu.empty(sums * width));
        backward::launch(
            gpu.client(),
            cubes(sums),
            CubeDim::new_1d(THREADS),
            y.arg(),
            z.arg(),
            weight.arg(),
            saved[0].arg(),
            g.arg(),
            grad_y.arg(),
            grad_z.arg(),
            grad_weight.arg(),
            count as u32,
            self.rows.rounds() as u32,
            sums as u32,
            width,
            lanes,
        );
        let grad_weight = wanted[2].then(|| sum_over_rows(gpu, &grad_weight, sums, width));
        [Some(grad_y), Some(grad_z), grad_weight]
    }
}

#[cube(launch)]
fn forward(
    y: &[f32],
    z: &[f32],
    weight: &[f32],
    out: &mut [f32],
    inverses: &mut [f32],
    epsilon: f32,
    rows: u32,
    #[comptime] width: usize,
    #[comptime] lanes: usize,
) {
    let columns = comptime!(width.div_ceil(lanes));
    let lane = UNIT_POS as usize % lanes;
    let row = ABSOLUTE_POS / lanes;
    let here = row < rows as usize;
    let mut scratch = Shared::<[f32]>::new_slice(THREADS as usize);
    let mut gated = cubecl::prelude::Array::<f32>::new(columns);
    let mut squares = 0.0f32;
    if here {
        #[unroll]
        for i in 0..columns {
            let column = lane + i * lanes;
            if column < width {
                let at = row * width + column;
                let u = y[at] * z[at] * sigmoid(z[at]);
                gated[i] = u;
                squares += u * u;
            }
        }
    }
    let squares = sum_of_lanes(&mut scratch, squares, lanes);
    if here {
        let inverse = 1.0f32 / f32::sqrt(squares / comptime!(width as f32) + epsilon);
        if lane == 0 {
            inverses[row] = inverse;
        }
        #[unroll]
        for i in 0..columns {
            let column = lane + i * lanes;
            if column < width {
                out[row * width + column] = gated[i] * inverse * weight[column];
            }
        }
    }
}

/// Computes the gradients as in the plain norm, with u = y ⊙ SiLU(z) what is normed and r the inverse root: du = r (w ⊙ g) -
/// u r³/d Σ (w ⊙ g ⊙ u). Row `cube` of `grad_weight` is the sum over the rows that the cube had.
#[cube(launch)]
fn backward(
    y: &[f32],
    z: &[f32],
    weight: &[f32],
    inverses: &[f32],
    g: &[f32],
    grad_y: &mut [f32],
    grad_z: &mut [f32],
    grad_weight: &mut [f32],
    rows: u32,
    rounds: u32,
    sums: u32,
    #[comptime] width: usize,
    #[comptime] lanes: usize,
) {
    let columns = comptime!(width.div_ceil(lanes));
    let lane = UNIT_POS as usize % lanes;
    let stride = sums as usize * comptime!(THREADS as usize / lanes);
    let mut scratch = Shared::<[f32]>::new_slice(THREADS as usize);
    let mut sigmoids = cubecl::prelude::Array::<f32>::new(columns);
    let mut grad_w = cubecl::prelude::Array::<f32>::new(columns);
    #[unroll]
    for i in 0..columns {
        grad_w[i] = 0.0f32;
    }
    let mut row = ABSOLUTE_POS / lanes;
    for _ in 0..rounds {
        let here = CUBE_POS < sums as usize && row < rows as usize;
        let mut along = 0.0f32;
        if here {
            #[unroll]
            for i in 0..columns {
                let column = lane + i * lanes;
                if column < width {
                    let at = row * width + column;
                    let s = sigmoid(z[at]);
                    sigmoids[i] = s;
                    along += g[at] * weight[column] * (y[at] * z[at] * s);
                }
            }
        }
        let along = sum_of_lanes(&mut scratch, along, lanes);
        if here {
            let inverse = inverses[row];
            let along = along * inverse * inverse * inverse / comptime!(width as f32);
            #[unroll]
            for i in 0..columns {
                let column = lane + i * lanes;
                if column < width {
                    let at = row * width + column;
                    let (y, z, g, s) = (y[at], z[at], g[at], sigmoids[i]);
                    let u = y * z * s;
                    let grad = g * weight[column] * inverse - u * along;
                    grad_y[at] = grad * z * s;
                    grad_z[at] = grad * y * silu_grad(z, s);
                    grad_w[i] += g * u * inverse;
                }
            }
        }
        row += stride;
    }
    #[unroll]
    for i in 0..columns {
        let sum = sum_of_rows(&mut scratch, grad_w[i], lanes);
        let column = UNIT_POS as usize + i * lanes;
        if (UNIT_POS as usize) < lanes && column < width && CUBE_POS < sums as usize {
            grad_weight[CUBE_POS * width + column] = sum;
        }
    }
}
