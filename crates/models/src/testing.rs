//! Helpers of this crate's tests: tensors, finite differences, and the golden files.

use std::path::PathBuf;

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
        let slope = (at(step) - at(-step)) / (2.0 * f64::from(step));
        let found = f64::from(gradient[i]);
        assert!((slope - found).abs() < 2e-3 * slope.abs().max(1.0), "element {i}: gradient {found}, slope {slope}");
    }
}

/// A file of the golden data, or `None` (with a line that says so) where that is not at hand.
pub fn golden(file: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../shared");
    let folder = std::env::var_os("CWM_SHARED").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped: no golden data at {} (set CWM_SHARED)", folder.display());
        return None;
    }
    Some(folder.join(file))
}
