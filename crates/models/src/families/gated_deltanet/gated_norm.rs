//! The norm of a head's answers, and the gate on them.

#[cfg(feature = "gpu")]
mod gpu;

use burn::tensor::Tensor;
use burn::tensor::activation::silu;

use crate::ops::exp::sigmoid;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};
use crate::ops::{dot, rms_norm as norm};
use crate::streaming::{Real, rms_norm};

/// RMS(x; w, ε) ⊙ SiLU(gate), each head by itself with one weight [value] for all: `x` and `gate` [rows, heads * value].
pub fn gated_norm(x: Tensor<2>, gate: Tensor<2>, weight: Tensor<1>, epsilon: f32) -> Tensor<2> {
    let shape = x.dims();
    match implementation(&x.device()) {
        Implementation::Cpu => {
            apply([Operand::from(x), Operand::from(gate), Operand::from(weight)], GatedNorm { shape, epsilon })
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let [width] = weight.dims();
            let rows = crate::gpu::Rows::new(shape[0] * shape[1] / width, width);
            let norm = gpu::GatedNorm { rows, epsilon };
            crate::gpu::apply([x.flatten(0, 1), gate.flatten(0, 1), weight], norm).reshape(shape)
        }
        Implementation::Decomposed => decompose(x, gate, weight, epsilon),
    }
}

/// Computes [`gated_norm`] by other operations.
fn decompose(x: Tensor<2>, gate: Tensor<2>, weight: Tensor<1>, epsilon: f32) -> Tensor<2> {
    let ([rows, columns], [width]) = (x.dims(), weight.dims());
    let heads = x.reshape([rows * columns / width, width]);
    norm(heads, weight, epsilon).reshape([rows, columns]) * silu(gate)
}

/// Computes [`gated_norm`] for one row.
pub fn gated_norm_row<F: Real>(x: &[F], gate: &[F], weight: &[f32], epsilon: f32) -> Vec<F> {
    let normed = x.chunks_exact(weight.len()).flat_map(|head| rms_norm(head, weight, epsilon));
    normed.zip(gate).map(|(x, gate)| x * gate.silu()).collect()
}

#[derive(Debug)]
struct GatedNorm {
    shape: [usize; 2],
    epsilon: f32,
}

impl Kernel<3> for GatedNorm {
    fn shape(&self) -> Vec<usize> {
        self.shape.to_vec()
    }

    fn forward(&self, [x, gate, weight]: [&[f32]; 3], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut y = vec![0.0; x.len()];
        forward(x, gate, weight, self.epsilon, &mut y);
        (y, Vec::new())
    }

    fn backward(&self, [x, gate, weight]: [&[f32]; 3], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 3] {
        let (mut grad_x, mut grad_gate) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let mut grad_weight = vec![0.0; weight.len()];
        let into = Gradients { x: &mut grad_x, gate: &mut grad_gate, weight: &mut grad_weight };
        backward(x, gate, weight, self.epsilon, gradient, into);
        [grad_x, grad_gate, grad_weight]
    }
}

#[macerator::with_simd]
fn forward<S: macerator::Simd>(x: &[f32], gate: &[f32], weight: &[f32], epsilon: f32, y: &mut [f32]) {
    let width = weight.len();
    let heads = x.chunks_exact(width).zip(gate.chunks_exact(width)).zip(y.chunks_exact_mut(width));
    for ((x, gate), y) in heads {
        let inverse = 1.0 / (dot(x, x) / width as f32 + epsilon).sqrt();
        for ((y, w), (x, &gate)) in y.iter_mut().zip(weight).zip(x.iter().zip(gate)) {
            *y = x * inverse * w * (gate * sigmoid(gate));
        }
    }
}

/// The slices that receive the gradients; that of the weight is added.
struct Gradients<'a> {
    x: &'a mut [f32],
    gate: &'a mut [f32],
    weight: &'a mut [f32],
}

