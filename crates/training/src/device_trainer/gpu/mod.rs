//! The arrays of a training on a GPU. Kernels change them where they are.

mod aligned_layout;
mod gather;
mod magnitude;
mod table;
mod update;

use std::fmt;
use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use cwm_models::DeviceWeights;
use cwm_models::gpu::{Array, Gpu};
use cwm_models::gradient::DeviceGradients;
use cwm_models::parameters::{Layout, Role};

use self::aligned_layout::AlignedLayout;
use self::gather::{clear, gather};
use self::magnitude::{magnitude, norm};
use self::table::RowsByToken;
use self::update::{Decision, Values, update};
use super::{Arrays, PendingStepEnd, StepEnd};
use crate::optimiser::Factors;

pub(super) struct GpuArrays {
    layout: Arc<Layout>,
    aligned: AlignedLayout,
    device: Device,
    gpu: Gpu,
    weights: Array,
    first: Array,
    second: Array,
    snapshot: Array,
    /// A bit for each value, 1 if weight decay applies to it.
    decaying: Array,
    gradient: Array,
    /// False if the gradient's sum is zero, whatever its array holds.
    has_gradient: bool,
}

impl GpuArrays {
    /// Copies weights, both moments and the snapshot to `device`.
    pub fn new(layout: &Arc<Layout>, values: [&[f32]; 4], device: &Device) -> Self {
        let gpu = Array::from(Tensor::empty([1], device)).gpu();
        let aligned = AlignedLayout::new(layout, gpu.alignment());
        let [weights, first, second, snapshot] = values.map(|values| upload(&gpu, &aligned, values));
        let mut decaying = vec![0u32; aligned.total().div_ceil(32)];
        for (index, declared) in layout.parameters().iter().enumerate() {
            if declared.decays {
                aligned.range(index).for_each(|at| decaying[at / 32] |= 1 << (at % 32));
            }
        }
        let (decaying, gradient) = (gpu.upload(&decaying), gpu.empty(aligned.total()));
        clear(&gpu, &gradient, 0, aligned.total());
        let (layout, device) = (layout.clone(), device.clone());
        let has_gradient = false;
        GpuArrays { layout, aligned, device, gpu, weights, first, second, snapshot, decaying, gradient, has_gradient }
    }

    /// The gradient's sum in its array.
    fn gradient(&mut self) -> Array {
        if !self.has_gradient {
            clear(&self.gpu, &self.gradient, 0, self.aligned.total());
            self.has_gradient = true;
        }
        self.gradient.clone()
    }

    fn update_by(&mut self, decision: &Decision, factors: Factors) {
        let gradient = &self.gradient();
        let GpuArrays { gpu, weights, first, second, decaying, .. } = self;
        update(gpu, Values { weights, first, second, gradient, decaying }, decision, factors);
        self.has_gradient = false;
    }
}

fn upload(gpu: &Gpu, aligned: &AlignedLayout, values: &[f32]) -> Array {
    let bits: Vec<u32> = aligned.scatter(values).into_iter().map(f32::to_bits).collect();
    gpu.upload(&bits)
}

impl fmt::Debug for GpuArrays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuArrays").field("aligned", &self.aligned).finish_non_exhaustive()
    }
}

impl Arrays for GpuArrays {
    fn to_host(&self) -> [Vec<f32>; 4] {
        // One by one: each takes host memory twice for a while.
        [&self.weights, &self.first, &self.second, &self.snapshot]
            .map(|array| self.aligned.gather(&self.gpu.read(&[array])[0]))
    }

