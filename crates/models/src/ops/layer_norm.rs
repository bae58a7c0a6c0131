//! Layer normalisation (Ba, Kiros and Hinton 2016).

#[cfg(feature = "gpu")]
pub(super) mod gpu;

use burn::tensor::Tensor;

use super::implementation::{Implementation, implementation};
use super::kernel::{Kernel, Operand, apply};

/// w ⊙ (x - mean x) / sqrt(variance x + ε) + b over the width: `x` [rows, width], `weight` and `bias`, if any, [width].
/// The variance is that of all values, divided by their number.
pub fn layer_norm(x: Tensor<2>, weight: Tensor<1>, bias: Option<Tensor<1>>, epsilon: f32) -> Tensor<2> {
    let [rows, width] = x.dims();
    match implementation(&x.device()) {
        Implementation::Cpu => {
            let norm = LayerNorm { rows, width, epsilon };
            let (x, weight) = (Operand::from(x), Operand::from(weight));
            match bias {
                Some(bias) => apply([x, weight, Operand::from(bias)], norm),
                None => apply([x, weight], norm),
            }
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let norm = gpu::Norm { rows: crate::gpu::Rows::new(rows, width), epsilon, is_centred: true };
            let x = x.flatten(0, 1);
            let y = match bias {
                Some(bias) => crate::gpu::apply([x, weight, bias], norm),
                None => crate::gpu::apply([x, weight], norm),
            };
            y.reshape([rows, width])
        }
        Implementation::Decomposed => decompose(x, weight, bias, epsilon),
    }
}

/// Computes [`layer_norm`] by Burn's operations.
fn decompose(x: Tensor<2>, weight: Tensor<1>, bias: Option<Tensor<1>>, epsilon: f32) -> Tensor<2> {
    let centred = x.clone() - x.mean_dim(1);
    let variance = centred.clone().square().mean_dim(1);
    let y = centred / (variance + epsilon).sqrt() * weight.unsqueeze::<2>();
    match bias {
        Some(bias) => y + bias.unsqueeze::<2>(),
        None => y,
    }
}

#[derive(Debug)]
struct LayerNorm {
    rows: usize,
    width: usize,
    epsilon: f32,
}

impl LayerNorm {
    /// The output; and, if `save`, the mean and the inverse deviation of each row.
    fn compute(&self, x: &[f32], weight: &[f32], bias: Option<&[f32]>, save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut y = vec![0.0; x.len()];
        let mut moments = vec![0.0; 2 * self.rows];
        forward(x, weight, self.epsilon, &mut y, &mut moments);
        if let Some(bias) = bias {
            add_to_rows(&mut y, bias);
        }
        (y, if save { vec![moments] } else { Vec::new() })
    }

    /// Gradients of input and weight.
    fn grads(&self, x: &[f32], weight: &[f32], moments: &[f32], gradient: &[f32]) -> [Vec<f32>; 2] {
        let (mut grad_x, mut grad_weight) = (vec![0.0; x.len()], vec![0.0; self.width]);
        backward(x, weight, moments, gradient, &mut grad_x, &mut grad_weight);
        [grad_x, grad_weight]
    }
}

/// The kernel without bias.
impl Kernel<2> for LayerNorm {
    fn shape(&self) -> Vec<usize> {
        vec![self.rows, self.width]
    }

    fn forward(&self, [x, weight]: [&[f32]; 2], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        self.compute(x, weight, None, save)
    }

    fn backward(&self, [x, weight]: [&[f32]; 2], saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 2] {
        self.grads(x, weight, &saved[0], gradient)
    }
}

/// The kernel with bias.
impl Kernel<3> for LayerNorm {
    fn shape(&self) -> Vec<usize> {
        vec![self.rows, self.width]
    }

    fn forward(&self, [x, weight, bias]: [&[f32]; 3], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        self.compute(x, weight, Some(bias), save)
    }

    fn backward(&self, [x, weight, _]: [&[f32]; 3], saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 3] {
        let [grad_x, grad_weight] = self.grads(x, weight, &saved[0], gradient);
        let mut grad_bias = vec![0.0; self.width];
        add_rows(gradient, &mut grad_bias);
        [grad_x, grad_weight, grad_bias]
    }
}

#[macerator::with_simd]
fn forward<S: macerator::Simd>(x: &[f32], weight: &[f32], epsilon: f32, y: &mut [f32], moments: &mut [f32]) {
    let width = weight.len();
    for ((x, y), moments) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)).zip(moments.chunks_exact_mut(2)) {
        let mean = super::sum(x) / width as f32;
        for (y, x) in y.iter_mut().zip(x) {
            *y = x - mean;
        }
        let inverse = 1.0 / (super::dot(y, y) / width as f32 + epsilon).sqrt();
        for (y, w) in y.iter_mut().zip(weight) {
            *y *= inverse * w;
        }
        moments.copy_from_slice(&[mean, inverse]);
    }
}

