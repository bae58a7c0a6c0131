//! The gradient of a table from those of the rows that were looked up in it.
//!
//! Rows are sorted by token on the host, and a cube adds those of one token in that order: the same bits on every run, and
//! nothing is scattered.

use cubecl::prelude::*;
use cwm_models::gpu::{Array, Gpu, THREADS, cubes};

/// Columns of a cube: reads of one row lie next to each other.
const COLUMNS: u32 = 32;
/// Threads of a cube for one column.
const LANES: u32 = THREADS / COLUMNS;
/// Rows that a thread adds before it adds their sum to the others.
const BLOCK: u32 = 16;

/// The rows of each token, on a GPU.
pub struct RowsByToken {
    /// For each token the place of its first row below, and the end; then the rows, sorted by token.
    order: Array,
    tokens: usize,
}

impl RowsByToken {
    /// The rows with these ids, but for those of `left_out`, in a table of so many `tokens`.
    pub fn new(gpu: &Gpu, ids: &[u32], tokens: usize, left_out: Option<usize>) -> Self {
        RowsByToken { order: gpu.upload(&order(ids, tokens, left_out)), tokens }
    }

    /// Writes the sums of the `rows` [rows, width] of each token to `into`, the table's place beginning at `place`; or adds
    /// them to what is there, if `add`.
    pub fn sum(&self, gpu: &Gpu, rows: &Array, width: usize, into: &Array, place: usize, add: bool) {
        let count = cubes(self.tokens * width.div_ceil(COLUMNS as usize));
        sum_rows::launch(
            gpu.client(),
            count,
            CubeDim::new_1d(THREADS),
            rows.arg(),
            self.order.arg(),
            into.arg(),
            self.tokens as u32,
            width as u32,
            place as u32,
            u32::from(add),
        );
    }
}

fn order(ids: &[u32], tokens: usize, left_out: Option<usize>) -> Vec<u32> {
    let wanted = |id: u32| Some(id as usize) != left_out;
    let first = tokens as u32 + 1;
    let mut order = vec![0; tokens + 1];
    for &id in ids.iter().filter(|&&id| wanted(id)) {
        order[id as usize + 1] += 1;
    }
    order[0] = first;
    for token in 0..tokens {
        order[token + 1] += order[token];
    }
    let mut next = order.clone();
    let end = order[tokens];
    order.resize(end as usize, 0);
    for (row, &id) in ids.iter().enumerate().filter(|&(_, &id)| wanted(id)) {
        let place = &mut next[id as usize];
        order[*place as usize] = row as u32;
        *place += 1;
    }
    order
}

#[cube(launch)]
fn sum_rows(rows: &[f32], order: &[u32], into: &mut [f32], tokens: u32, width: u32, place: u32, add: u32) {
    let across = width.div_ceil(COLUMNS);
    let token = CUBE_POS as u32 / across;
    let column = CUBE_POS as u32 % across * COLUMNS + UNIT_POS % COLUMNS;
    let lane = UNIT_POS / COLUMNS;
    let mut sum = 0.0f32;
    if token < tokens && column < width {
        let end = order[token as usize + 1];
        let mut at = order[token as usize] + lane;
        while at < end {
            let stop = u32::min(end, at + BLOCK * LANES);
            let mut part = 0.0f32;
            while at < stop {
                part += rows[(order[at as usize] * width + column) as usize];
                at += LANES;
            }
            sum += part;
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
    if lane == 0 && token < tokens && column < width {
        let here = (place + token * width + column) as usize;
        let mut value = lanes[UNIT_POS as usize];
        if add == 1u32 {
            value += into[here];
        }
        into[here] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_by_token_in_their_order() {
        let sorted = order(&[3, 1, 3, 2, 3, 1], 5, Some(2));
        assert_eq!(sorted[..6], [6, 6, 8, 8, 11, 11]);
        assert_eq!(sorted[6..], [1, 5, 0, 2, 4]);
        assert_eq!(order(&[], 2, None), [3, 3, 3]);
    }
}
