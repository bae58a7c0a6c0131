//! Dropout from counted rng.

#[cfg(feature = "gpu")]
pub(crate) mod gpu;

use burn::tensor::{Int, Tensor};

use super::implementation::{Implementation, implementation};
use super::kernel::{Kernel, Operand, apply};
use crate::counter_rng::{RngKey, indices};

/// Dropout at one place of one pass.
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    /// Decides which elements go.
    pub key: RngKey,
    /// Probability that an element goes; the others grow by 1/(1-p).
    pub p: f32,
}

impl Dropout {
    /// Returns the factor of element `index`.
    #[inline(always)]
    pub fn factor(self, index: usize) -> f32 {
        self.key.factor(index as u32, self.p)
    }
}

/// Each element of `x` times [`Dropout::factor`] of its place.
pub fn dropout<const D: usize>(x: Tensor<D>, dropout: Dropout) -> Tensor<D> {
    let shape = x.dims();
    match implementation(&x.device()) {
        Implementation::Cpu => apply([Operand::from(x)], DropoutKernel { shape: shape.to_vec(), dropout }),
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let elements = shape.iter().product::<usize>();
            crate::gpu::apply([x.reshape([elements])], gpu::Factors(dropout)).reshape(shape)
        }
        Implementation::Decomposed => decompose(x, dropout),
    }
}

/// Computes [`dropout`] by Burn's operations: the bits are computed where the tensor is, and are those of the kernel.
fn decompose<const D: usize>(x: Tensor<D>, dropout: Dropout) -> Tensor<D> {
    let shape = x.dims();
    let indices = indices(shape.iter().product(), &x.device()).reshape(shape);
    dropout_at(x, dropout, indices)
}

/// Computes [`dropout`] where elements have other indices than their places.
pub(crate) fn dropout_at<const D: usize>(x: Tensor<D>, dropout: Dropout, indices: Tensor<D, Int>) -> Tensor<D> {
    let Dropout { key, p } = dropout;
    (x * (1.0 / (1.0 - p))).mask_fill(key.dropped_at(indices, p), 0.0)
}

#[derive(Debug)]
struct DropoutKernel {
    shape: Vec<usize>,
    dropout: Dropout,
}

impl Kernel<1> for DropoutKernel {
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    fn forward(&self, [x]: [&[f32]; 1], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        (scaled(x, self.dropout), Vec::new())
    }

    fn backward(&self, _inputs: [&[f32]; 1], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 1] {
        [scaled(gradient, self.dropout)]
    }
}

fn scaled(x: &[f32], dropout: Dropout) -> Vec<f32> {
    let mut y = vec![0.0; x.len()];
    scale(x, &mut y, dropout);
    y
}

#[macerator::with_simd]
fn scale<S: macerator::Simd>(x: &[f32], y: &mut [f32], dropout: Dropout) {
    for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
        *y = x * dropout.factor(i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter_rng::CounterRng;
    use crate::testing::{random, values};

    #[test]
    fn values_and_gradients_are_scaled_alike() {
        let dropout_here = Dropout { key: CounterRng::new(3, 1, 0).next_key(), p: 0.25 };
        let x = random::<2>([17, 9], 5, 1.0).autodiff().require_grad();
        let factors: Vec<f32> = (0..17 * 9).map(|i| dropout_here.factor(i)).collect();
        for y in [dropout(x.clone(), dropout_here), decompose(x.clone(), dropout_here)] {
            let expected: Vec<f32> = values(&x).iter().zip(&factors).map(|(x, factor)| x * factor).collect();
            assert_eq!(values(&y), expected);
            let gradient = x.grad(&y.sum().backward()).unwrap();
            assert_eq!(values(&gradient), factors);
        }
        assert!(factors.contains(&0.0) && factors.contains(&(1.0 / 0.75)));
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        // Equal to the bit: an element that one drops and the other does not is no small error.
        for (seed, p) in [(1, 0.1), (2, 0.5), (3, 0.123_456_7), (5, 0.999)] {
            let here = Dropout { key: CounterRng::new(seed, 2, 3).next_key(), p };
            let x = random::<1>([61 * 19], 1, 2.0);
            crate::testing::assert_gpu_agrees([x], 0.0, |[x]| dropout(x.reshape([61, 19]), here).reshape([61 * 19]));
        }
    }
}
