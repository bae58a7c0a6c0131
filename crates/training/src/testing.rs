//! Helpers of this crate's tests: a linear regression, trained on rows of numbers.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};
use cwm_contract::{Context, Failure};
use cwm_models::loss::Loss;
use cwm_models::parameters::{Declaration, Declarations, Init, InitRng, Layout, Slot, Weights};
use cwm_models::{DeviceWeights, ForwardPass, device};
use serde_json::Value;

use crate::optimiser::AdamWOptions;
use crate::{Examples, Metrics, Objective, Validation, curves};

/// Numbers in a row.
const INPUTS: usize = 3;
/// The coefficients of the rows: `y = coefficients · x`.
const COEFFICIENTS: [f32; INPUTS] = [0.5, -1.0, 2.0];

/// Rows `x` with their `y`.
#[derive(Debug)]
pub struct Rows {
    x: Vec<f32>,
    y: Vec<f32>,
}

/// Rows by their place; every place has one.
pub fn micro_batch(places: &[usize]) -> Rows {
    let mut x = Vec::new();
    for &place in places {
        let mut draw = InitRng::seeded(place as u64);
        x.extend((0..INPUTS).map(|_| draw.normal() as f32));
    }
    let of_row = |row: &[f32]| row.iter().zip(COEFFICIENTS).map(|(x, coefficient)| x * coefficient).sum();
    let y = x.chunks_exact(INPUTS).map(of_row).collect();
    Rows { x, y }
}

/// A straight line through the rows, by least squares.
pub struct Straight {
    layout: Arc<Layout>,
    slope: Slot<2>,
    name: String,
}

impl Straight {
    pub fn new() -> Self {
        let mut declarations = Declarations::default();
        let slope = declarations.root().declare("slope", Declaration::new([INPUTS, 1], Init::Normal(0.1)));
        Straight { layout: Arc::new(Layout::new(declarations).unwrap()), slope, name: "straight".into() }
    }

    /// Renames the objective, so that no checkpoint under the old name belongs to it.
    pub fn named(self, name: &str) -> Self {
        Straight { name: name.into(), ..self }
    }

    fn square_errors(&self, pass: &ForwardPass, rows: &Rows) -> Tensor<1> {
        let [count, inputs] = [rows.y.len(), INPUTS];
        let x = Tensor::<2>::from_data(TensorData::new(rows.x.clone(), [count, inputs]), pass.device());
        let y = Tensor::<2>::from_data(TensorData::new(rows.y.clone(), [count, 1]), pass.device());
        (x.matmul(pass.parameter(self.slope)) - y).square().reshape([count])
    }
}

impl Objective for Straight {
    type MicroBatch = Rows;
    type Metrics = f64;
    type Identity = String;

    fn identity(&self) -> &String {
        &self.name
    }

    fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    fn positions(&self, rows: &Rows) -> usize {
        rows.y.len()
    }

    fn denominator(&self, positions: usize) -> f64 {
        positions as f64
    }

    fn loss(&self, pass: &ForwardPass, rows: &Rows, positions: usize) -> Loss {
        Loss::new(self.square_errors(pass, rows), positions as f64)
    }
}

/// The mean square error.
impl Metrics for f64 {
    type SavedMetrics = (u64, u64);

    fn loss(&self) -> f64 {
        *self
    }

    fn entries(&self) -> Vec<(&'static str, Value)> {
        vec![("loss", curves::number(*self))]
    }

    fn progress(&self) -> Vec<(&'static str, f64)> {
        vec![("loss", *self)]
    }

    fn save(&self, step: u64) -> (u64, u64) {
        (step, self.to_bits())
    }

    fn restore((step, bits): (u64, u64)) -> (u64, f64) {
        (step, f64::from_bits(bits))
    }
}

/// All rows, two to a micro-batch; a row's length is its place.
pub struct AllRows;

impl Examples for AllRows {
    type MicroBatch = Rows;

    fn length(&mut self, place: usize) -> Result<usize, Failure> {
        Ok(place)
    }

    fn micro_batches(&mut self, places: &[usize]) -> Result<Vec<Rows>, Failure> {
        Ok(places.chunks(2).map(micro_batch).collect())
    }
}

/// Measures on rows that no training has.
pub struct HeldOutLoss<'a>(pub &'a Straight);

impl Validation<f64> for HeldOutLoss<'_> {
    fn measure(
        &mut self,
        context: &Context,
        _weights: &Weights,
        device_weights: &DeviceWeights<'_>,
    ) -> Result<f64, Failure> {
        context.check_cancelled()?;
        let rows = micro_batch(&[1_000, 1_001, 1_002, 1_003]);
        let errors = values(&self.0.square_errors(&ForwardPass::evaluation(device_weights), &rows));
        Ok(errors.iter().map(|&error| f64::from(error)).sum::<f64>() / errors.len() as f64)
    }
}

pub fn adamw() -> AdamWOptions {
    AdamWOptions { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.01 }
}

/// The weights that a training begins with.
pub fn start(objective: &Straight) -> Weights {
    Weights::initial(objective.layout.clone(), 7)
}

/// Normal random numbers of this deviation.
pub fn random<const D: usize>(shape: [usize; D], seed: u64, deviation: f64) -> Tensor<D> {
    let mut values = vec![0.0; shape.iter().product()];
    Init::Normal(deviation).fill(&mut values, &mut InitRng::seeded(seed));
    Tensor::from_data(TensorData::new(values, shape), &device::cpu())
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

/// The devices that [`crate::device_trainer::DeviceTrainer`] is tested on: the processor, and the GPU that `CWM_TEST_DEVICE`
/// names (`wgpu:0`).
pub fn devices() -> Vec<cwm_models::Device> {
    let mut devices = vec![device::cpu()];
    if let Some(name) = std::env::var("CWM_TEST_DEVICE").ok().filter(|name| name != "cpu") {
        devices.push(device::named(&name).unwrap_or_else(|error| panic!("{name}: {error}")));
    }
    devices
}
