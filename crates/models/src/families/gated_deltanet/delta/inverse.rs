//! Inverses of unit lower triangles, decomposed into Burn's operations.
//!
//! By forward substitution in blocks, as [`super::triangle`] solves, and never by a series or by doubling: the inverse of
//! a delta rule's triangle has small elements, but powers of it are as large as anything (protocol.md, "Numerics").

use burn::tensor::Tensor;

use crate::ops::product::product;

/// Rows that are substituted one by one, in all blocks at once; what lies outside the blocks is products.
pub const BLOCK: usize = 16;

/// (I + L)⁻¹, with `lower` L [.., .., size, size] zero on the diagonal and above; the size is a multiple of [`BLOCK`].
///
/// The substitution stays outside the graph. One step of Newton's iteration X + X (I - (I + L) X) follows, which has the
/// inverse's own gradient, -Xᵀ G Xᵀ, and takes the last roundings off.
pub fn inverse(lower: Tensor<4>) -> Tensor<4> {
    let plain = if lower.is_autodiff() { lower.clone().inner() } else { lower.clone() };
    let [.., size] = plain.dims();
    let found = substituted(plain);
    let one = Tensor::<2>::eye(size, &found.device()).unsqueeze::<4>();
    let left = (one - found.clone()) - product(lower, found.clone());
    found.clone() + product(found, left)
}

fn substituted(lower: Tensor<4>) -> Tensor<4> {
    let [chunks, parts, size, _] = lower.dims();
    let of = |rows: std::ops::Range<usize>, columns| lower.clone().slice([0..chunks, 0..parts, rows, columns]);
    let zeros = |columns: usize| Tensor::<4>::zeros([chunks, parts, BLOCK, columns], &lower.device());
    let starts = || (0..size).step_by(BLOCK);
    let blocks = Tensor::cat(starts().map(|start| of(start..start + BLOCK, start..start + BLOCK)).collect(), 0);
    let blocks = block_inverses(blocks);
    let mut rows: Vec<Tensor<4>> = Vec::new();
    for (index, start) in starts().enumerate() {
        let block = blocks.clone().slice([index * chunks..(index + 1) * chunks]);
        let mut parts_of_row = Vec::new();
        if start > 0 {
            let above = Tensor::cat(rows.clone(), 2).slice([0..chunks, 0..parts, 0..start, 0..start]);
            parts_of_row.push(-product(block.clone(), product(of(start..start + BLOCK, 0..start), above)));
        }
        parts_of_row.push(block);
        if start + BLOCK < size {
            parts_of_row.push(zeros(size - start - BLOCK));
        }
        rows.push(Tensor::cat(parts_of_row, 3));
    }
    Tensor::cat(rows, 2)
}

/// The inverses of blocks [.., .., BLOCK, BLOCK] of a unit triangle, given without their diagonal: from the first row on,
/// each is taken off those below it.
fn block_inverses(lower: Tensor<4>) -> Tensor<4> {
    let [chunks, parts, ..] = lower.dims();
    let shape = [chunks, parts, BLOCK, BLOCK];
    let one = Tensor::<2>::eye(BLOCK, &lower.device()).unsqueeze::<4>().expand(shape);
    (0..BLOCK - 1).fold(one, |found, row| {
        let column = lower.clone().slice([0..chunks, 0..parts, 0..BLOCK, row..row + 1]);
        let row = found.clone().slice([0..chunks, 0..parts, row..row + 1, 0..BLOCK]);
        found - column * row
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::padding::{fill_pairs, pairs};
    use crate::testing::{assert_finite_differences, random, values};

    fn lower(size: usize, deviation: f64) -> Tensor<4> {
        let all = random::<4>([2, 3, size, size], size as u64, deviation);
        let mask = pairs(size, |i, j| j >= i, &all.device());
        fill_pairs(all, mask, 0.0)
    }

    #[test]
    fn it_multiplies_back() {
        for size in [16, 32, 48, 64] {
            let lower = lower(size, 0.2);
            let one = Tensor::<2>::eye(size, &lower.device()).unsqueeze::<4>();
            let (found, plain) = (inverse(lower.clone()), substituted(lower.clone()));
            for (found, tolerance) in [(found, 1e-6), (plain, 3e-6)] {
                let largest = values(&found).iter().fold(1.0f32, |largest, x| largest.max(x.abs()));
                let back = (one.clone() + lower.clone()).matmul(found) - one.clone();
                let worst = values(&back).iter().fold(0.0f32, |worst, x| worst.max(x.abs()));
                assert!(worst < tolerance * largest * largest, "{size}: {worst} of {largest}");
            }
        }
    }

    /// All twos below the diagonal: the inverse has elements of size 2, its series of powers is off by 10^21.
    #[test]
    fn equal_keys_and_strengths_of_two_lose_no_digits() {
        let mask = pairs(64, |i, j| j >= i, &crate::device::cpu());
        let lower = fill_pairs(Tensor::<4>::ones([1, 1, 64, 64], &crate::device::cpu()) * 2.0, mask, 0.0);
        for (i, row) in values(&inverse(lower)).chunks_exact(64).enumerate() {
            for (j, &found) in row.iter().enumerate() {
                let sign = if (i + j) % 2 == 0 { 2.0 } else { -2.0 };
                let exact = if j < i { sign } else { f32::from(u8::from(i == j)) };
                assert!((found - exact).abs() < 1e-6, "({i}, {j}): {found} for {exact}");
            }
        }
    }

    #[test]
    fn its_gradient_is_its_slope() {
        assert_finite_differences(lower(32, 0.1), |x| {
            let mask = pairs(32, |i, j| j >= i, &x.device());
            inverse(fill_pairs(x, mask, 0.0))
        });
    }
}
