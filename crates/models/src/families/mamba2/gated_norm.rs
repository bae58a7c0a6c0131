//! The norm after the recurrence: over what the gate lets through, not gated itself.

#[cfg(feature = "gpu")]
mod gpu;

use burn::tensor::Tensor;
use burn::tensor::activation::silu;

use crate::ops::exp::sigmoid;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};
use crate::streaming::{self, Real};

/// The root-mean-square norm of y ⊙ SiLU(z), with `y` and `z` [rows, width] and `weight` [width].
pub fn gated_norm(y: Tensor<2>, z: Tensor<2>, weight: Tensor<1>, epsilon: f32) -> Tensor<2> {
    let [rows, width] = y.dims();
    match implementation(&y.device()) {
        Implementation::Cpu => {
            apply([Operand::from(y), Operand::from(z), Operand::from(weight)], GatedNorm { rows, width, epsilon })
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let norm = gpu::GatedNorm { rows: crate::gpu::Rows::new(rows, width), epsilon };
            crate::gpu::apply([y.flatten(0, 1), z.flatten(0, 1), weight], norm).reshape([rows, width])
        }
        Implementation::Decomposed => decompose(y, z, weight, epsilon),
    }
}

/// Computes [`gated_norm`] by other operations.
fn decompose(y: Tensor<2>, z: Tensor<2>, weight: Tensor<1>, epsilon: f32) -> Tensor<2> {
    crate::ops::rms_norm(y * silu(z), weight, epsilon)
}

/// Computes [`gated_norm`] for one row.
pub fn gated_norm_row<F: Real>(y: &[F], z: &[F], weight: &[f32], epsilon: f32) -> Vec<F> {
    let gated: Vec<F> = y.iter().zip(z).map(|(&y, z)| y * z.silu()).collect();
    streaming::rms_norm(&gated, weight, epsilon)
}

#[derive(Debug)]
struct GatedNorm {
    rows: usize,
    width: usize,
    epsilon: f32,
}

impl Kernel<3> for GatedNorm {
    fn shape(&self) -> Vec<usize> {
        vec![self.rows, self.width]
    }

    fn forward(&self, [y, z, weight]: [&[f32]; 3], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut out = vec![0.0; y.len()];
        let mut inverses = Vec::with_capacity(self.rows);
        let rows = y.chunks_exact(self.width).zip(z.chunks_exact(self.width));
        for ((y, z), out) in rows.zip(out.chunks_exact_mut(self.width)) {
            inverses.push(forward_row(y, z, weight, self.epsilon, out));
        }
        (out, if save { vec![inverses] } else { Vec::new() })
    }

    fn backward(&self, [y, z, weight]: [&[f32]; 3], saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 3] {
        let (mut grad_y, mut grad_z) = (vec![0.0; y.len()], vec![0.0; z.len()]);
        let mut grad_weight = vec![0.0; self.width];
        let mut gated = vec![0.0; self.width];
        for (row, &inverse) in saved[0].iter().enumerate() {
            let of = row * self.width..(row + 1) * self.width;
            let from = Row { y: &y[of.clone()], z: &z[of.clone()], weight, gradient: &gradient[of.clone()], inverse };
            let into = Gradients { y: &mut grad_y[of.clone()], z: &mut grad_z[of], weight: &mut grad_weight };
            backward_row(from, &mut gated, into);
        }
        [grad_y, grad_z, grad_weight]
    }
}

/// Fills `out`; returns the inverse of the root of the mean square.
#[macerator::with_simd]
fn forward_row<S: macerator::Simd>(y: &[f32], z: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) -> f32 {
    for ((out, y), &z) in out.iter_mut().zip(y).zip(z) {
        *out = y * z * sigmoid(z);
    }
    let inverse = 1.0 / (crate::ops::dot(out, out) / out.len() as f32 + epsilon).sqrt();
    for (out, w) in out.iter_mut().zip(weight) {
        *out *= inverse * w;
    }
    inverse
}

struct Row<'a> {
    y: &'a [f32],
    z: &'a [f32],
    weight: &'a [f32],
    gradient: &'a [f32],
    inverse: f32,
}

struct Gradients<'a> {
    y: &'a mut [f32],
    z: &'a mut [f32],
    weight: &'a mut [f32],
}

