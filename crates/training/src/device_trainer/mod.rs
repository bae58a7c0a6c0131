//! Training with everything on the device: weights, moments, snapshot and gradient, each one flat tensor in declaration
//! order.
//!
//! On the processor the weights lie in one array, which passes read and the optimiser sweeps over. A GPU would spend its
//! time waiting for copies of it. Here only a few numbers come back each step; the arrays do for checkpoints. What is
//! computed is the same, in the same order of micro-batches, and runs on any device, so that it is tested on the processor.

mod embedding_rows;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use burn::tensor::{Bool, Device, Tensor, TensorData};
use cwm_models::DeviceWeights;
use cwm_models::gradient::{DeviceGradients, SparseRowGradients};
use cwm_models::parameters::{Layout, Role, Weights};

use self::embedding_rows::sum_by_token;
use crate::optimiser::{AdamW, AdamWOptions, Factors};

/// The arrays that training changes, on a device.
#[derive(Debug)]
pub struct DeviceTrainer {
    layout: Arc<Layout>,
    device: Device,
    options: AdamWOptions,
    updates: u64,
    weights: Tensor<1>,
    first: Tensor<1>,
    second: Tensor<1>,
    snapshot: Tensor<1>,
    /// The mask of the values to which weight decay applies; `None` if to all.
    decaying: Option<Tensor<1, Bool>>,
    /// Sum of the gradients so far; `None` for zero.
    gradient: Option<Tensor<1>>,
}

impl DeviceTrainer {
    /// Copies weights, the optimiser's state and the snapshot to `device`.
    pub fn new(weights: &Weights, adamw: &AdamW, snapshot: &Weights, device: &Device) -> Self {
        let layout = weights.layout().clone();
        let copied =
            |values: &Weights| Tensor::from_data(TensorData::new(values.values().to_vec(), [layout.total()]), device);
        let decaying = layout.parameters().iter().any(|declared| !declared.decays).then(|| {
            let of_parameter =
                |index: usize| std::iter::repeat_n(layout.parameters()[index].decays, layout.range(index).len());
            let mask: Vec<bool> = (0..layout.parameters().len()).flat_map(of_parameter).collect();
            Tensor::from_data(TensorData::new(mask, [layout.total()]), device)
        });
        DeviceTrainer {
            options: adamw.options(),
            updates: adamw.updates,
            weights: copied(weights),
            first: copied(&adamw.first),
            second: copied(&adamw.second),
            snapshot: copied(snapshot),
            decaying,
            gradient: None,
            device: device.clone(),
            layout,
        }
    }

    /// Copies all arrays back to the host.
    pub fn sync_to_host(&self, weights: &mut Weights, adamw: &mut AdamW, snapshot: &mut Weights) {
        let copy = |from: &Tensor<1>, to: &mut Weights| {
            let data = from.clone().into_data();
            to.values_mut().copy_from_slice(data.as_slice().expect("weights and moments are f32"));
        };
        copy(&self.weights, weights);
        copy(&self.first, &mut adamw.first);
        copy(&self.second, &mut adamw.second);
        copy(&self.snapshot, snapshot);
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

    /// The weights, for passes.
    pub fn weights(&self) -> DeviceWeights<'static> {
        DeviceWeights::on_device(&self.layout, &self.weights, &self.device)
    }

    /// Adds the gradient of a micro-batch.
    pub fn add(&mut self, slopes: DeviceGradients) {
        let DeviceGradients { mut dense, embedding_rows } = slopes;
        let mut embedding_rows: Vec<_> = embedding_rows.into_iter().map(Some).collect();
        let mut parts = Vec::with_capacity(dense.len());
        for (index, declared) in self.layout.parameters().iter().enumerate() {
            parts.push(match declared.role {
                Role::Dense => dense[index].take().unwrap_or_else(|| Tensor::zeros([declared.len()], &self.device)),
                Role::Embedding { padding } => {
                    let [tokens, width] = [declared.shape[0], declared.shape[1]];
                    let of_this =
                        embedding_rows.iter_mut().filter(|of| of.as_ref().is_some_and(|of| of.parameter == index));
                    let slopes = of_this.filter_map(Option::take);
                    let slopes =
                        slopes.map(|SparseRowGradients { rows, ids, .. }| sum_by_token(rows, &ids, tokens, padding));
                    let table = slopes.reduce(|sum, slopes| sum + slopes);
                    table.unwrap_or_else(|| Tensor::zeros([tokens, width], &self.device)).flatten(0, 1)
                }
            });
        }
        let gradient = Tensor::cat(parts, 0);
        self.gradient = Some(match self.gradient.take() {
            Some(sum) => sum + gradient,
            None => gradient,
        });
    }

    /// L2 norm of the gradient's sum; not finite if one of its values is not.
    pub fn gradient_norm(&self) -> f64 {
        let Some(gradient) = &self.gradient else { return 0.0 };
        // In units of the largest, since squares of f32 reach no further than its root. What is not a number may be
        // passed over by the largest, but not by the sum.
        let largest = gradient.clone().max_abs().clamp_min(f32::MIN_POSITIVE);
        let squares = (gradient.clone() / largest.clone()).square().sum();
        let data = Tensor::cat(vec![largest, squares], 0).into_data();
        let [largest, squares] = data.as_slice::<f32>().expect("norms are f32") else {
            unreachable!("two were requested")
        };
        f64::from(*largest) * f64::from(*squares).sqrt()
    }

    /// One update with the gradient's sum times `clip` at this learning rate; the sum is zero again. A sum of nothing is
    /// zero: moments fade and weights decay all the same.
    pub fn update(&mut self, clip: f64, learning_rate: f64) {
        self.updates += 1;
        let none = || Tensor::zeros([self.layout.total()], &self.device);
        let gradient = self.gradient.take().unwrap_or_else(none);
        let factors = |decays| Factors::new(self.options, self.updates, clip, learning_rate, decays);
        let Factors { clip, keep, first, second, rate, root, epsilon } = factors(true);
        let gradient = gradient * clip;
        let old = |moment: &mut Tensor<1>| std::mem::replace(moment, Tensor::empty([1], &self.device));
        self.first = old(&mut self.first) * first.0 + gradient.clone() * first.1;
        self.second = old(&mut self.second) * second.0 + gradient.clone() * second.1 * gradient;
        let weights = old(&mut self.weights);
        let kept = match &self.decaying {
            None => weights * keep,
            Some(decaying) => weights.clone().mask_where(decaying.clone(), weights * keep),
        };
        self.weights = kept - self.first.clone() * rate / (self.second.clone().sqrt() * root + epsilon);
    }

    /// Sets the gradient's sum to zero.
    pub fn clear_gradient(&mut self) {
        self.gradient = None;
    }

    /// Returns true if every weight is finite.
    pub fn is_finite(&self) -> bool {
        self.weights.clone().is_finite().all().into_scalar::<bool>()
    }

    /// Sets the snapshot to the weights.
    pub fn take_snapshot(&mut self) {
        self.snapshot = self.weights.clone();
    }

    /// Sets the weights to the snapshot.
    pub fn restore_snapshot(&mut self) {
        self.weights = self.snapshot.clone();
    }
}
