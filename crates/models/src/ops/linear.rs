//! Affine maps in a precision.

use burn::tensor::Tensor;

use super::product::{rounded_product, rounded_result};
use crate::Precision;

/// x Wᵀ + b: `x` [rows, in], `weight` [out, in], `bias` [out] if any; gives [rows, out]. Operands of the three products,
/// one forward and two backward, are rounded as `precision` says, and its results with the bias in them.
pub fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Option<Tensor<1>>, precision: Precision) -> Tensor<2> {
    let y = rounded_product(x, weight.transpose(), precision);
    let y = match bias {
        Some(bias) => y + rounded_result(bias, precision).unsqueeze::<2>(),
        None => y,
    };
    rounded_result(y, precision)
}

#[cfg(test)]
mod tests;
