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

/// Computes [`linear`] for the outputs of one weight [Σ widths, in] that go different ways: [rows, width] for each of the
/// widths.
///
/// On the CPU each part is a product of its own: a part of a weight is small, and so is its gradient; the gradient of a part of
/// all rows would be as large as all of them. On a GPU there is one product, and the parts are copied in one launch.
pub fn linear_parts<const N: usize>(
    x: Tensor<2>,
    weight: Tensor<2>,
    widths: [usize; N],
    precision: Precision,
) -> [Tensor<2>; N] {
    #[cfg(feature = "gpu")]
    if implementation(&x.device()) == Implementation::Gpu {
        return crate::gpu::split_columns(linear(x, weight, None, precision), widths);
    }
    let (mut end, [_, inputs]) = (0, weight.dims());
    widths.map(|width| {
        end += width;
        linear(x.clone(), weight.clone().slice([end - width..end, 0..inputs]), None, precision)
    })
}

/// Computes [`linear`] for several weights [out, in] of one input; one product on a GPU.
pub fn linears<const N: usize>(x: Tensor<2>, weights: [Tensor<2>; N], precision: Precision) -> [Tensor<2>; N] {
    #[cfg(feature = "gpu")]
    if implementation(&x.device()) == Implementation::Gpu {
        let widths = weights.each_ref().map(|weight| weight.dims()[0]);
        return linear_parts(x, crate::gpu::join_rows(weights), widths, precision);
    }
    weights.map(|weight| linear(x.clone(), weight, None, precision))
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
