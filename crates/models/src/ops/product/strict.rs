//! Products in strict f32 on devices that would round by themselves.
//!
//! CubeCL's own choice among its kernels takes tensor cores for large products of f32, which makes TF32 of the operands;
//! there is no switch against it. But its kernels can be launched by name, and the one for units that are no tensor cores
//! multiplies f32 with f32. It is always the same one, so its bits do not hang on which was fastest today.

use std::fmt::Debug;

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::NoCheckpointing};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, DispatchKindConversion, DispatchTensor, TensorMetadata};
use burn::tensor::Tensor;

/// A backend that can multiply without rounding.
pub trait StrictBackend: Backend {
    /// a b for f32 tensors of one rank and with equal axes but the last two.
    fn multiply(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self>;
}

/// a b, matrix by matrix, and its gradients, by [`StrictBackend::multiply`].
pub fn product<B: StrictBackend, const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D>
where
    DispatchTensor: DispatchKindConversion<B> + DispatchKindConversion<Autodiff<B>>,
{
    const WRONG: &str = "both matrices live on one device, without gradient checkpointing";
    let (a, b) = with_equal_batches(a, b);
    if !a.is_autodiff() && !b.is_autodiff() {
        let [a, b] = [a, b].map(|tensor| tensor.try_into_primitive::<B>().expect(WRONG));
        return Tensor::from_primitive::<B>(B::multiply(a, b));
    }
    let [(a, of_a), (b, of_b)] = [a, b].map(|tensor| {
        let tensor = if tensor.is_autodiff() { tensor } else { tensor.autodiff() };
        tensor.try_into_primitive::<Autodiff<B>>().expect(WRONG).into_parts()
    });
    let output = match Node.prepare::<NoCheckpointing>([of_a, of_b]).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let output = B::multiply(a.clone(), b.clone());
            prepared.finish((a, b), output)
        }
        OpsKind::UnTracked(prepared) => prepared.finish(B::multiply(a, b)),
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

impl<B: StrictBackend> Backward<B, 2> for Node {
    type State = (FloatTensor<B>, FloatTensor<B>);

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let (a, b) = ops.state;
        let [of_a, of_b] = ops.parents;
        if let Some(parent) = of_a {
            gradients.register::<B>(parent.id, B::multiply(gradient.clone(), transposed::<B>(b)));
        }
        if let Some(parent) = of_b {
            gradients.register::<B>(parent.id, B::multiply(transposed::<B>(a), gradient));
        }
    }
}

fn transposed<B: Backend>(matrices: FloatTensor<B>) -> FloatTensor<B> {
    let rank = matrices.shape().num_dims();
    B::float_swap_dims(matrices, rank - 2, rank - 1)
}

#[cfg(feature = "gpu")]
impl StrictBackend for burn_cubecl::CubeBackend {
    fn multiply(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        use burn::backend::cubecl::dtype_to_storage_type;
        use burn::tensor::DType;
        use burn_cubecl::kernel::matmul::init_matmul_output;
        use cubek::matmul::definition::{MatmulElems, MatmulGlobalElems};
        use cubek::matmul::launch::launch_ref;
        use cubek::matmul::{multi_level, strategy::Strategy};
        use cubek::std::InputBinding;

        assert!(a.dtype == DType::F32 && b.dtype == DType::F32, "strict products are of f32");
        let output = init_matmul_output(&a, &b, DType::F32);
        if [&a, &b].iter().any(|tensor| tensor.shape().num_elements() == 0) {
            return output;
        }
        let kind = dtype_to_storage_type(DType::F32);
        let mut kinds = MatmulElems::from_globals(&MatmulGlobalElems { lhs: kind, rhs: kind, out: kind });
        let [a, b] = [a, b].map(|tensor| InputBinding::new(tensor.binding(), kind));
        let units = Strategy::MultiLevel(multi_level::Strategy::SimpleUnit(Default::default()));
        let launched = launch_ref(&units, &output.client, a, b, output.clone().binding(), &mut kinds);
        launched.unwrap_or_else(|error| panic!("the GPU refuses a product in strict f32: {error:?}"));
        output
    }
}

#[cfg(test)]
mod tests {
    use burn::backend::Flex;

    use super::*;
    use crate::testing::{assert_close, random, values};

    impl StrictBackend for Flex {
        fn multiply(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
            use burn::backend::ops::FloatTensorOps;
            Flex::float_matmul(a, b)
        }
    }

    #[test]
    fn values_and_gradients_are_those_of_burns_own_product() {
        let (a, b) = (random::<3>([4, 5, 7], 1, 1.0), random::<3>([1, 7, 3], 2, 1.0));
        let pull = random::<3>([4, 5, 3], 3, 1.0);
        let of = |multiply: fn(Tensor<3>, Tensor<3>) -> Tensor<3>| {
            let (a, b) = (a.clone().autodiff().require_grad(), b.clone().autodiff().require_grad());
            let y = multiply(a.clone(), b.clone());
            let gradients = (y.clone() * pull.clone()).sum().backward();
            [values(&y), values(&a.grad(&gradients).unwrap()), values(&b.grad(&gradients).unwrap())]
        };
        let (found, expected) = (of(product::<Flex, 3>), of(|a, b| a.matmul(b)));
        for (found, expected) in found.iter().zip(&expected) {
            assert_close(found, expected, 1e-5);
        }
        let alone = product::<Flex, 3>(a.clone(), b.clone());
        assert_eq!(values(&alone), found[0]);
        // A constant beside a parameter.
        let leaf = a.clone().autodiff().require_grad();
        let gradients = (product::<Flex, 3>(leaf.clone(), b) * pull).sum().backward();
        assert_close(&values(&leaf.grad(&gradients).unwrap()), &expected[1], 1e-5);
    }
}
