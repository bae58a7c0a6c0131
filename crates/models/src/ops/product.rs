//! Products of batches of matrices in decomposed operations: the one place where they multiply, so that a device which
//! rounds by itself needs a rule when not to.

#[cfg(any(test, feature = "gpu"))]
mod node;
#[cfg(feature = "gpu")]
mod strict;

use burn::tensor::{FloatDType, Tensor};

use super::aligned::aligned;
use super::implementation::is_decomposed;
use super::kernel::{Kernel, Operand, apply};
use crate::{Precision, device};

/// a b, matrix by matrix, in full f32: recurrences are never rounded (protocol.md, "Precision").
pub(crate) fn product<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
    #[cfg(feature = "gpu")]
    if !device::is_cpu(&a.device()) {
        return node::product::<burn_cubecl::CubeBackend, D>(a, b, strict::multiply);
    }
    a.matmul(b)
}

/// a b as the device multiplies: it may round the operands.
fn device_product<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
    #[cfg(feature = "gpu")]
    if !device::is_cpu(&a.device()) {
        use burn::backend::ops::FloatTensorOps;
        return node::product::<burn_cubecl::CubeBackend, D>(a, b, burn_cubecl::CubeBackend::float_matmul);
    }
    a.matmul(b)
}

/// a b with operands rounded as `precision` says, in this product and in those of its gradient; the result is f32.
pub(crate) fn rounded_product<const D: usize>(a: Tensor<D>, b: Tensor<D>, precision: Precision) -> Tensor<D> {
    if precision == Precision::Fp32 {
        return product(a, b);
    }
    let multiply =
        |a, b| with_rounded_gradient(device_product(operand(a, precision), operand(b, precision)), precision);
    if is_decomposed(&a.device()) { aligned(a, b, multiply) } else { multiply(a, b) }
}

/// Rounds the result of a product where the precision rounds it; and its gradient.
pub(crate) fn rounded_result<const D: usize>(x: Tensor<D>, precision: Precision) -> Tensor<D> {
    if precision == Precision::Bf16 { as_bf16(x) } else { x }
}

/// Rounded, with a gradient that is rounded as a result.
fn operand<const D: usize>(x: Tensor<D>, precision: Precision) -> Tensor<D> {
    match precision {
        Precision::Fp32 => x,
        Precision::Bf16 => as_bf16(x),
        Precision::Tf32 if x.device() == device::cpu() => rounding(x, precision, Direction::Forwards),
        // There the product itself rounds its operands.
        Precision::Tf32 => x,
    }
}

/// Returns the values with a gradient that is rounded as an operand.
fn with_rounded_gradient<const D: usize>(x: Tensor<D>, precision: Precision) -> Tensor<D> {
    match precision {
        Precision::Fp32 => x,
        _ if x.device() == device::cpu() => rounding(x, precision, Direction::Backwards),
        Precision::Bf16 => with_gradient_as_bf16(x),
        Precision::Tf32 => x,
    }
}

/// Returns the values with a gradient rounded to bf16; values that bf16 does not reach are infinite, as it has them.
fn with_gradient_as_bf16<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let rounded = as_bf16(x.clone());
    // What lies between infinities is no number.
    let reached = rounded.clone().is_finite();
    let rest = (x - rounded.clone()).detach().mask_fill(reached.bool_not(), 0.0);
    rounded + rest
}

/// Rounded to bf16 and back, and so is the gradient.
fn as_bf16<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    x.cast(FloatDType::BF16).cast(FloatDType::F32)
}

fn rounding<const D: usize>(x: Tensor<D>, precision: Precision, direction: Direction) -> Tensor<D> {
    let shape = x.dims().to_vec();
    apply([Operand::from(x)], Rounding { shape, precision, direction })
}

/// Rounds values or gradients on the CPU, which has no products that do.
#[derive(Debug)]
struct Rounding {
    shape: Vec<usize>,
    precision: Precision,
    direction: Direction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forwards,
    Backwards,
}

impl Rounding {
    fn passed(&self, values: &[f32], direction: Direction) -> Vec<f32> {
        let mut values = values.to_vec();
        if self.direction == direction {
            self.precision.round(&mut values);
        }
        values
    }
}

impl Kernel<1> for Rounding {
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    fn forward(&self, [x]: [&[f32]; 1], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        (self.passed(x, Direction::Forwards), Vec::new())
    }

    fn backward(&self, _inputs: [&[f32]; 1], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 1] {
        [self.passed(gradient, Direction::Backwards)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::values;

    #[test]
    fn what_is_not_finite_stays_what_it_is_and_its_gradient_is_rounded() {
        let given = [1.001, -3.3e-5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.0];
        let x = Tensor::<1>::from_floats(given, &device::cpu()).autodiff().require_grad();
        let y = with_gradient_as_bf16(x.clone());
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let found = values(&y);
        assert_eq!(bits(&found[..4]), bits(&given[..4]));
        assert!(found[4].is_nan() && found[5] == 0.0);
        let pull = Tensor::<1>::from_floats([1.001, 1.0, 1.001, 1.001, 1.0, 3.003], &device::cpu());
        let grads = values(&x.grad(&(y * pull).sum().backward()).unwrap());
        assert_eq!([grads[0], grads[1], grads[2], grads[3], grads[5]], [1.0, 1.0, 1.0, 1.0, 3.0]);
    }
}
