//! The gate after the recurrence, which also joins the outputs of a head.

#[cfg(feature = "gpu")]
mod gpu;

use burn::tensor::Tensor;
use burn::tensor::activation::silu;

use super::Widths;
use crate::ops::exp::sigmoid;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};

/// out[h, p] = Σ_r mimo_o[h, r, p] · y[h, r, p] · SiLU(z[h, p] · mimo_z[h, r, p]): `y` [rows, heads * ranks * head width],
/// `z` [rows, heads * head width], the parameters [heads, ranks, head width]; gives the shape of `z`.
pub fn gate(y: Tensor<2>, z: Tensor<2>, mimo_z: Tensor<3>, mimo_o: Tensor<3>, widths: Widths) -> Tensor<2> {
    let shape = z.dims();
    match implementation(&z.device()) {
        Implementation::Cpu => {
            let operands = [Operand::from(y), Operand::from(z), Operand::from(mimo_z), Operand::from(mimo_o)];
            apply(operands, Gate { rows: shape[0], widths })
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let inputs = [y.flatten(0, 1), z.flatten(0, 1), mimo_z.flatten(0, 2), mimo_o.flatten(0, 2)];
            crate::gpu::apply(inputs, gpu::Gate { rows: shape[0], widths }).reshape(shape)
        }
        Implementation::Decomposed => decompose(y, z, mimo_z, mimo_o, widths),
    }
}

/// Computes [`gate`] by Burn's operations.
fn decompose(y: Tensor<2>, z: Tensor<2>, mimo_z: Tensor<3>, mimo_o: Tensor<3>, widths: Widths) -> Tensor<2> {
    let ([rows, inner], Widths { size, ranks, .. }) = (z.dims(), widths);
    let y = y.reshape([rows, size.heads, ranks, size.head_width]);
    let z = z.reshape([rows, size.heads, 1, size.head_width]);
    let gates = silu(z * mimo_z.unsqueeze::<4>());
    (y * gates * mimo_o.unsqueeze::<4>()).sum_dim(2).reshape([rows, inner])
}

#[derive(Debug)]
struct Gate {
    rows: usize,
    widths: Widths,
}

impl Gate {
    /// Iterates over each (row, head): the ranges of its values in `z`, in `y` and in the parameters.
    fn heads(&self) -> impl Iterator<Item = [std::ops::Range<usize>; 3]> + '_ {
        let (heads, width, values) = (self.widths.size.heads, self.widths.size.head_width, self.widths.values());
        (0..self.rows * heads).map(move |head_row| {
            let head = head_row % heads;
            [
                head_row * width..(head_row + 1) * width,
                head_row * values..(head_row + 1) * values,
                head * values..(head + 1) * values,
            ]
        })
    }
}

impl Kernel<4> for Gate {
    fn shape(&self) -> Vec<usize> {
        vec![self.rows, self.widths.size.inner]
    }

    fn forward(&self, [y, z, mimo_z, mimo_o]: [&[f32]; 4], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut out = vec![0.0; z.len()];
        for [of_z, of_y, of] in self.heads() {
            forward_head(&y[of_y], &z[of_z.clone()], &mimo_z[of.clone()], &mimo_o[of], &mut out[of_z]);
        }
        (out, Vec::new())
    }

    fn backward(&self, [y, z, mimo_z, mimo_o]: [&[f32]; 4], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 4] {
        let mut into = [y, z, mimo_z, mimo_o].map(|input| vec![0.0; input.len()]);
        let [grad_y, grad_z, grad_mimo_z, grad_mimo_o] = &mut into;
        for [of_z, of_y, of] in self.heads() {
            let head_row = HeadRow {
                y: &y[of_y.clone()],
                z: &z[of_z.clone()],
                mimo_z: &mimo_z[of.clone()],
                mimo_o: &mimo_o[of.clone()],
                gradient: &gradient[of_z.clone()],
            };
            let gradients = Gradients {
                y: &mut grad_y[of_y],
                z: &mut grad_z[of_z],
                mimo_z: &mut grad_mimo_z[of.clone()],
                mimo_o: &mut grad_mimo_o[of],
            };
            backward_head(head_row, gradients);
        }
        into
    }
}

#[macerator::with_simd]
fn forward_head<S: macerator::Simd>(y: &[f32], z: &[f32], mimo_z: &[f32], mimo_o: &[f32], out: &mut [f32]) {
    let width = z.len();
    let ranks = y.chunks_exact(width).zip(mimo_z.chunks_exact(width)).zip(mimo_o.chunks_exact(width));
    for ((y, mimo_z), mimo_o) in ranks {
        for (((out, y), z), (mimo_z, mimo_o)) in out.iter_mut().zip(y).zip(z).zip(mimo_z.iter().zip(mimo_o)) {
            let gate = z * mimo_z;
            *out += mimo_o * y * gate * sigmoid(gate);
        }
    }
}

/// One head of one row.
struct HeadRow<'a> {
    y: &'a [f32],
    z: &'a [f32],
    mimo_z: &'a [f32],
    mimo_o: &'a [f32],
    gradient: &'a [f32],
}

