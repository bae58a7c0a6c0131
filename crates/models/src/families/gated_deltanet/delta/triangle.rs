//! Systems (I + L) X = Y with L strictly below the diagonal, by substitution in blocks.

use crate::ops::matrix::{Matrix, MatrixMut, add_product};

/// Rows that are substituted one by one; what lies outside such a block is a matrix product.
const BLOCK: usize = 16;

/// X in place of Y [rows, columns], given -L [rows, rows].
pub fn solve(negative: &[f32], x: &mut [f32], rows: usize) {
    let columns = x.len() / rows;
    let all = Matrix::new(negative, rows, rows, rows);
    for start in (0..rows).step_by(BLOCK) {
        let end = (start + BLOCK).min(rows);
        let (done, rest) = x.split_at_mut(start * columns);
        let block = &mut rest[..(end - start) * columns];
        if start > 0 {
            let left = all.rows(start..end).columns(0..start);
            add_product(
                MatrixMut::new(block, end - start, columns, columns),
                left,
                Matrix::new(done, start, columns, columns),
            );
        }
        substitute(&negative[start * rows + start..], rows, block, columns);
    }
}

/// The rows of one block, from the first.
#[macerator::with_simd]
fn substitute<S: macerator::Simd>(negative: &[f32], rows: usize, block: &mut [f32], columns: usize) {
    for i in 1..block.len() / columns {
        let (above, row) = block.split_at_mut(i * columns);
        for (above, &factor) in above.chunks_exact(columns).zip(&negative[i * rows..]) {
            add_scaled(&mut row[..columns], factor, above);
        }
    }
}

/// X of (I + L)ᵀ X = Y in place of Y.
pub fn solve_transposed(negative: &[f32], x: &mut [f32], rows: usize) {
    let columns = x.len() / rows;
    let all = Matrix::new(negative, rows, rows, rows);
    for start in (0..rows).step_by(BLOCK).rev() {
        let end = (start + BLOCK).min(rows);
        let (rest, done) = x.split_at_mut(end * columns);
        let block = &mut rest[start * columns..];
        if end < rows {
            let below = all.rows(end..rows).columns(start..end).transposed();
            add_product(
                MatrixMut::new(block, end - start, columns, columns),
                below,
                Matrix::new(done, rows - end, columns, columns),
            );
        }
        substitute_transposed(&negative[start * rows + start..], rows, block, columns);
    }
}

/// Solves a block's transposed rows by substitution, from the last to the first.
#[macerator::with_simd]
fn substitute_transposed<S: macerator::Simd>(negative: &[f32], rows: usize, block: &mut [f32], columns: usize) {
    for i in (0..block.len() / columns).rev() {
        let (row, below) = block[i * columns..].split_at_mut(columns);
        for (j, below) in below.chunks_exact(columns).enumerate() {
            add_scaled(row, negative[(i + 1 + j) * rows + i], below);
        }
    }
}

#[inline(always)]
fn add_scaled(into: &mut [f32], factor: f32, x: &[f32]) {
    for (into, x) in into.iter_mut().zip(x) {
        *into += factor * x;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::parameters::{Init, InitRng};

    proptest! {
        #[test]
        fn what_is_solved_multiplies_back(rows in 1usize..70, columns in 1usize..9, seed in 0u64..100) {
            let mut draw = InitRng::seeded(seed);
            let (mut negative, mut y) = (vec![0.0; rows * rows], vec![0.0; rows * columns]);
            Init::Normal(0.2).fill(&mut negative, &mut draw);
            Init::Normal(1.0).fill(&mut y, &mut draw);
            for i in 0..rows {
                negative[i * rows + i..(i + 1) * rows].fill(0.0);
            }
            for transposed in [false, true] {
                let mut x = y.clone();
                if transposed { solve_transposed(&negative, &mut x, rows) } else { solve(&negative, &mut x, rows) }
                let largest = x.iter().fold(1.0f32, |largest, x| largest.max(x.abs()));
                for (i, y) in y.chunks_exact(columns).enumerate() {
                    for (column, &y) in y.iter().enumerate() {
                        let l = |j: usize| if transposed { negative[j * rows + i] } else { negative[i * rows + j] };
                        let products = (0..rows).map(|j| f64::from(-l(j)) * f64::from(x[j * columns + column]));
                        let back = f64::from(x[i * columns + column]) + products.sum::<f64>();
                        prop_assert!((back - f64::from(y)).abs() < 1e-5 * f64::from(largest), "{} {}", back, y);
                    }
                }
            }
        }
    }
}
