//! The Gaussian error linear unit, approximated by tanh (Hendrycks and Gimpel 2016), as GPT-2 has it.

#[cfg(feature = "gpu")]
mod gpu;

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid as burn_sigmoid;

use super::exp::sigmoid;
use super::implementation::{Implementation, implementation};
use super::kernel::{Kernel, Operand, apply};

/// Twice √(2/π): x (1 + tanh u) / 2 is x σ(2u).
const TWICE: f32 = 1.595_769;
/// The share of the cube.
const CUBE: f32 = 0.044_715;

/// x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2 of each element of `x` [rows, width].
pub fn gelu_tanh(x: Tensor<2>) -> Tensor<2> {
    let shape = x.dims();
    match implementation(&x.device()) {
        Implementation::Cpu => apply([Operand::from(x)], GeluTanh { shape }),
        #[cfg(feature = "gpu")]
        Implementation::Gpu => crate::gpu::apply([x.flatten(0, 1)], gpu::GeluTanh).reshape(shape),
        Implementation::Decomposed => decompose(x),
    }
}

/// Computes [`gelu_tanh`] by Burn's operations.
fn decompose(x: Tensor<2>) -> Tensor<2> {
    let inner = (x.clone().square() * CUBE + 1.0) * x.clone() * TWICE;
    x * burn_sigmoid(inner)
}

#[derive(Debug)]
struct GeluTanh {
    shape: [usize; 2],
}

impl Kernel<1> for GeluTanh {
    fn shape(&self) -> Vec<usize> {
        self.shape.to_vec()
    }

    fn forward(&self, [x]: [&[f32]; 1], _save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut y = vec![0.0; x.len()];
        forward(x, &mut y);
        (y, Vec::new())
    }

    fn backward(&self, [x]: [&[f32]; 1], _saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 1] {
        let mut grad_x = gradient.to_vec();
        backward(x, &mut grad_x);
        [grad_x]
    }
}

#[macerator::with_simd]
fn forward<S: macerator::Simd>(x: &[f32], y: &mut [f32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = x * sigmoid(TWICE * x * (1.0 + CUBE * x * x));
    }
}

/// Multiplies with the derivative, s + x s (1 - s) (2u)′ with s = σ(2u).
#[macerator::with_simd]
fn backward<S: macerator::Simd>(x: &[f32], gradient: &mut [f32]) {
    for (gradient, &x) in gradient.iter_mut().zip(x) {
        // Beyond this the derivative is 0 or 1 in f32; a square could overflow.
        let x = if x > 1e4 { 1e4 } else { x };
        let x = if x < -1e4 { -1e4 } else { x };
        let inner = TWICE * x * (1.0 + CUBE * x * x);
        // Not 1 less the share, which has few digits where that is nearly 1.
        let (share, rest) = (sigmoid(inner), sigmoid(-inner));
        *gradient *= share + x * share * rest * TWICE * (1.0 + 3.0 * CUBE * x * x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_finite_differences, random, values};

    #[test]
    fn values_and_slopes_are_those_of_the_formula() {
        let x: Vec<f32> = (-12_000..=12_000).map(|i| i as f32 / 1000.0).collect();
        let leaf = Tensor::<1>::from_floats(x.as_slice(), &crate::device::cpu());
        let leaf = leaf.unsqueeze::<2>().autodiff().require_grad();
        for y in [gelu_tanh(leaf.clone()), decompose(leaf.clone())] {
            let grads = values(&leaf.grad(&y.clone().sum().backward()).unwrap());
            for ((&x, y), grad) in x.iter().zip(values(&y)).zip(grads) {
                let x = f64::from(x);
                let scale = (2.0 / std::f64::consts::PI).sqrt();
                let tanh = (scale * (x + 0.044715 * x.powi(3))).tanh();
                let expected =
                    0.5 * (1.0 + tanh) + 0.5 * x * (1.0 - tanh * tanh) * scale * (1.0 + 3.0 * 0.044715 * x * x);
                assert!((f64::from(y) - 0.5 * x * (1.0 + tanh)).abs() < 1e-6 * x.abs().max(1.0), "gelu({x}) is {y}");
                assert!((f64::from(grad) - expected).abs() < 5e-6, "the grad at {x} is {grad}, not {expected}");
            }
        }
        assert_finite_differences(random::<2>([4, 10], 1, 1.0), gelu_tanh);
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        let x = random::<1>([1000], 1, 3.0);
        crate::testing::assert_gpu_agrees([x], 1e-6, |[x]| gelu_tanh(x.reshape([10, 100])).flatten(0, 1));
    }

    #[test]
    fn far_out_it_stays_finite_and_nan_is_not_hidden() {
        let x = Tensor::<2>::from_floats([[-1e10, -100.0, 100.0, 1e10, f32::NAN]], &crate::device::cpu());
        let x = x.autodiff().require_grad();
        let y = gelu_tanh(x.clone());
        let grads = values(&x.grad(&y.clone().sum().backward()).unwrap());
        let y = values(&y);
        assert!(y[0].abs() < 1e-6 && y[1].abs() < 1e-30, "{y:?}");
        assert_eq!(y[2..4], [100.0, 1e10]);
        assert!(grads[0].abs() < 1e-6 && grads[1].abs() < 1e-6 && grads[2..4] == [1.0, 1.0], "{grads:?}");
        assert!(y[4].is_nan() && grads[4].is_nan());
    }
}
