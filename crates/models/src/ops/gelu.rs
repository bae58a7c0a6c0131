//! The exact Gaussian error linear unit (Hendrycks and Gimpel 2016), not its approximation by tanh.

#[cfg(feature = "gpu")]
mod gpu;

use burn::tensor::Tensor;

use super::exp::exp;
use super::implementation::{Implementation, implementation};
use super::kernel::{Kernel, Operand, apply};

/// x Φ(x) of each element of `x` [rows, width].
pub fn gelu(x: Tensor<2>) -> Tensor<2> {
    let shape = x.dims();
    match implementation(&x.device()) {
        Implementation::Cpu => apply([Operand::from(x)], Gelu { shape }),
        #[cfg(feature = "gpu")]
        Implementation::Gpu => crate::gpu::apply([x.flatten(0, 1)], gpu::Gelu).reshape(shape),
        Implementation::Decomposed => decompose(x),
    }
}

/// Computes [`gelu`] by Burn's operations. Not by Burn's own GELU, whose gradient is that of the approximation by tanh
/// on some devices.
fn decompose(x: Tensor<2>) -> Tensor<2> {
    let below = ((x.clone() * std::f32::consts::FRAC_1_SQRT_2).erf() + 1.0) * 0.5;
    x * below
}

#[derive(Debug)]
struct Gelu {
    shape: [usize; 2],
}

impl Kernel<1> for Gelu {
    fn shape(&self) -> Vec<usize> {
        self.shape.to_vec()
    }

    fn forward(&self, [x]: [&[f32]; 1], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut y = vec![0.0; x.len()];
        if !save {
            forward(x, &mut y);
            return (y, Vec::new());
        }
        let mut grads = vec![0.0; x.len()];
        forward_and_grads(x, &mut y, &mut grads);
        (y, vec![grads])
    }

    fn backward(&self, _inputs: [&[f32]; 1], mut saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 1] {
        let mut grads = std::mem::take(&mut saved[0]);
        scale(&mut grads, gradient);
        [grads]
    }
}

#[macerator::with_simd]
fn forward<S: macerator::Simd>(x: &[f32], y: &mut [f32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = x * normal(x).0;
    }
}

/// The gradient is Φ(x) + x φ(x), and both are at hand here.
#[macerator::with_simd]
fn forward_and_grads<S: macerator::Simd>(x: &[f32], y: &mut [f32], grads: &mut [f32]) {
    for ((y, grad), &x) in y.iter_mut().zip(grads).zip(x) {
        let (below, density) = normal(x);
        *y = x * below;
        *grad = below + x * density;
    }
}

#[macerator::with_simd]
fn scale<S: macerator::Simd>(grads: &mut [f32], gradient: &[f32]) {
    for (grad, gradient) in grads.iter_mut().zip(gradient) {
        *grad *= gradient;
    }
}

/// Φ(x) and φ(x), the normal distribution and its density.
///
/// erfc z = e^(-z²) P(1/(1 + p z)) for z = |x|/√2, in the form of Abramowitz and Stegun 7.1.26; P is of degree 8 here,
/// fitted to a relative error of 9e-8. No branch and no call, so that loops over it vectorise.
#[inline(always)]
fn normal(x: f32) -> (f32, f32) {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let mut p = -0.142_719_f32;
    p = p * t + 0.503_441_66;
    p = p * t - 0.417_812_3;
    p = p * t + 0.464_528_26;
    p = p * t + 0.019_226_48;
    p = p * t + 0.207_865_55;
    p = p * t + 0.180_392_7;
    p = p * t + 0.185_076_73;
    // Where the density is below the smallest normal float it is 0; `exp` does not ensure that.
    let bell = if x * x > 170.0 { 0.0 } else { exp(-0.5 * x * x) };
    let tail = 0.5 * p * t * bell;
    (if x < 0.0 { tail } else { 1.0 - tail }, 0.398_942_3 * bell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    #[test]
    fn values_and_slopes_are_those_of_the_normal_distribution() {
        let x: Vec<f32> = (-12_000..=12_000).map(|i| i as f32 / 1000.0).collect();
        let leaf = Tensor::<1>::from_floats(x.as_slice(), &crate::device::cpu());
        let leaf = leaf.unsqueeze::<2>().autodiff().require_grad();
        for y in [gelu(leaf.clone()), decompose(leaf.clone())] {
            let grads = values(&leaf.grad(&y.clone().sum().backward()).unwrap());
            for ((&x, y), grad) in x.iter().zip(values(&y)).zip(grads) {
                let x = f64::from(x);
                let below = 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
                let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
                assert!((f64::from(y) - x * below).abs() < 2e-7 * x.abs().max(1.0), "gelu({x}) is {y}");
                assert!((f64::from(grad) - below - x * density).abs() < 4e-7, "the grad at {x} is {grad}");
            }
        }
    }

    #[test]
    fn the_kernel_equals_the_composed_form_and_so_do_its_gradients() {
        let x = random::<2>([6, 19], 1, 2.0).autodiff().require_grad();
        let pull = random::<2>([6, 19], 2, 1.0);
        let (kernel, decomposed) = (gelu(x.clone()), decompose(x.clone()));
        assert_close(&values(&kernel), &values(&decomposed), 1e-6);
        let found = x.grad(&(kernel * pull.clone()).sum().backward()).unwrap();
        let expected = x.grad(&(decomposed * pull).sum().backward()).unwrap();
        assert_close(&values(&found), &values(&expected), 1e-6);
        assert_finite_differences(random::<2>([4, 10], 1, 1.0), gelu);
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        let x = random::<2>([37, 19], 1, 2.0).flatten(0, 1);
        crate::testing::assert_gpu_agrees([x], 1e-6, |[x]| gelu(x.reshape([37, 19])).flatten(0, 1));
    }

    #[test]
    fn far_out_it_stays_finite_and_nan_is_not_hidden() {
        let x = Tensor::<2>::from_floats([[-1e30, -100.0, 100.0, 1e10, f32::NAN]], &crate::device::cpu());
        for y in [values(&gelu(x.clone())), values(&decompose(x))] {
            assert!(y[0].abs() < 1e-6 && y[1].abs() < 1e-30, "{y:?}");
            assert_eq!(y[2..4], [100.0, 1e10]);
            assert!(y[4].is_nan());
        }
    }
}
