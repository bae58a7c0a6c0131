//! Operations on a GPU with a backward pass of their own, as nodes of Burn's graph.

use std::fmt::Debug;
use std::sync::Arc;

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::NoCheckpointing};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::{Autodiff, AutodiffBackend};
use burn::tensor::Tensor;

use super::WRONG_TENSOR;
use super::array::{Array, Backend, Gpu};

/// An operation from `N` arrays of f32 to one; it holds their shapes.
pub(crate) trait Operation<const N: usize>: Debug + Send + Sync + 'static {
    /// The output; and, if `save`, what the backward pass wants to have kept.
    fn forward(&self, gpu: &Gpu, inputs: [&Array; N], save: bool) -> (Array, Vec<Array>);

    /// Gradients of the inputs, from that of the output. Those that are not `wanted` may be left out.
    fn backward(
        &self,
        gpu: &Gpu,
        inputs: [&Array; N],
        saved: &[Array],
        gradient: &Array,
        wanted: [bool; N],
    ) -> [Option<Array>; N];
}

/// Applies `operation` to tensors of one GPU; the graph remembers it if any of them is tracked.
pub(crate) fn apply<const N: usize>(inputs: [Tensor<1>; N], operation: impl Operation<N>) -> Tensor<1> {
    if inputs.iter().all(|input| !input.is_autodiff()) {
        let inputs = inputs.map(|input| Array::new(input.try_into_primitive::<Backend>().expect(WRONG_TENSOR)));
        let (output, _) = operation.forward(&inputs[0].gpu(), inputs.each_ref(), false);
        return Tensor::from_primitive::<Backend>(output.into_tensor());
    }
    let mut arrays = Vec::with_capacity(N);
    let guards = inputs.map(|input| {
        let tracked = if input.is_autodiff() {
            input.try_into_primitive::<Autodiff<Backend>>().expect(WRONG_TENSOR)
        } else {
            <Autodiff<Backend> as AutodiffBackend>::from_inner(
                input.try_into_primitive::<Backend>().expect(WRONG_TENSOR),
            )
        };
        let (primitive, guard) = tracked.into_parts();
        arrays.push(Array::new(primitive));
        guard
    });
    let inputs: [Array; N] = arrays.try_into().unwrap_or_else(|_| unreachable!("one array per input"));
    let gpu = inputs[0].gpu();
    let output = match Node.prepare::<NoCheckpointing>(guards).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let (output, saved) = operation.forward(&gpu, inputs.each_ref(), true);
            prepared.finish(Record { operation: Arc::new(operation), inputs, saved }, output.into_tensor())
        }
        OpsKind::UnTracked(prepared) => {
            prepared.finish(operation.forward(&gpu, inputs.each_ref(), false).0.into_tensor())
        }
    };
    Tensor::from_primitive::<Autodiff<Backend>>(output)
}

#[derive(Debug)]
struct Node;

struct Record<const N: usize> {
    operation: Arc<dyn Operation<N>>,
    inputs: [Array; N],
    saved: Vec<Array>,
}

impl<const N: usize> Clone for Record<N> {
    fn clone(&self) -> Self {
        Record { operation: self.operation.clone(), inputs: self.inputs.clone(), saved: self.saved.clone() }
    }
}

impl<const N: usize> Debug for Record<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.operation.fmt(f)
    }
}

impl<const N: usize> Backward<Backend, N> for Node {
    type State = Record<N>;

    fn backward(self, ops: Ops<Record<N>, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = Array::new(gradients.consume::<Backend>(&ops.node));
        let Record { operation, inputs, saved } = ops.state;
        let wanted = std::array::from_fn(|input| ops.parents[input].is_some());
        let found = operation.backward(&gradient.gpu(), inputs.each_ref(), &saved, &gradient, wanted);
        for (parent, found) in ops.parents.into_iter().zip(found) {
            if let Some(parent) = parent {
                let found = found.expect("a gradient is wanted of each tracked input");
                gradients.register::<Backend>(parent.id, found.into_tensor());
            }
        }
    }
}