    fn weights(&self) -> DeviceWeights<'static> {
        DeviceWeights::of_parts(&self.layout, |index| self.weights.part(self.aligned.range(index)), &self.device)
    }

    fn add(&mut self, gradients: DeviceGradients) {
        let (gpu, add) = (&self.gpu, self.has_gradient);
        let mut written = vec![false; self.layout.parameters().len()];
        let mut parts = Vec::new();
        for (index, slope) in gradients.dense.into_iter().enumerate() {
            if let Some(slope) = slope {
                written[index] = true;
                parts.push((Array::from(slope), self.aligned.range(index).start));
            }
        }
        gather(gpu, parts, &self.gradient, add);
        for rows in gradients.embedding_rows {
            let declared = &self.layout.parameters()[rows.parameter];
            let [tokens, width] = [declared.shape[0], declared.shape[1]];
            let left_out = match declared.role {
                Role::Embedding { padding } => padding,
                Role::Dense => None,
            };
            let by_token = RowsByToken::new(gpu, &rows.ids, tokens, left_out);
            let (place, add) = (self.aligned.range(rows.parameter).start, add || written[rows.parameter]);
            by_token.sum(gpu, &Array::from(rows.rows.flatten::<1>(0, 1)), width, &self.gradient, place, add);
            written[rows.parameter] = true;
        }
        // What the last step left.
        for index in (0..written.len()).filter(|&index| !add && !written[index]) {
            let range = self.aligned.range(index);
            clear(gpu, &self.gradient, range.start, range.len());
        }
        self.has_gradient = true;
    }

    fn clear_gradient(&mut self) {
        self.has_gradient = false;
    }

    fn gradient_norm(&mut self) -> f64 {
        let gradient = self.gradient();
        let found = magnitude(&self.gpu, &[&gradient]);
        norm(&self.gpu.read(&[&found])[0])
    }

    fn update(&mut self, factors: Factors) {
        let decision = Decision::update(&self.gpu, factors.clip);
        self.update_by(&decision, factors);
    }

    fn end_step(&mut self, rows: &[Tensor<1>], limit: f64, factors: Factors) -> PendingStepEnd {
        let rows: Vec<Array> = rows.iter().cloned().map(Array::from).collect();
        let of_losses = magnitude(&self.gpu, &rows.iter().collect::<Vec<_>>());
        let gradient = self.gradient();
        let of_gradient = magnitude(&self.gpu, &[&gradient]);
        let decision = Decision::clipped(&self.gpu, &of_gradient, &of_losses, limit);
        self.update_by(&decision, factors);
        let of_weights = magnitude(&self.gpu, &[&self.weights]);
        let wanted: Vec<&Array> = [&of_gradient, &of_weights].into_iter().chain(&rows).collect();
        let read = self.gpu.start_read(&wanted);
        Box::new(move || {
            let read = read.wait();
            let of_rows = |rows: &Vec<f32>| rows.iter().map(|&loss| f64::from(loss)).sum::<f64>();
            let (loss_sum, gradient_norm): (f64, f64) = (read[2..].iter().map(of_rows).sum(), norm(&read[0]));
            StepEnd {
                loss_sum,
                gradient_norm,
                // As the GPU has decided: sums of finite floats are finite in f64.
                updated: loss_sum.is_finite() && gradient_norm.is_finite(),
                is_finite: norm(&read[1]).is_finite(),
            }
        })
    }

    fn is_finite(&self) -> bool {
        norm(&self.gpu.read(&[&magnitude(&self.gpu, &[&self.weights])])[0]).is_finite()
    }

    fn take_snapshot(&mut self) {
        gather(&self.gpu, vec![(self.weights.clone(), 0)], &self.snapshot, false);
    }

    fn restore_snapshot(&mut self) {
        gather(&self.gpu, vec![(self.snapshot.clone(), 0)], &self.weights, false);
    }

    #[cfg(test)]
    fn set_gradient(&mut self, values: &[f32]) {
        self.gradient = upload(&self.gpu, &self.aligned, values);
        self.has_gradient = true;
    }

    #[cfg(test)]
    fn gradient_to_host(&mut self) -> Vec<f32> {
        let gradient = self.gradient();
        self.aligned.gather(&self.gpu.read(&[&gradient])[0])
    }
}
