//! The gates of each head, step by step: how much it forgets and how strongly it corrects.

#[cfg(feature = "gpu")]
mod gpu;

use burn::tensor::Tensor;
use burn::tensor::activation::{sigmoid, softplus};

use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};
use crate::streaming::Real;

/// Log decays -e^A_log softplus(a + dt_bias), at most 0, then strengths max_beta σ(b): [rows, heads] each to
/// [rows, 2 * heads].
pub fn gates(a: Tensor<2>, b: Tensor<2>, a_log: Tensor<1>, dt_bias: Tensor<1>, max_beta: f32) -> Tensor<2> {
    let [rows, heads] = a.dims();
    match implementation(&a.device()) {
        Implementation::Cpu => {
            let operands = [Operand::from(a), Operand::from(b), Operand::from(a_log), Operand::from(dt_bias)];
            apply(operands, Gates { rows, heads, max_beta })
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let inputs = [a.flatten(0, 1), b.flatten(0, 1), a_log, dt_bias];
            crate::gpu::apply(inputs, gpu::Gates { rows, heads, max_beta }).reshape([rows, 2 * heads])
        }
        Implementation::Decomposed => decompose(a, b, a_log, dt_bias, max_beta),
    }
}

/// Computes [`gates`] by Burn's operations.
fn decompose(a: Tensor<2>, b: Tensor<2>, a_log: Tensor<1>, dt_bias: Tensor<1>, max_beta: f32) -> Tensor<2> {
    let decay = softplus(a + dt_bias.unsqueeze::<2>(), 1.0) * a_log.exp().neg().unsqueeze::<2>();
    Tensor::cat(vec![decay, sigmoid(b) * max_beta], 1)
}

/// Computes [`gates`] for one row: the log decay and the strength of each head.
pub fn gates_row<F: Real>(a: &[F], b: &[F], a_log: &[f32], dt_bias: &[f32], max_beta: f32) -> Vec<(F, F)> {
    let heads = a.iter().zip(b).zip(a_log.iter().zip(dt_bias));
    heads
        .map(|((&a, &b), (&a_log, &dt_bias))| {
            (-F::of(a_log).exp() * (a + F::of(dt_bias)).softplus(), F::of(max_beta) * b.sigmoid())
        })
        .collect()
}

#[derive(Debug)]
struct Gates {
    rows: usize,
    heads: usize,
    max_beta: f32,
}

impl Kernel<4> for Gates {
    fn shape(&self) -> Vec<usize> {
        vec![self.rows, 2 * self.heads]
    }

    fn forward(&self, [a, b, a_log, dt_bias]: [&[f32]; 4], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut gates = Vec::with_capacity(2 * a.len());
        for (a, b) in a.chunks_exact(self.heads).zip(b.chunks_exact(self.heads)) {
            let of_row = gates_row(a, b, a_log, dt_bias, self.max_beta);
            gates.extend(of_row.iter().map(|&(decay, _)| decay));
            gates.extend(of_row.iter().map(|&(_, strength)| strength));
        }
        (gates, Vec::new())
    }

    fn backward(&self, [a, b, a_log, dt_bias]: [&[f32]; 4], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 4] {
        let (mut grad_a, mut grad_b) = (vec![0.0; a.len()], vec![0.0; b.len()]);
        let mut sums = vec![(0.0f64, 0.0f64); self.heads];
        for (row, gradient) in gradient.chunks_exact(2 * self.heads).enumerate() {
            for (head, (grad_a_log, grad_dt_bias)) in sums.iter_mut().enumerate() {
                let at = row * self.heads + head;
                let (grad_decay, grad_strength) = (gradient[head], gradient[self.heads + head]);
                let (rate, x) = (a_log[head].exp(), a[at] + dt_bias[head]);
                grad_a[at] = -grad_decay * rate * x.sigmoid();
                *grad_dt_bias += f64::from(grad_a[at]);
                *grad_a_log -= f64::from(grad_decay * rate * x.softplus());
                let share = b[at].sigmoid();
                grad_b[at] = grad_strength * self.max_beta * share * (1.0 - share);
            }
        }
        let (grad_a_log, grad_dt_bias) = sums.into_iter().map(|(log, bias)| (log as f32, bias as f32)).unzip();
        [grad_a, grad_b, grad_a_log, grad_dt_bias]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, random, values};

    #[test]
    fn the_kernel_equals_the_composed_form_and_so_do_its_gradients() {
        for max_beta in [1.0, 2.0] {
            let leaf = |x: Tensor<2>| x.autodiff().require_grad();
            let (a, b) = (leaf(random([7, 3], 1, 3.0)), leaf(random([7, 3], 2, 2.0)));
            let (a_log, bias) = (leaf(random([1, 3], 3, 1.0)), leaf(random([1, 3], 4, 1.0)));
            let pull = random::<2>([7, 6], 5, 1.0);
            let flat = |x: &Tensor<2>| x.clone().reshape([3]);
            let kernel = gates(a.clone(), b.clone(), flat(&a_log), flat(&bias), max_beta);
            let decomposed = decompose(a.clone(), b.clone(), flat(&a_log), flat(&bias), max_beta);
            assert_close(&values(&kernel), &values(&decomposed), 1e-6);
            let found = (kernel * pull.clone()).sum().backward();
            let expected = (decomposed * pull).sum().backward();
            for leaf in [a, b, a_log, bias] {
                assert_close(&values(&leaf.grad(&found).unwrap()), &values(&leaf.grad(&expected).unwrap()), 3e-6);
            }
        }
    }

    #[test]
    fn steep_inputs_stay_finite() {
        let row = gates_row(&[1e4f32, -1e4], &[1e4, -1e4], &[2.77, 2.77], &[0.0, 0.0], 2.0);
        assert!(row.iter().all(|(decay, strength)| decay.is_finite() && *decay <= 0.0 && strength.is_finite()));
        assert_eq!((row[0].1, row[1].1), (2.0, 0.0));
        let device = crate::device::cpu();
        let steep = Tensor::<2>::from_floats([[1e4, -1e4]], &device).autodiff().require_grad();
        let rates = Tensor::<1>::from_floats([2.77, 2.77], &device);
        let decomposed = decompose(steep.clone(), steep.clone(), rates.clone(), rates * 0.0, 2.0);
        assert!(values(&decomposed).iter().all(|gate| gate.is_finite()));
        assert_eq!(values(&decomposed)[2..], [2.0, 0.0]);
        let gradient = values(&steep.grad(&decomposed.sum().backward()).unwrap());
        assert!(gradient.iter().all(|grad| grad.is_finite()));
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        for (rows, heads) in [(1, 1), (70, 3), (32, 8)] {
            let of = |length: usize, seed, deviation| random::<1>([length], seed, deviation);
            // Steep ones too, where a careless softplus has no digits or no end.
            let a = Tensor::cat(vec![of(rows * heads - 1, 1, 3.0), of(1, 9, 1.0) * 0.0 - 60.0], 0);
            let inputs = [a, of(rows * heads, 2, 20.0), of(heads, 3, 1.0), of(heads, 4, 1.0)];
            crate::testing::assert_gpu_agrees(inputs, 2e-6, |[a, b, a_log, dt_bias]| {
                gates(a.reshape([rows, heads]), b.reshape([rows, heads]), a_log, dt_bias, 2.0).flatten(0, 1)
            });
        }
    }
}
