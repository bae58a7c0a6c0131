//! Sums in a fixed order: the same bits on every run, and errors that hardly grow with the number of terms.

use cubecl::prelude::*;

use super::{Array, Gpu, THREADS, cubes};

/// Columns of a cube in sums over rows: reads of one row lie next to each other.
const COLUMNS: u32 = 16;

/// Threads of a cube for one column.
const LANES: u32 = THREADS / COLUMNS;

/// Rows that a cube adds.
const ROWS: usize = 1024;

/// Sums over the rows of `x` [rows, width]: [width]. Blocks of 1,024 rows first, then the sums of blocks in the same way.
pub(crate) fn sum_over_rows(gpu: &Gpu, x: &Array, rows: usize, width: usize) -> Array {
    let [sums] = sums_over_rows(gpu, x, rows, [width]);
    sums
}

/// Sums over the rows of `x` [rows, Σ widths], an array [width] for each of at most three widths: the partial gradients of
/// several parameters, from a kernel that would otherwise have more buffers than GPUs grant (eight).
pub(crate) fn sums_over_rows<const N: usize>(gpu: &Gpu, x: &Array, rows: usize, widths: [usize; N]) -> [Array; N] {
    const { assert!(N > 0 && N <= 3, "the kernel knows three places") };
    let width = widths.iter().sum();
    let (mut x, mut rows) = (x.clone(), rows);
    while rows > ROWS {
        let sums = gpu.empty(rows.div_ceil(ROWS) * width);
        sum_blocks(gpu, &x, &sums, [rows, width], [(width, width); 2]);
        (x, rows) = (sums, rows.div_ceil(ROWS));
    }
    let (whole, sums, places) = gpu.empty_parts(widths);
    let part = |index: usize| match places.get(index) {
        Some(&place) => (widths[..index].iter().sum(), place),
        None => (width, width),
    };
    sum_blocks(gpu, &x, &whole, [rows, width], [part(1), part(2)]);
    sums
}

/// Sums over each block of 1,024 rows: [blocks, width]; one block of zeros if there are no rows. The second and the third part
/// of a row have a first column and the place where that goes instead; they are meant for one block.
fn sum_blocks(gpu: &Gpu, x: &Array, sums: &Array, [rows, width]: [usize; 2], parts: [(usize, usize); 2]) {
    let blocks = rows.div_ceil(ROWS).max(1);
    let [second, third] = parts.map(|(column, place)| (column as u32, place as u32));
    sum_blocks_kernel::launch(
        gpu.client(),
        cubes(blocks * width.div_ceil(COLUMNS as usize)),
        CubeDim::new_1d(THREADS),
        x.arg(),
        sums.arg(),
        rows as u32,
        width as u32,
        blocks as u32,
        second.0,
        second.1,
        third.0,
        third.1,
    );
}

#[cube(launch)]
#[allow(clippy::too_many_arguments)]
fn sum_blocks_kernel(
    x: &[f32],
    sums: &mut [f32],
    rows: u32,
    width: u32,
    blocks: u32,
    second: u32,
    second_place: u32,
    third: u32,
    third_place: u32,
) {
    let across = width.div_ceil(COLUMNS);
    let block = CUBE_POS as u32 / across;
    let column = CUBE_POS as u32 % across * COLUMNS + UNIT_POS % COLUMNS;
    let lane = UNIT_POS / COLUMNS;
    let end = u32::min(rows, (block + 1) * ROWS as u32);
    let mut sum = 0.0f32;
    if column < width {
        let mut row = block * ROWS as u32 + lane;
        while row < end {
            sum += x[(row * width + column) as usize];
            row += LANES;
        }
    }
    let mut lanes = Shared::<[f32]>::new_slice(THREADS as usize);
    lanes[UNIT_POS as usize] = sum;
    sync_cube();
    let mut half = comptime!(LANES / 2).runtime();
    while half > 0 {
        if lane < half {
            lanes[UNIT_POS as usize] += lanes[(UNIT_POS + half * COLUMNS) as usize];
        }
        sync_cube();
        half /= 2;
    }
    if lane == 0 && column < width && block < blocks {
        let mut place = block * width + column;
        if column >= third {
            place = third_place + column - third;
        } else if column >= second {
            place = second_place + column - second;
        }
        sums[place as usize] = lanes[UNIT_POS as usize];
    }
}

/// The sum of `value` over a cube of so many threads, a power of two; each thread gets it. Added by halves. All threads of
/// the cube call it.
#[cube]
pub fn sum_of_cube(value: f32, #[comptime] threads: u32) -> f32 {
    let mut partial = Shared::<[f32]>::new_slice(threads as usize);
    partial[UNIT_POS as usize] = value;
    sync_cube();
    let mut half = comptime!(threads / 2).runtime();
    while half > 0 {
        if UNIT_POS < half {
            partial[UNIT_POS as usize] += partial[(UNIT_POS + half) as usize];
        }
        sync_cube();
        half /= 2;
    }
    let sum = partial[0];
    sync_cube();
    sum
}

#[cfg(test)]
mod tests {
    use burn::tensor::Tensor;

    use super::*;
    use crate::gpu::{Operation, apply};
    use crate::testing::{assert_close, gpu, random, values};

    #[derive(Debug)]
    struct SumOverRows {
        rows: usize,
        width: usize,
    }

    impl Operation<1> for SumOverRows {
        fn forward(&self, gpu: &Gpu, [x]: [&Array; 1], _: bool) -> (Array, Vec<Array>) {
            (sum_over_rows(gpu, x, self.rows, self.width), Vec::new())
        }

        fn backward(&self, _: &Gpu, _: [&Array; 1], _: &[Array], _: &Array, _: [bool; 1]) -> [Option<Array>; 1] {
            unreachable!("nothing is tracked here")
        }
    }

    #[test]
    fn sums_over_rows_are_those_of_f64() {
        let Some(gpu) = gpu() else { return };
        for [rows, width] in [[1, 1], [7, 33], [1024, 32], [1025, 70], [1000, 3], [70_000, 1]] {
            let x = random::<2>([rows, width], 3, 1.0) + 1.0;
            let mut expected = vec![0.0f64; width];
            for row in values(&x).chunks_exact(width) {
                expected.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
            }
            let expected: Vec<f32> = expected.iter().map(|&sum| sum as f32).collect();
            let x = Tensor::<1>::from_data(x.flatten::<1>(0, 1).into_data(), &gpu);
            assert_close(&values(&apply([x], SumOverRows { rows, width })), &expected, 1e-6);
        }
    }
}
