//! The arrays of a training as Burn's tensors, each flat in declaration order; for devices without kernels.

mod embedding_rows;

use std::sync::Arc;

use burn::tensor::{Bool, Device, Tensor, TensorData};
use cwm_models::DeviceWeights;
use cwm_models::gradient::{DeviceGradients, SparseRowGradients};
use cwm_models::parameters::{Layout, Role};

use self::embedding_rows::sum_by_token;
use super::{Arrays, PendingStepEnd, StepEnd};
use crate::optimiser::{Factors, clip_factor, norm};

#[derive(Debug)]
pub(super) struct DecomposedArrays {
    layout: Arc<Layout>,
    device: Device,
    weights: Tensor<1>,
    first: Tensor<1>,
    second: Tensor<1>,
    snapshot: Tensor<1>,
    /// The mask of the values to which weight decay applies; `None` if to all.
    decaying: Option<Tensor<1, Bool>>,
    /// Sum of the gradients so far; `None` for zero.
    gradient: Option<Tensor<1>>,
}

impl DecomposedArrays {
    /// Copies weights, both moments and the snapshot to `device`.
    pub fn new(layout: &Arc<Layout>, values: [&[f32]; 4], device: &Device) -> Self {
        let total = [layout.total()];
        let decaying = layout.parameters().iter().any(|declared| !declared.decays).then(|| {
            let of_parameter =
                |index: usize| std::iter::repeat_n(layout.parameters()[index].decays, layout.range(index).len());
            let mask: Vec<bool> = (0..layout.parameters().len()).flat_map(of_parameter).collect();
            Tensor::from_data(TensorData::new(mask, total), device)
        });
        let copied = |values: &[f32]| Tensor::from_data(TensorData::new(values.to_vec(), total), device);
        let [weights, first, second, snapshot] = values.map(copied);
        let (layout, device) = (layout.clone(), device.clone());
        DecomposedArrays { layout, device, weights, first, second, snapshot, decaying, gradient: None }
    }
}

fn to_host(tensor: &Tensor<1>) -> Vec<f32> {
    tensor.clone().into_data().try_to_vec().expect("weights, moments and losses are f32")
}

impl Arrays for DecomposedArrays {
    fn to_host(&self) -> [Vec<f32>; 4] {
        [&self.weights, &self.first, &self.second, &self.snapshot].map(to_host)
    }

    fn weights(&self) -> DeviceWeights<'static> {
        DeviceWeights::on_device(&self.layout, &self.weights, &self.device)
    }

    fn add(&mut self, gradients: DeviceGradients) {
        let DeviceGradients { mut dense, embedding_rows } = gradients;
        let mut embedding_rows: Vec<_> = embedding_rows.into_iter().map(Some).collect();
        let mut parts = Vec::with_capacity(dense.len());
        for (index, declared) in self.layout.parameters().iter().enumerate() {
            let padding = match declared.role {
                Role::Embedding { padding } => padding,
                Role::Dense => None,
            };
            let of_this = embedding_rows.iter_mut().filter(|of| of.as_ref().is_some_and(|of| of.parameter == index));
            let of_rows = of_this.filter_map(Option::take).map(|SparseRowGradients { rows, ids, .. }| {
                sum_by_token(rows, &ids, declared.shape[0], padding).flatten(0, 1)
            });
            let gradients = dense[index].take().into_iter().chain(of_rows).reduce(|sum, gradients| sum + gradients);
            parts.push(gradients.unwrap_or_else(|| Tensor::zeros([declared.len()], &self.device)));
        }
        let gradient = Tensor::cat(parts, 0);
        self.gradient = Some(match self.gradient.take() {
            Some(sum) => sum + gradient,
            None => gradient,
        });
    }

    fn clear_gradient(&mut self) {
        self.gradient = None;
    }

    fn gradient_norm(&mut self) -> f64 {
        // On the host, in f64 and in a fixed order: a device's own sums are neither as exact nor always the same.
        self.gradient.as_ref().map_or(0.0, |gradient| norm(&to_host(gradient)))
    }

    fn update(&mut self, factors: Factors) {
        let none = || Tensor::zeros([self.layout.total()], &self.device);
        let gradient = self.gradient.take().unwrap_or_else(none);
        let Factors { clip, keep, first, second, rate, root, epsilon } = factors;
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

    fn end_step(&mut self, rows: &[Tensor<1>], limit: f64, factors: Factors) -> PendingStepEnd {
        let of_rows = |rows: &Tensor<1>| to_host(rows).iter().map(|&loss| f64::from(loss)).sum::<f64>();
        let loss_sum: f64 = rows.iter().map(of_rows).sum();
        let gradient_norm = self.gradient_norm();
        let updated = loss_sum.is_finite() && gradient_norm.is_finite();
        if updated {
            self.update(Factors { clip: clip_factor(gradient_norm, limit) as f32, ..factors });
        } else {
            self.clear_gradient();
        }
        let end = StepEnd { loss_sum, gradient_norm, updated, is_finite: self.is_finite() };
        Box::new(move || end)
    }

    fn is_finite(&self) -> bool {
        self.weights.clone().is_finite().all().into_scalar::<bool>()
    }

    fn take_snapshot(&mut self) {
        self.snapshot = self.weights.clone();
    }

    fn restore_snapshot(&mut self) {
        self.weights = self.snapshot.clone();
    }

    #[cfg(test)]
    fn set_gradient(&mut self, values: &[f32]) {
        self.gradient = Some(Tensor::from_floats(values, &self.device));
    }

    #[cfg(test)]
    fn gradient_to_host(&mut self) -> Vec<f32> {
        self.gradient.as_ref().map_or_else(|| vec![0.0; self.layout.total()], to_host)
    }
}
