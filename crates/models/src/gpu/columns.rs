//! Columns of a matrix as matrices of their own, and back: one product serves several operations, and their gradients become
//! one matrix again in a single launch.

use std::fmt;
use std::sync::{Arc, Mutex};

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::NoCheckpointing};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::tensor::Tensor;
use cubecl::prelude::*;

use super::array::{Array, Backend, Gpu, cubes_of};
use super::operation::{Operation, apply};
use super::{THREADS, WRONG_TENSOR};

/// The columns of `x` [rows, Σ widths], as a tensor [rows, width] for each of at most six widths.
///
/// Every part must be used: the gradient of `x` is registered with the last part's.
pub(crate) fn split_columns<const N: usize>(x: Tensor<2>, widths: [usize; N]) -> [Tensor<2>; N] {
    let rows = x.dims()[0];
    let (x, columns) = (x.flatten::<1>(0, 1), Columns { rows, widths });
    let tensors = if x.is_autodiff() {
        let x = x.try_into_primitive::<Autodiff<Backend>>().expect(WRONG_TENSOR);
        let parts = columns.split(&Array::new(x.primitive().clone()));
        let gradients = Arc::new(Mutex::new([const { None }; N]));
        std::array::from_fn(|index| {
            let part = parts[index].clone().into_tensor();
            let tracked = match Part::<N>.prepare::<NoCheckpointing>([x.node()]).compute_bound().stateful() {
                OpsKind::Tracked(ops) => ops.finish(PartOf { columns, index, gradients: gradients.clone() }, part),
                OpsKind::UnTracked(ops) => ops.finish(part),
            };
            Tensor::<1>::from_primitive::<Autodiff<Backend>>(tracked)
        })
    } else {
        columns.split(&Array::from(x)).map(|part| Tensor::from_primitive::<Backend>(part.into_tensor()))
    };
    let mut widths = widths.into_iter();
    tensors.map(|tensor| tensor.reshape([rows, widths.next().expect("a width for each part")]))
}

/// The rows of matrices of the same width, one matrix after the other; at most six.
pub(crate) fn join_rows<const N: usize>(matrices: [Tensor<2>; N]) -> Tensor<2> {
    let width = matrices[0].dims()[1];
    let widths = matrices.each_ref().map(|matrix| matrix.shape().num_elements());
    apply(matrices.map(|matrix| matrix.flatten(0, 1)), Columns { rows: 1, widths })
        .reshape([widths.iter().sum::<usize>() / width, width])
}

#[derive(Clone, Copy, Debug)]
struct Columns<const N: usize> {
    rows: usize,
    widths: [usize; N],
}

impl<const N: usize> Columns<N> {
    /// [rows, Σ widths] to [rows, width] for each width.
    fn split(&self, x: &Array) -> [Array; N] {
        let gpu = x.gpu();
        let (whole, parts, starts) = gpu.empty_parts(self.widths.map(|width| self.rows * width));
        let (cubes, threads) = (cubes_of(x.len()), CubeDim::new_1d(THREADS));
        let (widths, starts, [rows, all]) = (sequence(self.widths), sequence(starts), self.size());
        split::launch(gpu.client(), cubes, threads, x.arg(), whole.arg(), widths, starts, rows, all);
        parts
    }

    /// The reverse of [`Columns::split`].
    fn join(&self, gpu: &Gpu, parts: [&Array; N]) -> Array {
        let joined = gpu.empty(self.rows * self.widths.iter().sum::<usize>());
        let mut arrays = SequenceArg::new();
        parts.into_iter().for_each(|part| arrays.push(part.arg()));
        let (cubes, threads) = (cubes_of(joined.len()), CubeDim::new_1d(THREADS));
        let (widths, [rows, all]) = (sequence(self.widths), self.size());
        join::launch(gpu.client(), cubes, threads, arrays, joined.arg(), widths, rows, all);
        joined
    }

    /// Rows and columns of the joined matrix.
    fn size(&self) -> [u32; 2] {
        [self.rows as u32, self.widths.iter().sum::<usize>() as u32]
    }
}

fn sequence<const N: usize>(values: [usize; N]) -> SequenceArg<u32> {
    let mut sequence = SequenceArg::new();
    values.into_iter().for_each(|value| sequence.push(value as u32));
    sequence
}

/// Joins matrices, [rows, width] each.
impl<const N: usize> Operation<N> for Columns<N> {
    fn forward(&self, gpu: &Gpu, inputs: [&Array; N], _save: bool) -> (Array, Vec<Array>) {
        (self.join(gpu, inputs), Vec::new())
    }

    fn backward(&self, _: &Gpu, _: [&Array; N], _: &[Array], gradient: &Array, _: [bool; N]) -> [Option<Array>; N] {
        self.split(gradient).map(Some)
    }
}

