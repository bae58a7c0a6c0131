//! The kernels of [`super::layer_norm`] and of the RMS norm on a GPU: a few threads a row.

use cubecl::prelude::*;

use crate::gpu::{Array, Gpu, Operation, Rows, THREADS, cubes, sum_of_lanes, sum_of_rows};
use crate::gpu::{sum_over_rows, sums_over_rows};

/// w ⊙ (x - mean x) / sqrt(variance x + ε) + b for each row; as if the mean were 0 unless it `is_centred`.
#[derive(Debug)]
pub struct Norm {
    pub rows: Rows,
    pub epsilon: f32,
    pub is_centred: bool,
}

impl Norm {
    /// The output; and the mean and the inverse deviation of each row.
    fn compute(&self, gpu: &Gpu, x: &Array, weight: &Array, bias: Option<&Array>) -> (Array, Vec<Array>) {
        let Rows { count, width, lanes } = self.rows;
        let (y, moments) = (gpu.empty(x.len()), gpu.empty(2 * count));
        forward::launch(
            gpu.client(),
            cubes(self.rows.cubes()),
            CubeDim::new_1d(THREADS),
            x.arg(),
            weight.arg(),
            // Not read if there is none.
            bias.unwrap_or(weight).arg(),
            y.arg(),
            moments.arg(),
            self.epsilon,
            count as u32,
            width,
            lanes,
            self.is_centred,
            bias.is_some(),
        );
        (y, vec![moments])
    }

    /// The gradient of the input, and a row of sums for each of the `usize` cubes: the gradient of the weight, and then that of
    /// the bias if there is one.
    fn grads(&self, gpu: &Gpu, [x, weight, moments, g]: [&Array; 4], has_bias: bool) -> (Array, Array, usize) {
        let Rows { count, width, lanes } = self.rows;
        let cubes_of_sums = self.rows.cubes_in_rounds();
        let parameters = if has_bias { 2 } else { 1 };
        let (grad_x, sums) = (gpu.empty(x.len()), gpu.empty(cubes_of_sums * parameters * width));
        backward::launch(
            gpu.client(),
            cubes(cubes_of_sums),
            CubeDim::new_1d(THREADS),
            x.arg(),
            weight.arg(),
            moments.arg(),
            g.arg(),
            grad_x.arg(),
            sums.arg(),
            count as u32,
            self.rows.rounds() as u32,
            cubes_of_sums as u32,
            width,
            lanes,
            self.is_centred,
            has_bias,
        );
        (grad_x, sums, cubes_of_sums)
    }
}

/// The operation without bias.
impl Operation<2> for Norm {
    fn forward(&self, gpu: &Gpu, [x, weight]: [&Array; 2], _save: bool) -> (Array, Vec<Array>) {
        self.compute(gpu, x, weight, None)
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [x, weight]: [&Array; 2],
        saved: &[Array],
        g: &Array,
        wanted: [bool; 2],
    ) -> [Option<Array>; 2] {
        let (grad_x, sums, rows) = self.grads(gpu, [x, weight, &saved[0], g], false);
        [Some(grad_x), wanted[1].then(|| sum_over_rows(gpu, &sums, rows, self.rows.width))]
    }
}

/// The operation with bias.
impl Operation<3> for Norm {
    fn forward(&self, gpu: &Gpu, [x, weight, bias]: [&Array; 3], _save: bool) -> (Array, Vec<Array>) {
        self.compute(gpu, x, weight, Some(bias))
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [x, weight, _]: [&Array; 3],
        saved: &[Array],
        g: &Array,
        _wanted: [bool; 3],
    ) -> [Option<Array>; 3] {
        let (grad_x, sums, rows) = self.grads(gpu, [x, weight, &saved[0], g], true);
        let [grad_weight, grad_bias] = sums_over_rows(gpu, &sums, rows, [self.rows.width; 2]);
        [Some(grad_x), Some(grad_weight), Some(grad_bias)]
    }
}

