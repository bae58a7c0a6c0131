//! Helpers of this crate's tests: tensors and finite differences.

use burn::tensor::{Tensor, TensorData};

use crate::device;
use crate::parameters::{Init, InitRng};

/// Normal random numbers of this deviation.
pub fn random<const D: usize>(shape: [usize; D], seed: u64, deviation: f64) -> Tensor<D> {
    let mut values = vec![0.0; shape.iter().product()];
    Init::Normal(deviation).fill(&mut values, &mut InitRng::seeded(seed));
    Tensor::from_data(TensorData::new(values, shape), &device::cpu())
}

/// Returns the results of `work` with the operations' kernels and with the operations decomposed.
pub fn both_implementations<R>(work: impl Fn() -> R) -> [R; 2] {
    [work(), crate::ops::decomposed(&work)]
}

/// All values of a tensor, in order.
pub fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f32> {
    tensor.clone().into_data().try_to_vec().unwrap()
}

/// Asserts that both are equal within `tolerance`, absolute and relative to magnitudes above one.
#[track_caller]
pub fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let allowed = tolerance * expected.abs().max(1.0);
        assert!((found - expected).abs() <= allowed, "element {i}: {found} where {expected} was expected");
    }
}

/// Asserts that the gradient of `sum(weights * f(x))` with respect to `x` agrees with central differences at some
/// elements.
#[track_caller]
pub fn assert_finite_differences<const I: usize, const O: usize>(x: Tensor<I>, f: impl Fn(Tensor<I>) -> Tensor<O>) {
    let weigh = |y: Tensor<O>| {
        let weights = random(y.dims(), 99, 1.0);
        y * weights
    };
    let leaf = x.clone().autodiff().require_grad();
    let gradient = values(&leaf.grad(&weigh(f(leaf.clone())).sum().backward()).unwrap());
    let start = values(&x);
    let step = 1e-2f32;
    for i in (0..start.len()).step_by(start.len() / 23 + 1) {
        let at = |offset: f32| {
            let mut moved = start.clone();
            moved[i] += offset;
            let moved = Tensor::<I>::from_data(TensorData::new(moved, x.dims()), &device::cpu());
            values(&weigh(f(moved))).iter().map(|&value| f64::from(value)).sum::<f64>()
        };
        let grad = (at(step) - at(-step)) / (2.0 * f64::from(step));
        let found = f64::from(gradient[i]);
        assert!((grad - found).abs() < 2e-3 * grad.abs().max(1.0), "element {i}: gradient {found}, grad {grad}");
    }
}

/// The GPU that `CWM_TEST_DEVICE` names (`wgpu:0`); `None`, with a line that states so, without that variable.
#[cfg(feature = "gpu")]
pub fn gpu() -> Option<burn::tensor::Device> {
    let name = std::env::var("CWM_TEST_DEVICE").ok().filter(|name| name != "cpu");
    if name.is_none() {
        eprintln!("skipped: no GPU is named in CWM_TEST_DEVICE");
    }
    name.map(|name| device::named(&name).unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// Asserts that `f` and its gradients are on the GPU under test what they are on the processor, within `tolerance` as
/// [`assert_close`] has it, and that they have the same bits when computed again.
#[cfg(feature = "gpu")]
#[track_caller]
pub fn assert_gpu_agrees<const N: usize>(
    inputs: [Tensor<1>; N],
    tolerance: f32,
    f: impl Fn([Tensor<1>; N]) -> Tensor<1>,
) {
    let Some(gpu) = gpu() else { return };
    let on = |device: &burn::tensor::Device| {
        let inputs = inputs.clone().map(|input| Tensor::from_data(input.into_data(), device));
        let plain = values(&f(inputs.clone()));
        let leaves = inputs.map(|input| input.autodiff().require_grad());
        let y = f(leaves.clone());
        let pull = Tensor::from_data(random::<1>(y.dims(), 77, 1.0).into_data(), device);
        let gradients = (y.clone() * pull).sum().backward();
        let grads = leaves.map(|leaf| values(&leaf.grad(&gradients).expect("each input has a gradient")));
        [vec![plain, values(&y)], grads.to_vec()].concat()
    };
    let (expected, found) = (on(&device::cpu()), on(&gpu));
    for (part, (found, expected)) in found.iter().zip(&expected).enumerate() {
        eprintln!("part {part} (0 and 1: values without and with gradients; then gradients by input)");
        assert_close(found, expected, tolerance);
    }
    let bits = |all: Vec<Vec<f32>>| all.concat().into_iter().map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(on(&gpu)), bits(found), "other bits when computed again");
}
