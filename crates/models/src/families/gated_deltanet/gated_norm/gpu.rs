//! The kernels of [`super::gated_norm`] on a GPU: a few threads for each head of a row.

use cubecl::prelude::*;

use crate::gpu::math::{sigmoid, silu_grad};
use crate::gpu::{Array, Gpu, Operation, Rows, THREADS, cubes, sum_of_lanes, sum_of_rows, sum_over_rows};

/// RMS(x; w, ε) ⊙ SiLU(gate), of `x`, the gate and the weight. Each head is a row here.
#[derive(Debug)]
pub struct GatedNorm {
    pub rows: Rows,
    pub epsilon: f32,
}

impl Operation<3> for GatedNorm {
    /// Keeps the inverse root of each row.
    fn forward(&self, gpu: &Gpu, [x, gate, weight]: [&Array; 3], _save: bool) -> (Array, Vec<Array>) {
        let Rows { count, width, lanes } = self.rows;
        let (y, inverses) = (gpu.empty(x.len()), gpu.empty(count));
        forward::launch(
            gpu.client(),
            cubes(self.rows.cubes()),
            CubeDim::new_1d(THREADS),
            x.arg(),
            gate.arg(),
            weight.arg(),
            y.arg(),
            inverses.arg(),
            self.epsilon,
            count as u32,
            width,
            lanes,
        );
        (y, vec![inverses])
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [x, gate, weight]: [&Array; 3],
        saved: &[Array],
        g: &Array,
        wanted: [bool; 3],
    ) -> [Option<Array>; 3] {
        let Rows { count, width, lanes } = self.rows;
        let sums = self.rows.cubes_in_rounds();
        let (grad_x, grad_gate, grad_weight) = (gpu.empty(x.len()), gpu.empty(x.len()), gpu.empty(sums * width));
        backward::launch(
            gpu.client(),
            cubes(sums),
            CubeDim::new_1d(THREADS),
            x.arg(),
            gate.arg(),
            weight.arg(),
            saved[0].arg(),
            g.arg(),
            grad_x.arg(),
            grad_gate.arg(),
            grad_weight.arg(),
            count as u32,
            self.rows.rounds() as u32,
            sums as u32,
            width,
            lanes,
        );
        let grad_weight = wanted[2].then(|| sum_over_rows(gpu, &grad_weight, sums, width));
        [Some(grad_x), Some(grad_gate), grad_weight]
    }
}

#[cube(launch)]
fn forward(
    x: &[f32],
    gate: &[f32],
    weight: &[f32],
    y: &mut [f32],
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
    let mut squares = 0.0f32;
    if here {
        #[unroll]
        for i in 0..columns {
            let column = lane + i * lanes;
            if column < width {
                let x = x[row * width + column];
                squares += x * x;
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
                let at = row * width + column;
                let z = gate[at];
                y[at] = x[at] * inverse * weight[column] * (z * sigmoid(z));
            }
        }
    }
}

/// With what comes through the gate, h = g ⊙ SiLU(gate), and r the inverse root: dx = r (w ⊙ h) - x r³/d Σ (w ⊙ h ⊙ x).
/// Row `cube` of `grad_weight` is the sum over the heads that the cube had.
#[cube(launch)]
fn backward(
    x: &[f32],
    gate: &[f32],
    weight: &[f32],
    inverses: &[f32],
    g: &[f32],
    grad_x: &mut [f32],
    grad_gate: &mut [f32],
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
    let mut through = cubecl::prelude::Array::<f32>::new(columns);
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
            let inverse = inverses[row];
            #[unroll]
            for i in 0..columns {
                let column = lane + i * lanes;
                if column < width {
                    let at = row * width + column;
                    let (x, z, g, w) = (x[at], gate[at], g[at], weight[column]);
                    let s = sigmoid(z);
                    let h = g * z * s;
                    through[i] = h;
                    along += h * w * x;
                    grad_gate[at] = g * (x * inverse) * w * silu_grad(z, s);
                    grad_w[i] += h * (x * inverse);
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
                    grad_x[at] = through[i] * weight[column] * inverse - x[at] * along;
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
