//! Operations on the CPU with a backward pass of their own, as nodes of Burn's graph.

use std::fmt::Debug;
use std::sync::Arc;

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::NoCheckpointing};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, AutodiffBackend, Flex, TensorMetadata};
use burn::tensor::{Tensor, TensorData};

/// An operation from `N` tensors to one, all f32, given and returned as contiguous slices; it holds their shapes.
pub(crate) trait Kernel<const N: usize>: Debug + Send + Sync + 'static {
    /// Shape of the output.
    fn shape(&self) -> Vec<usize>;

    /// The output; and, if `save`, what the backward pass wants to have kept.
    fn forward(&self, inputs: [&[f32]; N], save: bool) -> (Vec<f32>, Vec<Vec<f32>>);

    /// Gradients of the inputs, from that of the output.
    fn backward(&self, inputs: [&[f32]; N], saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; N];
}

/// A tensor of any rank, as input of a kernel.
pub(crate) enum Operand {
    Constant(FlexTensor),
    Tracked(burn::backend::tensor::FloatTensor<Autodiff<Flex>>),
}

impl<const D: usize> From<Tensor<D>> for Operand {
    fn from(tensor: Tensor<D>) -> Self {
        const WRONG: &str = "kernels run on the CPU, without gradient checkpointing";
        if tensor.is_autodiff() {
            Operand::Tracked(tensor.try_into_primitive::<Autodiff<Flex>>().expect(WRONG))
        } else {
            Operand::Constant(tensor.try_into_primitive::<Flex>().expect(WRONG))
        }
    }
}

#[cfg(test)]
thread_local! {
    /// Kernels that were applied on this thread.
    pub(crate) static APPLIED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Applies `kernel`; the graph remembers it if any operand is tracked.
pub(crate) fn apply<const N: usize, const D: usize>(operands: [Operand; N], kernel: impl Kernel<N>) -> Tensor<D> {
    #[cfg(test)]
    APPLIED.set(APPLIED.get() + 1);
    if operands.iter().all(|operand| matches!(operand, Operand::Constant(_))) {
        let inputs = operands.map(|operand| match operand {
            Operand::Constant(tensor) => tensor.to_contiguous(),
            Operand::Tracked(_) => unreachable!("all are constant"),
        });
        let (values, _) = kernel.forward(slices(&inputs), false);
        return Tensor::from_primitive::<Flex>(tensor(values, kernel.shape()));
    }
    let tracked = operands.map(|operand| match operand {
        Operand::Constant(tensor) => <Autodiff<Flex> as AutodiffBackend>::from_inner(tensor),
        Operand::Tracked(tensor) => tensor,
    });
    let mut primitives = Vec::with_capacity(N);
    let guards = tracked.map(|operand| {
        let (primitive, guard) = operand.into_parts();
        primitives.push(primitive.to_contiguous());
        guard
    });
    let inputs: [FlexTensor; N] = primitives.try_into().unwrap_or_else(|_| unreachable!("one primitive per operand"));
    let output = match Node.prepare::<NoCheckpointing>(guards).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let (values, saved) = kernel.forward(slices(&inputs), true);
            let output = tensor(values, kernel.shape());
            prepared.finish(Record { kernel: Arc::new(kernel), inputs, saved: Arc::new(saved) }, output)
        }
        OpsKind::UnTracked(prepared) => {
            let (values, _) = kernel.forward(slices(&inputs), false);
            prepared.finish(tensor(values, kernel.shape()))
        }
    };
    Tensor::from_primitive::<Autodiff<Flex>>(output)
}

fn slices<const N: usize>(tensors: &[FlexTensor; N]) -> [&[f32]; N] {
    tensors.each_ref().map(|tensor| tensor.as_slice::<f32>().expect("contiguous f32"))
}

fn tensor(values: Vec<f32>, shape: Vec<usize>) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape))
}

#[derive(Debug)]
struct Node;

struct Record<const N: usize> {
    kernel: Arc<dyn Kernel<N>>,
    inputs: [FlexTensor; N],
    saved: Arc<Vec<Vec<f32>>>,
}

impl<const N: usize> Clone for Record<N> {
    fn clone(&self) -> Self {
        Record { kernel: self.kernel.clone(), inputs: self.inputs.clone(), saved: self.saved.clone() }
    }
}

impl<const N: usize> Debug for Record<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.kernel.fmt(f)
    }
}

impl<const N: usize> Backward<Flex, N> for Node {
    type State = Record<N>;

    fn backward(self, ops: Ops<Record<N>, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let Record { kernel, inputs, saved } = ops.state;
        let saved = Arc::try_unwrap(saved).unwrap_or_else(|shared| (*shared).clone());
        let found = kernel.backward(slices(&inputs), saved, slices(&[gradient])[0]);
        for ((parent, input), values) in ops.parents.into_iter().zip(inputs).zip(found) {
            if let Some(parent) = parent {
                gradients.register::<Flex>(parent.id, tensor(values, input.shape().to_vec()));
            }
        }
    }
}
