//! Training with everything on the device: weights, moments, snapshot and gradient.
//!
//! On the CPU the weights lie in one array, which passes read and the optimiser sweeps over. A GPU would spend its
//! time waiting for copies of it. Here only a few numbers come back each step, at its end; the arrays do for checkpoints.
//! What is computed is the same, in the same order of micro-batches. GPUs have kernels for it; any other device, and the
//! CPU in tests, composes the same of Burn's operations.

mod decomposed;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use cwm_models::DeviceWeights;
use cwm_models::gradient::DeviceGradients;
use cwm_models::loss::Loss;
use cwm_models::parameters::{Layout, Weights};

use self::decomposed::DecomposedArrays;
use crate::optimiser::{AdamW, AdamWOptions, Factors};

/// The arrays that training changes, on a device. A sum of gradients to which nothing was added is zero.
trait Arrays: Debug {
    /// Weights, first and second moments and the snapshot, in declaration order.
    fn to_host(&self) -> [Vec<f32>; 4];

    /// The weights, for passes that end before the next change.
    fn weights(&self) -> DeviceWeights<'static>;

    /// Adds the gradient of a micro-batch to the sum.
    fn add(&mut self, gradients: DeviceGradients);

    /// Sets the gradient's sum to zero.
    fn clear_gradient(&mut self);

    /// L2 norm of the gradient's sum; not finite if one of its values is not.
    fn gradient_norm(&mut self) -> f64;

    /// Updates weights and moments by `factors`; the gradient's sum is zero again.
    fn update(&mut self, factors: Factors);

    /// Starts the end of a step with the losses `rows` of its micro-batches: an update with the gradient clipped to the norm
    /// `limit`, if all losses and the gradient are finite; the factor `clip` is not used. The sum is zero again.
    fn end_step(&mut self, rows: &[Tensor<1>], limit: f64, factors: Factors) -> PendingStepEnd;

    /// Returns true if every weight is finite.
    fn is_finite(&self) -> bool;

    /// Sets the snapshot to the weights.
    fn take_snapshot(&mut self);

    /// Sets the weights to the snapshot.
    fn restore_snapshot(&mut self);

    /// The gradient's sum becomes these values.
    #[cfg(test)]
    fn set_gradient(&mut self, values: &[f32]);

    /// The gradient's sum, in declaration order.
    #[cfg(test)]
    fn gradient_to_host(&mut self) -> Vec<f32>;
}

/// The results of a step for the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepEnd {
    /// Sum of all losses, in f64 and in their order.
    pub loss_sum: f64,
    /// Norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// True if an update was made.
    pub updated: bool,
    /// True if every weight is finite now.
    pub is_finite: bool,
}

/// Waits for the end of a step, and for nothing that was started after it.
pub type PendingStepEnd = Box<dyn FnOnce() -> StepEnd>;

/// The arrays that training changes, on a device.
#[derive(Debug)]
pub struct DeviceTrainer {
    device: Device,
    options: AdamWOptions,
    updates: u64,
    arrays: Box<dyn Arrays>,
}

impl DeviceTrainer {
    /// Copies weights, the optimiser's state and the snapshot to `device`.
    pub fn new(weights: &Weights, adamw: &AdamW, snapshot: &Weights, device: &Device) -> Self {
        let layout: &Arc<Layout> = weights.layout();
        let values = [weights, &adamw.first, &adamw.second, snapshot].map(Weights::values);
        let arrays = arrays(layout, values, device);
        DeviceTrainer { device: device.clone(), options: adamw.options(), updates: adamw.updates, arrays }
    }

    /// Copies all arrays back to the host.
    pub fn sync_to_host(&self, weights: &mut Weights, adamw: &mut AdamW, snapshot: &mut Weights) {
        let into = [weights, &mut adamw.first, &mut adamw.second, snapshot];
        for (values, into) in self.arrays.to_host().iter().zip(into) {
            into.values_mut().copy_from_slice(values);
        }
        adamw.updates = self.updates;
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Updates made.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// The weights, for passes that end before the next update.
    pub fn weights(&self) -> DeviceWeights<'static> {
        self.arrays.weights()
    }

    /// Adds the gradient of a micro-batch.
    pub fn add(&mut self, gradients: DeviceGradients) {
        self.arrays.add(gradients);
    }

    /// L2 norm of the gradient's sum; not finite if one of its values is not. It waits for the device.
    pub fn gradient_norm(&mut self) -> f64 {
        self.arrays.gradient_norm()
    }

    /// One update with the gradient's sum times `clip` at this learning rate; the sum is zero again. A sum of nothing is
    /// zero: moments fade and weights decay all the same.
    pub fn update(&mut self, clip: f64, learning_rate: f64) {
        self.updates += 1;
        self.arrays.update(Factors::new(self.options, self.updates, clip, learning_rate, true));
    }

    /// Starts the end of a step with these losses of its micro-batches: an update with the gradient clipped to the norm
    /// `clip`, unless a loss or the gradient is not finite. The gradient's sum is zero again. Before the next update
    /// [`DeviceTrainer::finish_step`] takes the result.
    pub fn end_step(&mut self, losses: &[Loss], clip: f64, learning_rate: f64) -> PendingStepEnd {
        let factors = Factors::new(self.options, self.updates + 1, 1.0, learning_rate, true);
        let rows: Vec<_> = losses.iter().map(|loss| loss.rows().clone()).collect();
        self.arrays.end_step(&rows, clip, factors)
    }

    /// Waits for the end of a step, and counts its update.
    pub fn finish_step(&mut self, end: PendingStepEnd) -> StepEnd {
        let end = end();
        self.updates += u64::from(end.updated);
        end
    }

    /// Sets the gradient's sum to zero.
    pub fn clear_gradient(&mut self) {
        self.arrays.clear_gradient();
    }

    /// Returns true if every weight is finite. It waits for the device.
    pub fn is_finite(&self) -> bool {
        self.arrays.is_finite()
    }

    /// Sets the snapshot to the weights.
    pub fn take_snapshot(&mut self) {
        self.arrays.take_snapshot();
    }

    /// Sets the weights to the snapshot.
    pub fn restore_snapshot(&mut self) {
        self.arrays.restore_snapshot();
    }
}

/// The arrays of this kind of device.
fn arrays(layout: &Arc<Layout>, values: [&[f32]; 4], device: &Device) -> Box<dyn Arrays> {
    #[cfg(feature = "gpu")]
    if !cwm_models::device::is_cpu(device) {
        return Box::new(gpu::GpuArrays::new(layout, values, device));
    }
    Box::new(DecomposedArrays::new(layout, values, device))
}