#[cube(launch)]
#[allow(clippy::too_many_arguments)]
fn forward(
    x: &[f32],
    weight: &[f32],
    bias: &[f32],
    y: &mut [f32],
    moments: &mut [f32],
    epsilon: f32,
    rows: u32,
    #[comptime] width: usize,
    #[comptime] lanes: usize,
    #[comptime] is_centred: bool,
    #[comptime] has_bias: bool,
) {
    let columns = comptime!(width.div_ceil(lanes));
    let lane = UNIT_POS as usize % lanes;
    let row = ABSOLUTE_POS / lanes;
    let here = row < rows as usize;
    let mut scratch = Shared::<[f32]>::new_slice(THREADS as usize);
    let mut mean = 0.0f32;
    if comptime!(is_centred) {
        let mut sum = 0.0f32;
        if here {
            #[unroll]
            for i in 0..columns {
                let column = lane + i * lanes;
                if column < width {
                    sum += x[row * width + column];
                }
            }
        }
        mean = sum_of_lanes(&mut scratch, sum, lanes) / comptime!(width as f32);
    }
    let mut squares = 0.0f32;
    if here {
        #[unroll]
        for i in 0..columns {
            let column = lane + i * lanes;
            if column < width {
                let centred = x[row * width + column] - mean;
                squares += centred * centred;
            }
        }
    }
    let squares = sum_of_lanes(&mut scratch, squares, lanes);
    if here {
        let inverse = 1.0f32 / f32::sqrt(squares / comptime!(width as f32) + epsilon);
        if lane == 0 {
            moments[2 * row] = mean;
            moments[2 * row + 1] = inverse;
        }
        #[unroll]
        for i in 0..columns {
            let column = lane + i * lanes;
            if column < width {
                let at = row * width + column;
                let mut scaled = (x[at] - mean) * inverse * weight[column];
                if comptime!(has_bias) {
                    scaled += bias[column];
                }
                y[at] = scaled;
            }
        }
    }
}

/// With n the normalised row and s = w ⊙ g: dx = r (s - mean s - n mean(s ⊙ n)), r the inverse deviation; without
/// mean s unless it is centred. Row `cube` of `sums` has Σ g ⊙ n, and then Σ g if there is a bias, over the rows that
/// the cube had.
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
fn backward(
    x: &[f32],
    weight: &[f32],
    moments: &[f32],
    g: &[f32],
    grad_x: &mut [f32],
    sums: &mut [f32],
    rows: u32,
    rounds: u32,
    cubes_of_sums: u32,
    #[comptime] width: usize,
    #[comptime] lanes: usize,
    #[comptime] is_centred: bool,
    #[comptime] has_bias: bool,
) {
    let columns = comptime!(width.div_ceil(lanes));
    let lane = UNIT_POS as usize % lanes;
    let stride = cubes_of_sums as usize * comptime!(THREADS as usize / lanes);
    let mut scratch = Shared::<[f32]>::new_slice(THREADS as usize);
    let mut grad_weight = cubecl::prelude::Array::<f32>::new(columns);
    let mut grad_bias = cubecl::prelude::Array::<f32>::new(columns);
    #[unroll]
    for i in 0..columns {
        grad_weight[i] = 0.0f32;
        grad_bias[i] = 0.0f32;
    }
    let mut row = ABSOLUTE_POS / lanes;
    for _ in 0..rounds {
        let here = CUBE_POS < cubes_of_sums as usize && row < rows as usize;
        let mut mean = 0.0f32;
        let mut inverse = 0.0f32;
        let mut shift = 0.0f32;
        let mut along = 0.0f32;
        if here {
            mean = moments[2 * row];
            inverse = moments[2 * row + 1];
            #[unroll]
            for i in 0..columns {
                let column = lane + i * lanes;
                if column < width {
                    let at = row * width + column;
                    let scaled = g[at] * weight[column];
                    shift += scaled;
                    along += scaled * (x[at] - mean) * inverse;
                }
            }
        }
        if comptime!(is_centred) {
            shift = sum_of_lanes(&mut scratch, shift, lanes) / comptime!(width as f32);
        } else {
            shift = 0.0f32;
        }
        let along = sum_of_lanes(&mut scratch, along, lanes) / comptime!(width as f32);
        if here {
            #[unroll]
            for i in 0..columns {
                let column = lane + i * lanes;
                if column < width {
                    let at = row * width + column;
                    let (normal, g) = ((x[at] - mean) * inverse, g[at]);
                    grad_x[at] = (g * weight[column] - shift - normal * along) * inverse;
                    grad_weight[i] += g * normal;
                    grad_bias[i] += g;
                }
            }
        }
        row += stride;
    }
    let parameters = comptime!(if has_bias { 2 } else { 1 });
    #[unroll]
    for i in 0..columns {
        let column = UNIT_POS as usize + i * lanes;
        let writes = (UNIT_POS as usize) < lanes && column < width && CUBE_POS < cubes_of_sums as usize;
        let at = CUBE_POS * comptime!(parameters * width) + column;
        let sum = sum_of_rows(&mut scratch, grad_weight[i], lanes);
        if writes {
            sums[at] = sum;
        }
        if comptime!(has_bias) {
            let sum = sum_of_rows(&mut scratch, grad_bias[i], lanes);
            if writes {
                sums[at + width] = sum;
            }
        }
    }
}
