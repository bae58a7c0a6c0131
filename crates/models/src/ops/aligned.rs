//! Products of matrices whose rows would not begin at whole vectors.

use burn::tensor::Tensor;

/// Elements that widths are padded to a multiple of: rows then begin at whole 16 bytes in any type of float. Where they do
/// not, Burn's choice among its kernels for GPUs has been wrong before (burn #5352); the head's 1,878 logits are such rows.
pub(crate) const VECTOR: usize = 16;

/// Returns the product that `multiply` gives for a [.., rows, inner] and b [.., inner, columns], which it gets with
/// zeros at the ends of both axes of b and the last of a.
pub(crate) fn aligned<const D: usize>(
    a: Tensor<D>,
    b: Tensor<D>,
    multiply: impl FnOnce(Tensor<D>, Tensor<D>) -> Tensor<D>,
) -> Tensor<D> {
    let columns = b.dims()[D - 1];
    let y = multiply(widened(a, D - 1), widened(widened(b, D - 2), D - 1));
    if y.dims()[D - 1] == columns { y } else { y.slice_dim(D - 1, 0..columns) }
}

fn widened<const D: usize>(x: Tensor<D>, axis: usize) -> Tensor<D> {
    let mut shape = x.dims();
    let more = shape[axis].next_multiple_of(VECTOR) - shape[axis];
    if more == 0 {
        return x;
    }
    shape[axis] = more;
    let zeros = Tensor::zeros(shape, &x.device());
    Tensor::cat(vec![x, zeros], axis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, random, values};

    #[test]
    fn nothing_is_changed_but_the_sizes_that_are_multiplied() {
        for (rows, inner, columns) in [(3, 16, 32), (5, 129, 7), (2, 1, 1878), (7, 32, 17)] {
            let a = random::<3>([2, rows, inner], 1, 1.0).autodiff().require_grad();
            let b = random::<3>([2, inner, columns], 2, 1.0).autodiff().require_grad();
            let pull = random::<3>([2, rows, columns], 3, 1.0);
            let found = aligned(a.clone(), b.clone(), |a, b| {
                let sizes = [a.dims()[2], b.dims()[1], b.dims()[2]];
                assert!(sizes.iter().all(|size| size.is_multiple_of(VECTOR)), "{sizes:?}");
                a.matmul(b)
            });
            let truth = a.clone().matmul(b.clone());
            assert_close(&values(&found), &values(&truth), 1e-5);
            let (found, truth) = ((found * pull.clone()).sum().backward(), (truth * pull).sum().backward());
            for leaf in [a, b] {
                assert_close(&values(&leaf.grad(&found).unwrap()), &values(&leaf.grad(&truth).unwrap()), 1e-5);
            }
        }
    }
}
