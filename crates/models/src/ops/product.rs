//! Products of batches of matrices in composed operations.

use burn::tensor::Tensor;

/// a b, matrix by matrix, in full f32: recurrences are never rounded (protocol.md, "Precision").
///
/// The one place where composed operations multiply, so that a device which rounds by itself can be told not to.
pub(crate) fn product<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
    a.matmul(b)
}
