//! Root-mean-square normalisation (Zhang and Sennrich 2019).

use burn::tensor::Tensor;

use super::implementation::{Implementation, implementation};
use super::kernel::{Kernel, Operand, apply};

/// w ⊙ x / sqrt(mean(x²) + ε) over the width: `x` [rows, width], `weight` [width].
pub fn rms_norm(x: Tensor<2>, weight: Tensor<1>, epsilon: f32) -> Tensor<2> {
    let [rows, width] = x.dims();
    match implementation(&x.device()) {
        Implementation::Cpu => apply([Operand::from(x), Operand::from(weight)], RmsNorm { rows, width, epsilon }),
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let rows_of = crate::gpu::Rows::new(rows, width);
            let norm = super::layer_norm::gpu::Norm { rows: rows_of, epsilon, is_centred: false };
            crate::gpu::apply([x.flatten(0, 1), weight], norm).reshape([rows, width])
        }
        Implementation::Decomposed => decompose(x, weight, epsilon),
    }
}

/// Computes [`rms_norm`] by Burn's operations.
fn decompose(x: Tensor<2>, weight: Tensor<1>, epsilon: f32) -> Tensor<2> {
    let mean_square = x.clone().square().mean_dim(1);
    x / (mean_square + epsilon).sqrt() * weight.unsqueeze::<2>()
}

#[derive(Debug)]
struct RmsNorm {
    rows: usize,
    width: usize,
    epsilon: f32,
}

impl Kernel<2> for RmsNorm {
    fn shape(&self) -> Vec<usize> {
        vec![self.rows, self.width]
    }

    fn forward(&self, [x, weight]: [&[f32]; 2], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut inverses = vec![0.0; self.rows];
        let mut y = vec![0.0; x.len()];
        forward(x, weight, self.epsilon, &mut y, &mut inverses);
        (y, if save { vec![inverses] } else { Vec::new() })
    }

    fn backward(&self, [x, weight]: [&[f32]; 2], saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 2] {
        let mut grad_x = vec![0.0; x.len()];
        let mut grad_weight = vec![0.0; self.width];
        backward(x, weight, &saved[0], gradient, &mut grad_x, &mut grad_weight);
        [grad_x, grad_weight]
    }
}

#[macerator::with_simd]
fn forward<S: macerator::Simd>(x: &[f32], weight: &[f32], epsilon: f32, y: &mut [f32], inverses: &mut [f32]) {
    let width = weight.len();
    for ((x, y), inverse) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)).zip(inverses) {
        *inverse = 1.0 / (super::dot(x, x) / width as f32 + epsilon).sqrt();
        for ((y, x), w) in y.iter_mut().zip(x).zip(weight) {
            *y = x * *inverse * w;
        }
    }
}

#[macerator::with_simd]
fn backward<S: macerator::Simd>(
    x: &[f32],
    weight: &[f32],
    inverses: &[f32],
    gradient: &[f32],
    grad_x: &mut [f32],
    grad_weight: &mut [f32],
) {
    let width = weight.len();
    let rows = x.chunks_exact(width).zip(gradient.chunks_exact(width)).zip(grad_x.chunks_exact_mut(width));
    for (((x, g), grad_x), &inverse) in rows.zip(inverses) {
        // dx = r (w ⊙ g) - x r³/d Σ (w ⊙ g ⊙ x), with r the inverse root
        for ((into, g), w) in grad_x.iter_mut().zip(g).zip(weight) {
            *into = g * w;
        }
        let along = super::dot(grad_x, x) * inverse * inverse * inverse / width as f32;
        for ((into, x), (g, grad_w)) in grad_x.iter_mut().zip(x).zip(g.iter().zip(grad_weight.iter_mut())) {
            *into = *into * inverse - x * along;
            *grad_w += g * x * inverse;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    #[test]
    fn the_kernel_equals_the_composed_form_and_so_do_its_gradients() {
        for width in [1, 7, 16, 40] {
            let x = random::<2>([5, width], 1, 0.3).autodiff().require_grad();
            let w = random::<1>([width], 2, 1.0).autodiff().require_grad();
            let pull = random::<2>([5, width], 3, 1.0);
            let kernel = rms_norm(x.clone(), w.clone(), 1e-6);
            let decomposed = decompose(x.clone(), w.clone(), 1e-6);
            assert_close(&values(&kernel), &values(&decomposed), 1e-6);
            let found = (kernel * pull.clone()).sum().backward();
            let expected = (decomposed * pull).sum().backward();
            assert_close(&values(&x.grad(&found).unwrap()), &values(&x.grad(&expected).unwrap()), 1e-5);
            assert_close(&values(&w.grad(&found).unwrap()), &values(&w.grad(&expected).unwrap()), 1e-5);
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        // One and many rows a cube, one and many columns a thread, and more rows than are done in a round: over
        // those the CPU adds the gradient of the weight one after the other.
        for [rows, width] in [[5, 1], [37, 7], [33, 70], [3, 1030], [0, 16], [16_500, 3]] {
            let tolerance = if rows > 10_000 { 1e-4 } else { 1e-5 };
            let inputs = [random::<1>([rows * width], 1, 0.3), random::<1>([width], 2, 1.0)];
            crate::testing::assert_gpu_agrees(inputs, tolerance, |[x, weight]| {
                rms_norm(x.reshape([rows, width]), weight, 1e-6).flatten(0, 1)
            });
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn nan_stays_in_its_row_on_a_gpu() {
        let Some(gpu) = crate::testing::gpu() else { return };
        let mut rows = vec![1.0f32; 3 * 9];
        rows[9 + 4] = f32::NAN;
        let x = Tensor::<1>::from_floats(rows.as_slice(), &gpu).reshape([3, 9]).autodiff().require_grad();
        let weight = Tensor::<1>::ones([9], &gpu).autodiff().require_grad();
        let y = rms_norm(x.clone(), weight.clone(), 1e-6);
        let gradients = y.clone().sum().backward();
        for found in [values(&y), values(&x.grad(&gradients).unwrap())] {
            let nan: Vec<bool> = found.iter().map(|value| value.is_nan()).collect();
            assert_eq!(nan, [[false; 9], [true; 9], [false; 9]].concat());
        }
        assert!(values(&weight.grad(&gradients).unwrap()).iter().all(|value| value.is_nan()));
    }

    #[test]
    fn its_gradients_are_slopes() {
        let w = random::<1>([12], 2, 1.0);
        assert_finite_differences(random::<2>([4, 12], 1, 1.0), |x| rms_norm(x, w.clone(), 1e-6));
        let x = random::<2>([4, 12], 1, 1.0);
        assert_finite_differences(w.clone(), |w| rms_norm(x.clone(), w, 1e-6));
    }
}
