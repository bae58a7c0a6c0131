//! The kernels of [`super::rms_norm`] on a GPU: a few threads a row.

use cubecl::prelude::*;

use crate::gpu::{Array, Gpu, Operation, Rows, THREADS, cubes, sum_of_lanes, sum_of_rows, sum_over_rows};

/// w ⊙ x / sqrt(mean(x²) + ε) for each row.
#[derive(Debug)]
pub struct RmsNorm {
    pub rows: Rows,
    pub epsilon: f32,
}

impl Operation<2> for RmsNorm {
    /// Keeps the inverse root of each row.
    fn forward(&self, gpu: &Gpu, [x, weight]: [&Array; 2], _save: bool) -> (Array, Vec<Array>) {
        let Rows { count, width, lanes } = self.rows;
        let (y, inverses) = (gpu.empty(x.len()), gpu.empty(count));
        forward::launch(
            gpu.client(),
            cubes(self.rows.cubes()),
            CubeDim::new_1d(THREADS),
            x.arg(),
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
        [x, weight]: [&Array; 2],
        saved: &[Array],
        g: &Array,
        wanted: [bool; 2],
    ) -> [Option<Array>; 2] {
        let Rows { count, width, lanes } = self.rows;
        let sums = self.rows.cubes_in_rounds();
        let (for_x, for_weight) = (gpu.empty(x.len()), gpu.empty(sums * width));
        backward::launch(
            gpu.client(),
            cubes(sums),
            CubeDim::new_1d(THREADS),
            x.arg(),
            weight.arg(),
            saved[0].arg(),
            g.arg(),
            for_x.arg(),
            for_weight.arg(),
            count as u32,
            self.rows.rounds() as u32,
            sums as u32,
            width,
            lanes,
        );
        let for_weight = wanted[1].then(|| sum_over_rows(gpu, &for_weight, sums, width));
        [Some(for_x), for_weight]
    }
}

#[cube(launch)]
fn forward(
    x: &[f32],
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
                y[at] = x[at] * inverse * weight[column];
            }
        }
    }
}

/// dx = r (w ⊙ g) - x r³/d Σ (w ⊙ g ⊙ x), with r the inverse root. Row `cube` of `for_weight` is the sum over the rows that
/// the cube had.
#[cube(launch)]
fn backward(
    x: &[f32],
    weight: &[f32],
    inverses: &[f32],
    g: &[f32],
    for_x: &mut [f32],
    for_weight: &mut [f32],
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
    let mut for_w = cubecl::prelude::Array::<f32>::new(columns);
    #[unroll]
    for i in 0..columns {
        for_w[i] = 0.0f32;
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
                    along += g[at] * weight[column] * x[at];
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
                    let (x, g) = (x[at], g[at]);
                    for_x[at] = g * weight[column] * inverse - x * along;
                    for_w[i] += g * x * inverse;
                }
            }
        }
        row += stride;
    }
    #[unroll]
    for i in 0..columns {
        let sum = sum_of_rows(&mut scratch, for_w[i], lanes);
        let column = UNIT_POS as usize + i * lanes;
        if (UNIT_POS as usize) < lanes && column < width && CUBE_POS < sums as usize {
            for_weight[CUBE_POS * width + column] = sum;
        }
    }
}