#[macerator::with_simd]
fn backward<'a, S: macerator::Simd>(
    x: &[f32],
    gate: &[f32],
    weight: &[f32],
    epsilon: f32,
    gradient: &[f32],
    into: Gradients<'a>,
) {
    let width = weight.len();
    let heads = x.chunks_exact(width).zip(gate.chunks_exact(width)).zip(gradient.chunks_exact(width));
    let towards = into.x.chunks_exact_mut(width).zip(into.gate.chunks_exact_mut(width));
    for (((x, gate), gradient), (grad_x, grad_gate)) in heads.zip(towards) {
        let inverse = 1.0 / (dot(x, x) / width as f32 + epsilon).sqrt();
        let inputs = x.iter().zip(gate).zip(gradient).zip(weight);
        let outputs = grad_x.iter_mut().zip(grad_gate).zip(into.weight.iter_mut());
        for ((((x, &gate), gradient), w), ((grad_x, grad_gate), grad_w)) in inputs.zip(outputs) {
            let s = sigmoid(gate);
            let normed = x * inverse;
            *grad_gate = gradient * normed * w * s * (1.0 + gate * (1.0 - s));
            let through = gradient * gate * s;
            *grad_w += through * normed;
            *grad_x = through * w;
        }
        let along = dot(grad_x, x) * inverse * inverse * inverse / width as f32;
        for (grad_x, x) in grad_x.iter_mut().zip(x) {
            *grad_x = *grad_x * inverse - x * along;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, random, values};

    #[test]
    fn the_kernel_equals_the_composed_form_and_so_do_its_gradients() {
        let leaf = |x: Tensor<2>| x.autodiff().require_grad();
        let (x, gate) = (leaf(random([5, 3 * 20], 1, 0.5)), leaf(random([5, 3 * 20], 2, 2.0)));
        let weight = leaf(random([1, 20], 3, 1.0));
        let pull = random::<2>([5, 3 * 20], 4, 1.0);
        let kernel = gated_norm(x.clone(), gate.clone(), weight.clone().reshape([20]), 1e-6);
        let decomposed =
            crate::ops::decomposed(|| gated_norm(x.clone(), gate.clone(), weight.clone().reshape([20]), 1e-6));
        assert_close(&values(&kernel), &values(&decomposed), 1e-6);
        let found = (kernel * pull.clone()).sum().backward();
        let expected = (decomposed * pull).sum().backward();
        for leaf in [x, gate, weight] {
            assert_close(&values(&leaf.grad(&found).unwrap()), &values(&leaf.grad(&expected).unwrap()), 1e-5);
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        for [rows, heads, width] in [[5, 3, 1], [7, 5, 7], [11, 3, 70], [0, 2, 16], [8250, 2, 3]] {
            // The CPU adds the gradient of the weight one head after the other.
            let tolerance = if rows > 1000 { 1e-4 } else { 1e-5 };
            let elements = rows * heads * width;
            let [x, gate] = [(1, 0.5), (2, 2.0)].map(|(seed, deviation)| random::<1>([elements], seed, deviation));
            crate::testing::assert_gpu_agrees(
                [x, gate, random::<1>([width], 3, 1.0)],
                tolerance,
                |[x, gate, weight]| {
                    let [x, gate] = [x, gate].map(|x| x.reshape([rows, heads * width]));
                    gated_norm(x, gate, weight, 1e-6).flatten(0, 1)
                },
            );
        }
    }

    #[test]
    fn zeros_stay_zero_with_finite_gradients() {
        let x = Tensor::<2>::zeros([2, 8], &crate::device::cpu()).autodiff().require_grad();
        let normed = || gated_norm(x.clone(), random([2, 8], 1, 1.0), random([4], 2, 1.0), 1e-6);
        for y in [normed(), crate::ops::decomposed(normed)] {
            assert!(values(&y).iter().all(|&value| value == 0.0));
            let gradient = values(&x.grad(&y.sum().backward()).unwrap());
            assert!(gradient.iter().all(|value| value.is_finite()));
        }
    }
}