struct Gradients<'a> {
    y: &'a mut [f32],
    z: &'a mut [f32],
    mimo_z: &'a mut [f32],
    mimo_o: &'a mut [f32],
}

#[macerator::with_simd]
fn backward_head<'a, S: macerator::Simd>(head_row: HeadRow<'a>, into: Gradients<'a>) {
    let width = head_row.z.len();
    for (rank, y) in head_row.y.chunks_exact(width).enumerate() {
        let of = rank * width..(rank + 1) * width;
        let inputs = y.iter().zip(head_row.z).zip(head_row.mimo_z[of.clone()].iter().zip(&head_row.mimo_o[of.clone()]));
        let parameters = into.mimo_z[of.clone()].iter_mut().zip(&mut into.mimo_o[of.clone()]);
        let outputs = into.y[of].iter_mut().zip(into.z.iter_mut()).zip(parameters);
        for ((((y, z), (mimo_z, mimo_o)), g), ((grad_y, grad_z), (grad_mimo_z, grad_mimo_o))) in
            inputs.zip(head_row.gradient).zip(outputs)
        {
            let gate = z * mimo_z;
            let s = sigmoid(gate);
            let silu = gate * s;
            *grad_y = g * mimo_o * silu;
            *grad_mimo_o += g * y * silu;
            let grad = g * mimo_o * y * s * (1.0 + gate * (1.0 - s));
            *grad_z += grad * mimo_z;
            *grad_mimo_z += grad * z;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rotation::Pairing;
    use super::*;
    use crate::layers::mamba::MixerSize;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    #[test]
    fn the_kernel_equals_the_composed_form_and_so_do_its_gradients() {
        for ranks in [1, 3] {
            let size = MixerSize { width: 5, inner: 10, heads: 2, head_width: 5, state: 4 };
            let widths = Widths { size, ranks, pairing: Pairing::Halves };
            let y = random::<2>([7, 10 * ranks], 1, 1.0).autodiff().require_grad();
            let z = random::<2>([7, 10], 2, 1.0).autodiff().require_grad();
            let parameter = |seed| random::<3>([2, ranks, 5], seed, 1.0).autodiff().require_grad();
            let (mimo_z, mimo_o) = (parameter(3), parameter(4));
            let pull = random::<2>([7, 10], 5, 1.0);
            let kernel = gate(y.clone(), z.clone(), mimo_z.clone(), mimo_o.clone(), widths);
            let decomposed = decompose(y.clone(), z.clone(), mimo_z.clone(), mimo_o.clone(), widths);
            assert_close(&values(&kernel), &values(&decomposed), 2e-6);
            let found = (kernel * pull.clone()).sum().backward();
            let expected = (decomposed * pull).sum().backward();
            for tensor in [&y, &z] {
                assert_close(&values(&tensor.grad(&found).unwrap()), &values(&tensor.grad(&expected).unwrap()), 3e-6);
            }
            for tensor in [&mimo_z, &mimo_o] {
                assert_close(&values(&tensor.grad(&found).unwrap()), &values(&tensor.grad(&expected).unwrap()), 3e-6);
            }
            let (y, z, mimo_o) = (y.inner(), z.inner(), mimo_o.inner());
            assert_finite_differences(mimo_z.inner(), |mimo_z| {
                gate(y.clone(), z.clone(), mimo_z, mimo_o.clone(), widths)
            });
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        let (rows, size) = (131, MixerSize { width: 7, inner: 14, heads: 2, head_width: 7, state: 4 });
        for ranks in [1, 3] {
            let widths = Widths { size, ranks, pairing: Pairing::Halves };
            let of = |length: usize, seed| random::<1>([length], seed, 1.0);
            let run = |y: Tensor<1>, z: Tensor<1>, mimo_z: Tensor<1>, mimo_o: Tensor<1>| {
                let (y, z) = (y.reshape([rows, 14 * ranks]), z.reshape([rows, 14]));
                let parameter = |of: Tensor<1>| of.reshape([2, ranks, 7]);
                gate(y, z, parameter(mimo_z), parameter(mimo_o), widths).flatten(0, 1)
            };
            let (y, z, parameters) =
                (of(rows * 14 * ranks, 1), of(rows * 14, 2), [of(14 * ranks, 3), of(14 * ranks, 4)]);
            let [mimo_z, mimo_o] = parameters.clone();
            let inputs = [y.clone(), z.clone(), mimo_z, mimo_o];
            crate::testing::assert_gpu_agrees(inputs, 3e-6, |[y, z, mimo_z, mimo_o]| run(y, z, mimo_z, mimo_o));
            crate::testing::assert_gpu_agrees([y, z], 3e-6, |[y, z]| {
                let [mimo_z, mimo_o] =
                    parameters.clone().map(|of| Tensor::from_data(of.into_data(), &y.device().inner()));
                run(y, z, mimo_z, mimo_o)
            });
        }
    }
}
