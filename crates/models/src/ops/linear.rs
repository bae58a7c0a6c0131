//! Affine maps in a precision.

#[cfg(feature = "gpu")]
mod gpu;

use burn::tensor::Tensor;

#[cfg(feature = "gpu")]
use super::implementation::{Implementation, implementation};
use super::product::{rounded_product, rounded_result};
use crate::Precision;
use crate::device::is_cpu;

/// Results of a product up to which gemm adds in another order; it also does so for a single row.
const FEW: usize = 256;

/// x Wᵀ + b: `x` [rows, in], `weight` [out, in], `bias` [out] if any; gives [rows, out]. Operands of the three products,
/// one forward and two backward, are rounded as `precision` says, and its results with the bias in them.
///
/// On the CPU, without gradients, a row has the same bits among however many rows.
pub fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Option<Tensor<1>>, precision: Precision) -> Tensor<2> {
    let ([rows, inputs], outputs) = (x.dims(), weight.dims()[0]);
    let fewest = FEW / outputs.max(1) + 2;
    if rows > 0 && rows < fewest && !x.is_autodiff() && is_cpu(&x.device()) {
        let zeros = Tensor::zeros([fewest - rows, inputs], &x.device());
        return linear(Tensor::cat(vec![x, zeros], 0), weight, bias, precision).slice([0..rows]);
    }
    let y = rounded_product(x, weight.transpose(), precision);
    let y = match bias {
        Some(bias) => add_bias(y, rounded_result(bias, precision)),
        None => y,
    };
    rounded_result(y, precision)
}

fn add_bias(y: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    #[cfg(feature = "gpu")]
    if implementation(&y.device()) == Implementation::Gpu {
        let [rows, width] = y.dims();
        return crate::gpu::apply([y.flatten(0, 1), bias], gpu::AddBias { rows, width }).reshape([rows, width]);
    }
    y + bias.unsqueeze::<2>()
}

#[cfg(test)]
mod tests;
