//! The gated linear unit with SiLU (Shazeer 2020).

#[cfg(feature = "gpu")]
mod gpu;

use burn::tensor::Tensor;
use burn::tensor::activation::silu;

use super::exp::sigmoid;
use super::implementation::{Implementation, implementation};
use super::kernel::{Kernel, Operand, apply};
#[cfg(feature = "gpu")]
use super::linear::linear;
use super::linear::linears;
use crate::Precision;

/// The half of the input that goes through SiLU. Families differ in this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The first half.
    First,
    /// The second half.
    Second,
}

/// SiLU(gate) ⊙ value, the two being the halves of `x` [rows, 2 * width]; gives [rows, width].
///
/// # Panics
/// `x` has an odd number of columns: a mistake in a family.
pub fn swiglu(x: Tensor<2>, gate: Gate) -> Tensor<2> {
    let [rows, columns] = x.dims();
    assert!(columns.is_multiple_of(2), "a gated input has two halves, not {columns} columns");
    let width = columns / 2;
    match implementation(&x.device()) {
        Implementation::Cpu => apply([Operand::from(x)], SwiGlu { rows, width, gate }),
        #[cfg(feature = "gpu")]
        Implementation::Gpu => crate::gpu::apply([x.flatten(0, 1)], gpu::SwiGlu { width, gate }).reshape([rows, width]),
        Implementation::Decomposed => decompose(x, gate),
    }
}

/// Computes [`swiglu`] by Burn's operations.
fn decompose(x: Tensor<2>, gate: Gate) -> Tensor<2> {
    let [rows, columns] = x.dims();
    let first = x.clone().slice([0..rows, 0..columns / 2]);
    let second = x.slice([0..rows, columns / 2..columns]);
    let (gate, value) = if gate == Gate::First { (first, second) } else { (second, first) };
    silu(gate) * value
}

/// SiLU(x Gᵀ) ⊙ (x Vᵀ) for `x` [rows, in] and the weights G and V [width, in] of gate and value; gives [rows, width]. On a GPU
/// it is one product of both.
pub fn swiglu_of(x: Tensor<2>, gate: Tensor<2>, value: Tensor<2>, precision: Precision) -> Tensor<2> {
    #[cfg(feature = "gpu")]
    if implementation(&x.device()) == Implementation::Gpu {
        let joined = crate::gpu::join_rows([gate, value]);
        return swiglu(linear(x, joined, None, precision), Gate::First);
    }
    let [gate, value] = linears(x, [gate, value], precision);
    silu_gate(gate, value)
}

/// SiLU(gate) ⊙ value for two tensors of one shape, [rows, width].
fn silu_gate(gate: Tensor<2>, value: Tensor<2>) -> Tensor<2> {
    let shape = gate.dims();
    match implementation(&gate.device()) {
        Implementation::Cpu => apply([Operand::from(gate), Operand::from(value)], SiluGate { shape }),
        _ => silu(gate) * value,
    }
}

#[derive(Debug)]
struct SiluGate {
    shape: [usize; 2],
}

impl Kernel<2> for SiluGate {
    fn shape(&self) -> Vec<usize> {
        self.shape.to_vec()
    }

    fn forward(&self, [gate, value]: [&[f32]; 2], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut y = vec![0.0; gate.len()];
        forward_row(gate, value, &mut y);
        (y, Vec::new())
    }

    fn backward(&self, [gate, value]: [&[f32]; 2], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 2] {
        let (mut grad_gate, mut grad_value) = (vec![0.0; gate.len()], vec![0.0; gate.len()]);
        backward_row(gate, value, gradient, &mut grad_gate, &mut grad_value);
        [grad_gate, grad_value]
    }
}

#[derive(Debug)]
struct SwiGlu {
    rows: usize,
    width: usize,
    gate: Gate,
}

impl SwiGlu {
    /// Gate and value of a row.
    fn halves<'a>(&self, row: &'a [f32]) -> (&'a [f32], &'a [f32]) {
        let (first, second) = row.split_at(self.width);
        if self.gate == Gate::First { (first, second) } else { (second, first) }
    }
}

impl Kernel<1> for SwiGlu {
    fn shape(&self) -> Vec<usize> {
        vec![self.rows, self.width]
    }

    fn forward(&self, [x]: [&[f32]; 1], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut y = vec![0.0; self.rows * self.width];
        for (row, y) in x.chunks_exact(2 * self.width).zip(y.chunks_exact_mut(self.width)) {
            let (gate, value) = self.halves(row);
            forward_row(gate, value, y);
        }
        (y, Vec::new())
    }

    fn backward(&self, [x]: [&[f32]; 1], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 1] {
        let mut grad_x = vec![0.0; x.len()];
        let rows = x.chunks_exact(2 * self.width).zip(grad_x.chunks_exact_mut(2 * self.width));
        for ((row, into), g) in rows.zip(gradient.chunks_exact(self.width)) {
            let (gate, value) = self.halves(row);
            let (first, second) = into.split_at_mut(self.width);
            let (grad_gate, grad_value) = if self.gate == Gate::First { (first, second) } else { (second, first) };
            backward_row(gate, value, g, grad_gate, grad_value);
        }
        [grad_x]
    }
}

