//! The traits that connect the loop to what it trains: an objective, its examples, a validation.

use std::sync::Arc;

use cwm_contract::{Context, Failure};
use cwm_models::loss::Loss;
use cwm_models::parameters::{Layout, Weights};
use cwm_models::{DeviceWeights, ForwardPass};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A training objective: the parameters, and the loss of a micro-batch.
pub trait Objective: Sync {
    /// The examples that go through the model at once; a batch is cut into several.
    type MicroBatch: Send + Sync;
    /// The result of a validation.
    type Metrics: Metrics;
    /// Identifies the objective in checkpoints, such as a model's architecture: only an equal objective resumes them.
    type Identity: Clone + PartialEq + Serialize + DeserializeOwned;

    /// Identity of this objective in checkpoints.
    fn identity(&self) -> &Self::Identity;

    /// The parameters.
    fn layout(&self) -> &Arc<Layout>;

    /// Number of positions of a micro-batch that have a loss.
    fn positions(&self, micro_batch: &Self::MicroBatch) -> usize;

    /// Divisor of the sum of the losses of a batch with so many positions; above 0.
    fn denominator(&self, positions: usize) -> f64;

    /// Computes the loss of a micro-batch as a share of a batch with so many positions in all.
    fn loss(&self, pass: &ForwardPass, micro_batch: &Self::MicroBatch, positions: usize) -> Loss;
}

/// Examples by their place in a data set. They are read ahead of the model, on a thread of their own.
pub trait Examples: Send {
    /// The objective's micro-batch ([`Objective::MicroBatch`]).
    type MicroBatch: Send;

    /// Length of an example, by which `bucketed` batches are sorted.
    ///
    /// # Errors
    /// The example cannot be read.
    fn length(&mut self, place: usize) -> Result<usize, Failure>;

    /// Reads the examples at these places as a batch, cut into micro-batches. Equal places must give equal bits.
    ///
    /// # Errors
    /// One of them cannot be read, or is no example.
    fn micro_batches(&mut self, places: &[usize]) -> Result<Vec<Self::MicroBatch>, Failure>;
}

/// Measures weights on examples that are not trained on.
pub trait Validation<M> {
    /// Measures weights, which are also on the device. Sums must run in a fixed order.
    ///
    /// # Errors
    /// The stage was cancelled, or an example cannot be read.
    fn measure(
        &mut self,
        context: &Context,
        weights: &Weights,
        device_weights: &DeviceWeights<'_>,
    ) -> Result<M, Failure>;
}

/// The result of a validation.
pub trait Metrics: Clone {
    /// Metrics and step as stored in a checkpoint; they must read back bit for bit.
    type SavedMetrics: Serialize + DeserializeOwned;

    /// The loss, which decides which weights are best.
    fn loss(&self) -> f64;

    /// Entries of a line of curves, in order. Numbers that may not be finite go through
    /// [`crate::curves::number`].
    fn entries(&self) -> Vec<(&'static str, Value)>;

    /// Metrics shown while the training runs; each name is prefixed with `validation_`.
    fn progress(&self) -> Vec<(&'static str, f64)>;

    /// Converts to the form stored in a checkpoint.
    fn save(&self, step: u64) -> Self::SavedMetrics;

    /// Restores step and metrics from a checkpoint.
    fn restore(saved: Self::SavedMetrics) -> (u64, Self);
}
