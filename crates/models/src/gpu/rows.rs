//! Rows of an array, each with a few threads side by side: kernels that need a sum over each row.

use cubecl::prelude::*;

use super::THREADS;

/// The rows of an array and their threads. A row has `lanes` threads, of which each has every `lanes`-th column; a cube
/// has `THREADS / lanes` rows at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub count: usize,
    pub width: usize,
    /// A power of two, at most [`THREADS`].
    pub lanes: usize,
}

impl Rows {
    /// About four columns a thread.
    pub fn new(count: usize, width: usize) -> Self {
        Rows { count, width, lanes: width.div_ceil(4).next_power_of_two().clamp(8, THREADS as usize) }
    }

    /// Cubes that have all rows once.
    pub fn cubes(&self) -> usize {
        self.count.div_ceil(THREADS as usize / self.lanes)
    }

    /// Cubes that go over the rows in rounds; each leaves a row of sums over those that it had. At least one, so that
    /// there are sums (of 0) without rows. They depend on the number of rows alone, and so does the order of addition.
    pub fn cubes_in_rounds(&self) -> usize {
        self.cubes().clamp(1, 512)
    }

    /// Rounds of [`Rows::cubes_in_rounds`].
    pub fn rounds(&self) -> usize {
        self.cubes().div_ceil(self.cubes_in_rounds())
    }
}

/// The sum of `value` over the lanes of a row, added by halves; each of them gets it. All threads of the cube call it;
/// `scratch` has a place for each.
#[cube]
pub(crate) fn sum_of_lanes(scratch: &mut Shared<[f32]>, value: f32, #[comptime] lanes: usize) -> f32 {
    let at = UNIT_POS as usize;
    let lane = at % lanes;
    scratch[at] = value;
    sync_cube();
    let mut half = comptime!(lanes / 2).runtime();
    while half > 0 {
        if lane < half {
            scratch[at] += scratch[at + half];
        }
        sync_cube();
        half /= 2;
    }
    let sum = scratch[at - lane];
    sync_cube();
    sum
}

/// The sum of `value` over the rows that a cube has at a time, lane by lane; the threads of the first row get it. Called
/// like [`sum_of_lanes`].
#[cube]
pub(crate) fn sum_of_rows(scratch: &mut Shared<[f32]>, value: f32, #[comptime] lanes: usize) -> f32 {
    let at = UNIT_POS as usize;
    scratch[at] = value;
    sync_cube();
    let mut half = comptime!(THREADS as usize / 2).runtime();
    while half >= lanes {
        if at < half {
            scratch[at] += scratch[at + half];
        }
        sync_cube();
        half /= 2;
    }
    let sum = scratch[at % lanes];
    sync_cube();
    sum
}