#[macerator::with_simd]
fn forward_row<S: macerator::Simd>(gate: &[f32], value: &[f32], y: &mut [f32]) {
    for ((y, &gate), value) in y.iter_mut().zip(gate).zip(value) {
        *y = gate * sigmoid(gate) * value;
    }
}

#[macerator::with_simd]
fn backward_row<S: macerator::Simd>(
    gate: &[f32],
    value: &[f32],
    g: &[f32],
    grad_gate: &mut [f32],
    grad_value: &mut [f32],
) {
    let inputs = gate.iter().zip(value).zip(g);
    for (((&gate, value), g), (grad_gate, grad_value)) in inputs.zip(grad_gate.iter_mut().zip(grad_value)) {
        let s = sigmoid(gate);
        *grad_gate = g * value * s * (1.0 + gate * (1.0 - s));
        *grad_value = g * gate * s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    #[test]
    fn the_kernel_equals_the_composed_form_and_so_do_its_gradients() {
        for gate in [Gate::First, Gate::Second] {
            let x = random::<2>([6, 38], 1, 3.0).autodiff().require_grad();
            let pull = random::<2>([6, 19], 2, 1.0);
            let (kernel, decomposed) = (swiglu(x.clone(), gate), decompose(x.clone(), gate));
            assert_close(&values(&kernel), &values(&decomposed), 1e-6);
            let found = x.grad(&(kernel * pull.clone()).sum().backward()).unwrap();
            let expected = x.grad(&(decomposed * pull).sum().backward()).unwrap();
            assert_close(&values(&found), &values(&expected), 2e-6);
        }
    }

    #[test]
    fn its_gradient_is_its_slope() {
        assert_finite_differences(random::<2>([4, 10], 1, 1.0), |x| swiglu(x, Gate::First));
        assert_finite_differences(random::<2>([4, 10], 1, 1.0), |x| swiglu(x, Gate::Second));
    }

    #[test]
    fn two_tensors_are_gated_as_two_halves_are() {
        let leaf = |seed| random::<2>([6, 19], seed, 2.0).autodiff().require_grad();
        let (gate, value) = (leaf(1), leaf(2));
        let pull = random::<2>([6, 19], 3, 1.0);
        let halves = swiglu(Tensor::cat(vec![gate.clone(), value.clone()], 1), Gate::First);
        let apart = silu_gate(gate.clone(), value.clone());
        assert_eq!(values(&apart), values(&halves));
        let found = (apart * pull.clone()).sum().backward();
        let expected = (halves * pull).sum().backward();
        for leaf in [gate, value] {
            assert_eq!(values(&leaf.grad(&found).unwrap()), values(&leaf.grad(&expected).unwrap()));
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        for (rows, width) in [(37, 19), (1, 1), (0, 19)] {
            for gate in [Gate::First, Gate::Second] {
                let x = random::<2>([rows, 2 * width], 1, 3.0).flatten(0, 1);
                crate::testing::assert_gpu_agrees([x], 2e-6, |[x]| {
                    swiglu(x.reshape([rows, 2 * width]), gate).flatten(0, 1)
                });
            }
            let inputs = [[rows, 5], [width, 5], [width, 5]].map(|shape| random::<2>(shape, 1, 1.0).flatten(0, 1));
            crate::testing::assert_gpu_agrees(inputs, 2e-6, |[x, gate, value]| {
                let [gate, value] = [gate, value].map(|weight| weight.reshape([width, 5]));
                swiglu_of(x.reshape([rows, 5]), gate, value, Precision::Fp32).flatten(0, 1)
            });
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn far_out_it_stays_finite_on_a_gpu_and_nan_is_not_hidden() {
        let Some(gpu) = crate::testing::gpu() else { return };
        let x = Tensor::<2>::from_floats([[-1e30, -100.0, 100.0, 1e10, f32::NAN, 2.0, 2.0, 2.0, 2.0, 2.0]], &gpu);
        let y = values(&swiglu(x, Gate::First));
        assert!(y[..2].iter().all(|y| y.abs() < 1e-30) && y[4].is_nan(), "{y:?}");
        assert_eq!(y[2..4], [200.0, 2e10]);
    }

    #[test]
    fn far_out_it_stays_finite() {
        let x = Tensor::<2>::from_floats([[-1e30, -100.0, 100.0, 1e10, 2.0, 2.0, 2.0, 2.0]], &crate::device::cpu());
        assert_eq!(values(&swiglu(x.clone(), Gate::First))[2..], [200.0, 2e10]);
        assert_eq!(values(&decompose(x, Gate::First))[2..], [200.0, 2e10]);
    }
}
