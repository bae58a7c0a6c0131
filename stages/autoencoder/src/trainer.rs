//! Updates of the autoencoders of all sites, each by itself.

use burn::tensor::{Tensor, TensorData};
use cwm_inside::autoencoder::{Autoencoder, project_gradient, set_unit_columns};
use cwm_models::gradient::GradientSum;
use cwm_models::parameters::Weights;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Device, DeviceWeights, ForwardPass, Precision, device};
use cwm_training::optimiser::{AdamW, AdamWOptions};

/// Rows that one thread of the CPU passes through at once; it decides the order of sums.
const MICRO_ROWS: usize = 512;

/// The state of one site, which changes from update to update.
#[derive(Clone, Debug)]
pub struct SiteState {
    /// The factor of rows.
    pub scale: f32,
    /// The weights.
    pub weights: Weights,
    /// Moments.
    pub adamw: AdamW,
    /// For each latent, the rows since it was last above 0.
    pub rows_since_active: Vec<u64>,
}

impl SiteState {
    /// The state before the first update.
    pub fn new(scale: f32, weights: Weights, options: AdamWOptions, latents: usize) -> Self {
        SiteState {
            scale,
            adamw: AdamW::new(weights.layout().clone(), options),
            weights,
            rows_since_active: vec![0; latents],
        }
    }
}

/// Means over the rows of a batch, before its update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMeans {
    /// The loss.
    pub loss: f64,
    /// Squared error of a row.
    pub reconstruction: f64,
    /// Sum of relu(π) of a row.
    pub sparsity: f64,
    /// Squared error of the row that relu(π) gives.
    pub auxiliary: f64,
    /// Number of latents above 0.
    pub l0: f64,
}

/// Makes updates.
pub struct Trainer<'a> {
    autoencoder: &'a Autoencoder,
    device: &'a Device,
    workers: &'a WorkerPool,
    precision: Precision,
    /// One a site.
    gradients: Vec<GradientSum>,
}

/// Results of a micro-batch beside its gradient: the sums of the loss's terms, and the number of rows in which each
/// latent is above 0.
struct MicroBatchSums {
    sums: [f64; 3],
    active: Vec<f32>,
}

impl<'a> Trainer<'a> {
    /// A trainer of so many sites.
    pub fn new(
        autoencoder: &'a Autoencoder,
        sites: usize,
        (device, workers): (&'a Device, &'a WorkerPool),
        precision: Precision,
    ) -> Self {
        let gradients = (0..sites).map(|_| GradientSum::new(autoencoder.layout().clone())).collect();
        Trainer { autoencoder, device, workers, precision, gradients }
    }

    /// One update of each site with its scaled rows [rows, width], at this learning rate and weight of sparsity.
    pub fn step(
        &mut self,
        states: &mut [SiteState],
        rows_by_site: &[Vec<f32>],
        sparsity_weight: f64,
        learning_rate: f64,
    ) -> Vec<BatchMeans> {
        let width = self.autoencoder.width();
        let rows = rows_by_site[0].len() / width;
        let micro_rows = if device::is_cpu(self.device) { MICRO_ROWS } else { rows };
        let micro_batches = rows.div_ceil(micro_rows);
        let weights: Vec<DeviceWeights> = states
            .iter()
            .map(|state| DeviceWeights::new(&state.weights, self.device).with_precision(self.precision))
            .collect();
        let parts = self.workers.map(states.len() * micro_batches, |job| {
            let (site, index) = (job / micro_batches, job % micro_batches);
            let pass = ForwardPass::training(&weights[site], None);
            let values = rows_by_site[site].chunks(micro_rows * width).nth(index).unwrap_or_default().to_vec();
            let shape = [values.len() / width, width];
            let x = Tensor::from_data(TensorData::new(values, shape), pass.device());
            let loss = self.autoencoder.loss(&pass, x, sparsity_weight, rows);
            self.gradients[site].add(index, pass.gradient(&loss.share));
            let sums = [loss.reconstruction, loss.sparsity, loss.auxiliary].map(|sum| f64::from(values_of(sum)[0]));
            MicroBatchSums { sums, active: values_of(loss.active) }
        });
        drop(weights);
        let sites = states.iter_mut().zip(&mut self.gradients).zip(parts.chunks(micro_batches));
        sites
            .map(|((state, gradient), parts)| {
                gradient.with(|gradient| update(state, gradient, self.autoencoder.latents(), learning_rate));
                count_rows_since_active(&mut state.rows_since_active, parts, rows as u64);
                means(parts, rows as f64, sparsity_weight)
            })
            .collect()
    }
}

/// An update whose columns of the decoder stay of length 1.
fn update(state: &mut SiteState, gradient: &mut Weights, latents: usize, learning_rate: f64) {
    let decoder = Autoencoder::DECODER;
    project_gradient(gradient.get_mut(decoder), state.weights.get(decoder), latents);
    state.adamw.update(&mut state.weights, gradient, 1.0, learning_rate);
    set_unit_columns(state.weights.get_mut(decoder), latents);
}

fn count_rows_since_active(rows_since_active: &mut [u64], parts: &[MicroBatchSums], rows: u64) {
    for (latent, since) in rows_since_active.iter_mut().enumerate() {
        let is_active = parts.iter().any(|part| part.active[latent] > 0.0);
        *since = if is_active { 0 } else { *since + rows };
    }
}

fn means(parts: &[MicroBatchSums], rows: f64, sparsity_weight: f64) -> BatchMeans {
    let mean = |of: fn(&MicroBatchSums) -> f64| parts.iter().map(of).sum::<f64>() / rows;
    let [reconstruction, sparsity, auxiliary] =
        [mean(|part| part.sums[0]), mean(|part| part.sums[1]), mean(|part| part.sums[2])];
    BatchMeans {
        loss: reconstruction + sparsity_weight * sparsity + auxiliary,
        reconstruction,
        sparsity,
        auxiliary,
        l0: mean(|part| part.active.iter().map(|&rows| f64::from(rows)).sum()),
    }
}

fn values_of(tensor: Tensor<1>) -> Vec<f32> {
    tensor.into_data().as_slice::<f32>().expect("sums are f32").to_vec()
}
