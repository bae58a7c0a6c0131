//! Products in strict f32 on devices that would round by themselves.
//!
//! CubeCL's own choice among its kernels takes tensor cores for large products of f32, which makes TF32 of the operands;
//! there is no switch against it. But its kernels can be launched by name, and the one for units that are no tensor cores
//! multiplies f32 with f32. It is always the same one, so its bits do not hang on which was fastest today.

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{DType, FloatDType};
use burn_cubecl::CubeBackend;
use burn_cubecl::kernel::matmul::init_matmul_output;
use cubek::matmul::definition::{MatmulElems, MatmulGlobalElems};
use cubek::matmul::launch::launch_ref;
use cubek::matmul::{multi_level, strategy::Strategy};
use cubek::std::InputBinding;

/// a b for f32 tensors of one rank and with equal axes but the last two.
pub fn multiply(a: FloatTensor<CubeBackend>, b: FloatTensor<CubeBackend>) -> FloatTensor<CubeBackend> {
    assert!(a.dtype == DType::F32 && b.dtype == DType::F32, "strict products are of f32");
    let output = init_matmul_output(&a, &b, DType::F32);
    if [&a, &b].iter().any(|tensor| tensor.shape().num_elements() == 0) {
        return CubeBackend::float_zeros(output.shape(), &output.device, FloatDType::F32);
    }
    let kind = dtype_to_storage_type(DType::F32);
    let mut kinds = MatmulElems::from_globals(&MatmulGlobalElems { lhs: kind, rhs: kind, out: kind });
    let [a, b] = [a, b].map(|tensor| InputBinding::new(tensor.binding(), kind));
    let units = Strategy::MultiLevel(multi_level::Strategy::SimpleUnit(Default::default()));
    let launched = launch_ref(&units, &output.client, a, b, output.clone().binding(), &mut kinds);
    launched.unwrap_or_else(|error| panic!("the GPU cannot compute a product in strict f32: {error:?}"));
    output
}