#[macerator::with_simd]
fn backward<S: macerator::Simd>(
    x: &[f32],
    weight: &[f32],
    moments: &[f32],
    gradient: &[f32],
    grad_x: &mut [f32],
    grad_weight: &mut [f32],
) {
    let width = weight.len();
    let mut normal = vec![0.0; width];
    let rows = x.chunks_exact(width).zip(gradient.chunks_exact(width)).zip(grad_x.chunks_exact_mut(width));
    for (((x, g), grad_x), moments) in rows.zip(moments.chunks_exact(2)) {
        let (mean, inverse) = (moments[0], moments[1]);
        // With n the normalised row and s = w ⊙ g: dx = r (s - mean s - n mean(s ⊙ n)), r the inverse deviation.
        for ((normal, x), (into, (g, w))) in normal.iter_mut().zip(x).zip(grad_x.iter_mut().zip(g.iter().zip(weight))) {
            *normal = (x - mean) * inverse;
            *into = g * w;
        }
        let shift = super::sum(grad_x) / width as f32;
        let along = super::dot(grad_x, &normal) / width as f32;
        for ((into, normal), (g, grad_w)) in grad_x.iter_mut().zip(&normal).zip(g.iter().zip(grad_weight.iter_mut())) {
            *into = (*into - shift - normal * along) * inverse;
            *grad_w += g * normal;
        }
    }
}

/// Adds `row` to each row of `rows`.
#[macerator::with_simd]
fn add_to_rows<S: macerator::Simd>(rows: &mut [f32], row: &[f32]) {
    for into in rows.chunks_exact_mut(row.len()) {
        for (into, value) in into.iter_mut().zip(row) {
            *into += value;
        }
    }
}

/// Adds all of `rows` to `sum`, one after the other.
#[macerator::with_simd]
fn add_rows<S: macerator::Simd>(rows: &[f32], sum: &mut [f32]) {
    for row in rows.chunks_exact(sum.len()) {
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum += value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    #[test]
    fn the_kernel_equals_the_composed_form_and_so_do_its_gradients() {
        for (width, has_bias) in [(1, true), (7, false), (16, true), (40, false), (40, true)] {
            let x = (random::<2>([5, width], 1, 0.3) + 2.0).autodiff().require_grad();
            let w = random::<1>([width], 2, 1.0).autodiff().require_grad();
            let b = has_bias.then(|| random::<1>([width], 4, 1.0).autodiff().require_grad());
            let pull = random::<2>([5, width], 3, 1.0);
            let kernel = layer_norm(x.clone(), w.clone(), b.clone(), 1e-5);
            let decomposed = decompose(x.clone(), w.clone(), b.clone(), 1e-5);
            assert_close(&values(&kernel), &values(&decomposed), 1e-5);
            let found = (kernel * pull.clone()).sum().backward();
            let expected = (decomposed * pull).sum().backward();
            assert_close(&values(&x.grad(&found).unwrap()), &values(&x.grad(&expected).unwrap()), 1e-5);
            for leaf in [Some(w), b].into_iter().flatten() {
                assert_close(&values(&leaf.grad(&found).unwrap()), &values(&leaf.grad(&expected).unwrap()), 1e-5);
            }
        }
    }

    #[test]
    fn rows_have_mean_zero_and_deviation_one_whatever_was_added_to_them() {
        let x = random::<2>([3, 48], 1, 1.0);
        let ones = || Tensor::<1>::ones([48], &crate::device::cpu());
        for far in [0.0, 1000.0] {
            for y in crate::testing::both_implementations(|| layer_norm(x.clone() + far, ones(), None, 1e-5)) {
                for row in values(&y).chunks_exact(48) {
                    let mean = row.iter().sum::<f32>() / 48.0;
                    let variance = row.iter().map(|value| value * value).sum::<f32>() / 48.0;
                    assert!(mean.abs() < 1e-3 && (variance - 1.0).abs() < 1e-3, "{mean} {variance}");
                }
            }
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        // As for the RMS norm, which has the same kernels.
        for [rows, width] in [[5, 1], [37, 7], [33, 70], [3, 1030], [0, 16], [16_500, 3]] {
            let tolerance = if rows > 10_000 { 1e-4 } else { 1e-5 };
            let x = || random::<1>([rows * width], 1, 0.3) + 2.0;
            let parameters = || [random::<1>([width], 2, 1.0), random::<1>([width], 3, 1.0)];
            let [weight, bias] = parameters();
            crate::testing::assert_gpu_agrees([x(), weight, bias], tolerance, |[x, weight, bias]| {
                layer_norm(x.reshape([rows, width]), weight, Some(bias), 1e-5).flatten(0, 1)
            });
            let [weight, _] = parameters();
            crate::testing::assert_gpu_agrees([x(), weight], tolerance, |[x, weight]| {
                layer_norm(x.reshape([rows, width]), weight, None, 1e-5).flatten(0, 1)
            });
        }
    }

    #[test]
    fn its_gradients_are_slopes() {
        let (x, w, b) = (random::<2>([4, 12], 1, 1.0), random::<1>([12], 2, 1.0), random::<1>([12], 3, 1.0));
        assert_finite_differences(x.clone(), |x| layer_norm(x, w.clone(), Some(b.clone()), 1e-5));
        assert_finite_differences(w.clone(), |w| layer_norm(x.clone(), w, None, 1e-5));
        assert_finite_differences(b, |b| layer_norm(x.clone(), w.clone(), Some(b), 1e-5));
    }
}