/// Fills the gradients of a row and adds that of the weight; `gated` is scratch as long as the row.
#[macerator::with_simd]
fn backward_row<'a, S: macerator::Simd>(row: Row<'a>, gated: &mut [f32], into: Gradients<'a>) {
    let inverse = row.inverse;
    for ((gated, y), &z) in gated.iter_mut().zip(row.y).zip(row.z) {
        *gated = y * z * sigmoid(z);
    }
    // As in the plain norm: du = r (w ⊙ g) - u r³/d Σ (w ⊙ g ⊙ u), with u what is normed and r the inverse root.
    for ((grad_y, g), w) in into.y.iter_mut().zip(row.gradient).zip(row.weight) {
        *grad_y = g * w;
    }
    let along = crate::ops::dot(into.y, gated) * inverse * inverse * inverse / gated.len() as f32;
    for ((grad_w, g), gated) in into.weight.iter_mut().zip(row.gradient).zip(&*gated) {
        *grad_w += g * gated * inverse;
    }
    let inputs = row.y.iter().zip(row.z).zip(&*gated);
    for (((y, &z), gated), (grad_y, grad_z)) in inputs.zip(into.y.iter_mut().zip(into.z)) {
        let s = sigmoid(z);
        let grad = *grad_y * inverse - gated * along;
        *grad_y = grad * z * s;
        *grad_z = grad * y * s * (1.0 + z * (1.0 - s));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    #[test]
    fn the_kernel_equals_the_composed_form_and_so_do_its_gradients() {
        for width in [1, 7, 40] {
            let y = random::<2>([5, width], 1, 0.3).autodiff().require_grad();
            let z = random::<2>([5, width], 2, 1.0).autodiff().require_grad();
            let w = random::<1>([width], 3, 1.0).autodiff().require_grad();
            let pull = random::<2>([5, width], 4, 1.0);
            let kernel = gated_norm(y.clone(), z.clone(), w.clone(), 1e-5);
            let decomposed = decompose(y.clone(), z.clone(), w.clone(), 1e-5);
            assert_close(&values(&kernel), &values(&decomposed), 1e-6);
            let found = (kernel * pull.clone()).sum().backward();
            let expected = (decomposed * pull).sum().backward();
            assert_close(&values(&y.grad(&found).unwrap()), &values(&y.grad(&expected).unwrap()), 1e-5);
            assert_close(&values(&z.grad(&found).unwrap()), &values(&z.grad(&expected).unwrap()), 1e-5);
            assert_close(&values(&w.grad(&found).unwrap()), &values(&w.grad(&expected).unwrap()), 1e-5);
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        for [rows, width] in [[5, 1], [37, 7], [33, 70], [3, 1030], [0, 16], [16_500, 3]] {
            // Over many rows the CPU adds the gradient of the weight one after the other; and some of three small
            // numbers have a large inverse root.
            let tolerance = if rows > 10_000 { 1e-4 } else { 1e-5 };
            let [y, z] = [(1, 0.3), (2, 2.0)].map(|(seed, deviation)| random::<1>([rows * width], seed, deviation));
            crate::testing::assert_gpu_agrees([y, z, random::<1>([width], 3, 1.0)], tolerance, |[y, z, weight]| {
                let [y, z] = [y, z].map(|x| x.reshape([rows, width]));
                gated_norm(y, z, weight, 1e-5).flatten(0, 1)
            });
        }
    }

    #[test]
    fn its_gradients_are_slopes_and_one_row_is_the_same() {
        let (y, z, w) = (random::<2>([4, 12], 1, 1.0), random::<2>([4, 12], 2, 1.0), random::<1>([12], 3, 1.0));
        assert_finite_differences(y.clone(), |y| gated_norm(y, z.clone(), w.clone(), 1e-5));
        assert_finite_differences(z.clone(), |z| gated_norm(y.clone(), z, w.clone(), 1e-5));
        assert_finite_differences(w.clone(), |w| gated_norm(y.clone(), z.clone(), w, 1e-5));
        let row = gated_norm_row(&values(&y)[..12], &values(&z)[..12], &values(&w), 1e-5);
        assert_close(&row, &values(&gated_norm(y, z, w, 1e-5))[..12], 1e-6);
    }
}