#[derive(Debug)]
struct Part<const N: usize>;

/// One part of a matrix, and what the parts that were before it in the backward pass have left.
#[derive(Clone)]
struct PartOf<const N: usize> {
    columns: Columns<N>,
    index: usize,
    gradients: Arc<Mutex<[Option<Array>; N]>>,
}

impl<const N: usize> fmt::Debug for PartOf<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "part {} of {:?}", self.index, self.columns)
    }
}

impl<const N: usize> Backward<Backend, 1> for Part<N> {
    type State = PartOf<N>;

    fn backward(self, ops: Ops<PartOf<N>, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = Array::new(gradients.consume::<Backend>(&ops.node));
        let ([parent], PartOf { columns, index, gradients: of_parts }) = (ops.parents, ops.state);
        let mut of_parts = of_parts.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let gpu = gradient.gpu();
        of_parts[index] = Some(gradient);
        if let (Some(parent), true) = (parent, of_parts.iter().all(Option::is_some)) {
            let parts = std::mem::replace(&mut *of_parts, [const { None }; N]);
            let parts = parts.each_ref().map(|part| part.as_ref().expect("all parts are there"));
            gradients.register::<Backend>(parent.id, columns.join(&gpu, parts).into_tensor());
        }
    }
}

/// An element of `x` a thread.
#[cube(launch)]
fn split(x: &[f32], into: &mut [f32], widths: &Sequence<u32>, starts: &Sequence<u32>, rows: u32, all: u32) {
    let parts = comptime!(widths.len());
    let at = ABSOLUTE_POS as u32;
    if at < rows * all {
        let row = at / all;
        let mut column = at % all;
        #[unroll]
        for i in 0..parts {
            // A column of an earlier part has wrapped round, and is larger than any width.
            if column < widths[i] {
                into[(starts[i] + row * widths[i] + column) as usize] = x[ABSOLUTE_POS];
            }
            column -= widths[i];
        }
    }
}

/// An element of `into` a thread.
#[cube(launch)]
fn join(parts: &Sequence<Box<[f32]>>, into: &mut [f32], widths: &Sequence<u32>, rows: u32, all: u32) {
    let count = comptime!(widths.len());
    let at = ABSOLUTE_POS as u32;
    if at < rows * all {
        let row = at / all;
        let mut column = at % all;
        #[unroll]
        for i in 0..count {
            if column < widths[i] {
                into[ABSOLUTE_POS] = parts[i][(row * widths[i] + column) as usize];
            }
            column -= widths[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_gpu_agrees, random, values};

    #[test]
    fn parts_are_the_columns_and_their_gradients_are_one_matrix_again() {
        for (rows, widths) in [(1, [1, 1, 1]), (37, [5, 64, 3]), (300, [70, 1, 2])] {
            let all: usize = widths.iter().sum();
            assert_gpu_agrees([random::<1>([rows * all], 1, 1.0)], 0.0, |[x]| {
                let x = x.reshape([rows, all]);
                let parts = if x.device().inner() == crate::device::cpu() {
                    let mut end = 0;
                    widths.map(|width| {
                        end += width;
                        x.clone().slice([0..rows, end - width..end])
                    })
                } else {
                    split_columns(x, widths)
                };
                let mut power = 0;
                let parts = parts.map(|part| {
                    power += 1;
                    (part * f32::from(1i16 << power)).flatten::<1>(0, 1)
                });
                Tensor::cat(parts.to_vec(), 0)
            });
        }
    }

    #[test]
    fn rows_of_matrices_are_joined_and_parted() {
        let matrices = [3usize, 1, 40].map(|rows| random::<1>([rows * 7], rows as u64, 1.0));
        assert_gpu_agrees(matrices, 0.0, |matrices| {
            let on_cpu = matrices[0].device().inner() == crate::device::cpu();
            let matrices = matrices.map(|matrix| {
                let rows = matrix.dims()[0] / 7;
                matrix.reshape([rows, 7])
            });
            let joined = if on_cpu { Tensor::cat(matrices.to_vec(), 0) } else { join_rows(matrices) };
            joined.flatten(0, 1)
        });
    }

    #[test]
    fn a_part_that_is_a_constant_leaves_nothing_behind() {
        let Some(gpu) = crate::testing::gpu() else { return };
        let x = Tensor::<1>::from_data(random::<1>([12], 1, 1.0).into_data(), &gpu).reshape([4, 3]);
        let [a, b] = split_columns(x.clone().autodiff(), [1, 2]);
        assert_eq!([values(&a).len(), values(&b).len()], [4, 8]);
        assert_eq!(values(&a)[1], values(&x)[3]);
    }
}
