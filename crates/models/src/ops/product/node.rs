//! Products on GPUs as nodes of Burn's graph, with gradients that lie in memory as their operands do.

use std::fmt::Debug;

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::NoCheckpointing};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, DispatchKindConversion, DispatchTensor, TensorMetadata};
use burn::tensor::Tensor;

/// Multiplies two tensors of one rank, matrix by matrix.
pub type Multiply<B> = fn(FloatTensor<B>, FloatTensor<B>) -> FloatTensor<B>;

/// a b, matrix by matrix, and its gradients, all by `multiply`.
pub fn product<B: Backend, const D: usize>(a: Tensor<D>, b: Tensor<D>, multiply: Multiply<B>) -> Tensor<D>
where
    DispatchTensor: DispatchKindConversion<B> + DispatchKindConversion<Autodiff<B>>,
{
    const WRONG: &str = "both matrices live on one device, without gradient checkpointing";
    let (a, b) = with_equal_batches(a, b);
    if !a.is_autodiff() && !b.is_autodiff() {
        let [a, b] = [a, b].map(|tensor| tensor.try_into_primitive::<B>().expect(WRONG));
        return Tensor::from_primitive::<B>(multiply(a, b));
    }
    let [(a, of_a), (b, of_b)] = [a, b].map(|tensor| {
        let tensor = if tensor.is_autodiff() { tensor } else { tensor.autodiff() };
        tensor.try_into_primitive::<Autodiff<B>>().expect(WRONG).into_parts()
    });
    let output = match Node.prepare::<NoCheckpointing>([of_a, of_b]).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let output = multiply(a.clone(), b.clone());
            prepared.finish((a, b, multiply), output)
        }
        OpsKind::UnTracked(prepared) => prepared.finish(multiply(a, b)),
    };
    Tensor::from_primitive::<Autodiff<B>>(output)
}

/// Both, where an axis of 1 stands for as many as the other has.
fn with_equal_batches<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> (Tensor<D>, Tensor<D>) {
    let (mut of_a, mut of_b) = (a.dims(), b.dims());
    for axis in 0..D.saturating_sub(2) {
        let count = of_a[axis].max(of_b[axis]);
        (of_a[axis], of_b[axis]) = (count, count);
    }
    let a = if a.dims() == of_a { a } else { a.expand(of_a) };
    let b = if b.dims() == of_b { b } else { b.expand(of_b) };
    (a, b)
}

#[derive(Debug)]
struct Node;

impl<B: Backend> Backward<B, 2> for Node {
    type State = (FloatTensor<B>, FloatTensor<B>, Multiply<B>);

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let (a, b, multiply) = ops.state;
        let [of_a, of_b] = ops.parents;
        if let Some(parent) = of_a {
            gradients.register::<B>(parent.id, multiply(gradient.clone(), transposed::<B>(b)));
        }
        if let Some(parent) = of_b {
            // Usually b is the transpose of a weight: so the weight's gradient lies in memory as the weight does, uncopied.
            let transpose = multiply(transposed::<B>(gradient), a);
            gradients.register::<B>(parent.id, transposed::<B>(transpose));
        }
    }
}

fn transposed<B: Backend>(matrices: FloatTensor<B>) -> FloatTensor<B> {
    let rank = matrices.shape().num_dims();
    B::float_swap_dims(matrices, rank - 2, rank - 1)
}

#[cfg(test)]
mod tests {
    use burn::backend::Flex;
    use burn::backend::ops::FloatTensorOps;

    use super::*;
    use crate::testing::{assert_close, random, values};

    #[test]
    fn values_and_gradients_are_those_of_burns_own_product() {
        let (a, b) = (random::<3>([4, 5, 7], 1, 1.0), random::<3>([1, 7, 3], 2, 1.0));
        let pull = random::<3>([4, 5, 3], 3, 1.0);
        let ours = |a, b| product::<Flex, 3>(a, b, Flex::float_matmul);
        let of = |multiply: &dyn Fn(Tensor<3>, Tensor<3>) -> Tensor<3>| {
            let (a, b) = (a.clone().autodiff().require_grad(), b.clone().autodiff().require_grad());
            let y = multiply(a.clone(), b.clone());
            let gradients = (y.clone() * pull.clone()).sum().backward();
            [values(&y), values(&a.grad(&gradients).unwrap()), values(&b.grad(&gradients).unwrap())]
        };
        let (found, expected) = (of(&ours), of(&|a, b| a.matmul(b)));
        for (found, expected) in found.iter().zip(&expected) {
            assert_close(found, expected, 1e-5);
        }
        let alone = ours(a.clone(), b.clone());
        assert_eq!(values(&alone), found[0]);
        // A constant beside a parameter.
        let leaf = a.clone().autodiff().require_grad();
        let gradients = (ours(leaf.clone(), b) * pull).sum().backward();
        assert_close(&values(&leaf.grad(&gradients).unwrap()), &expected[1], 1e-5);
    }
}
