//! The place of a training's arrays while it runs: in host memory, or all of them on a device.

use cwm_models::counter_rng::CounterRng;
use cwm_models::gradient::GradientSum;
use cwm_models::loss::Loss;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Device, DeviceWeights, ForwardPass, Precision, device};

use crate::device_trainer::{DeviceTrainer, PendingStepEnd, StepEnd};
use crate::optimiser::{clip_factor, norm};
use crate::{Metrics, Objective, State};

/// Owns the arrays of a training where they are updated.
pub enum TrainingBackend {
    /// The arrays are the state's own; the gradient is summed beside them.
    Cpu(GradientSum),
    /// The arrays are on a device; the state's are those of the last synchronisation.
    Device {
        /// The arrays.
        trainer: Box<DeviceTrainer>,
        /// True if the state's arrays are older than the device's.
        host_is_stale: bool,
    },
}

/// The losses of a pass, where they are.
pub enum Losses {
    /// The sum of all, on the CPU.
    Sum(f64),
    /// The losses of each micro-batch, on the device.
    OnDevice(Vec<Loss>),
}

/// Options of a backward pass.
#[derive(Clone, Copy)]
pub struct PassOptions<'a> {
    /// Threads, for the CPU.
    pub workers: &'a WorkerPool,
    /// Precision of matrix products.
    pub precision: Precision,
    /// Seed of dropout; `None` without dropout.
    pub dropout_seed: Option<u64>,
}

impl TrainingBackend {
    /// The backend for training `state` on `device`.
    pub fn new<M: Metrics>(device: &Device, state: &State<M>) -> Self {
        if device::is_cpu(device) {
            TrainingBackend::Cpu(GradientSum::new(state.weights.layout().clone()))
        } else {
            TrainingBackend::on_device(device, state)
        }
    }

    /// The backend of devices on `device`, even if that is the CPU.
    pub fn on_device<M: Metrics>(device: &Device, state: &State<M>) -> Self {
        let trainer = DeviceTrainer::new(&state.weights, &state.adamw, &state.snapshot, device);
        TrainingBackend::Device { trainer: Box::new(trainer), host_is_stale: false }
    }

    /// Returns true if updates end while the host does other things.
    pub fn is_deferred(&self) -> bool {
        matches!(self, TrainingBackend::Device { .. })
    }

    /// Adds up the gradients of the micro-batches of a step, which have so many positions together.
    pub fn pass<T: Objective>(
        &mut self,
        objective: &T,
        options: PassOptions<'_>,
        state: &State<T::Metrics>,
        (step, positions): (u64, usize),
        micro_batches: &[T::MicroBatch],
    ) -> Losses {
        let rng = |index: usize| options.dropout_seed.map(|seed| CounterRng::new(seed, step, index as u64));
        match self {
            TrainingBackend::Cpu(gradient) => {
                let weights = DeviceWeights::new(&state.weights, &device::cpu()).with_precision(options.precision);
                let sums = options.workers.map(micro_batches.len(), |index| {
                    let pass = ForwardPass::training(&weights, rng(index));
                    let loss = objective.loss(&pass, &micro_batches[index], positions);
                    gradient.add(index, pass.gradient(&loss.share));
                    loss.sum()
                });
                Losses::Sum(sums.iter().sum())
            }
            TrainingBackend::Device { trainer, .. } => {
                let weights = trainer.weights().with_precision(options.precision);
                let losses = micro_batches.iter().enumerate().map(|(index, micro_batch)| {
                    let pass = ForwardPass::training(&weights, rng(index));
                    let loss = objective.loss(&pass, micro_batch, positions);
                    trainer.add(pass.device_gradients(&loss.share));
                    loss
                });
                Losses::OnDevice(losses.collect())
            }
        }
    }

    /// Starts the update by the gradients of a pass, clipped to `clip`, at `rate`; there is none if a loss or the gradient is
    /// not finite. [`TrainingBackend::finish_update`] takes the result before the next update.
    pub fn start_update<M: Metrics>(
        &mut self,
        state: &mut State<M>,
        losses: Losses,
        (clip, rate): (f64, f64),
    ) -> PendingStepEnd {
        match (self, losses) {
            (TrainingBackend::Cpu(gradient), Losses::Sum(loss_sum)) => {
                let end = gradient.with(|gradient| {
                    let gradient_norm = norm(gradient.values());
                    let updated = loss_sum.is_finite() && gradient_norm.is_finite();
                    if updated {
                        let factor = clip_factor(gradient_norm, clip);
                        state.adamw.update(&mut state.weights, gradient, factor, rate);
                    }
                    StepEnd { loss_sum, gradient_norm, updated, is_finite: state.weights.is_finite() }
                });
                Box::new(move || end)
            }
            (TrainingBackend::Device { trainer, host_is_stale }, Losses::OnDevice(losses)) => {
                *host_is_stale = true;
                trainer.end_step(&losses, clip, rate)
            }
            _ => unreachable!("losses are where the backend is"),
        }
    }

    /// Waits for the end of an update.
    pub fn finish_update<M: Metrics>(&mut self, state: &mut State<M>, end: PendingStepEnd) -> StepEnd {
        match self {
            TrainingBackend::Cpu(_) => end(),
            TrainingBackend::Device { trainer, .. } => {
                let end = trainer.finish_step(end);
                state.adamw.updates = trainer.updates();
                end
            }
        }
    }

    /// Forgets the gradients of a pass.
    pub fn discard(&mut self) {
        match self {
            TrainingBackend::Cpu(gradient) => gradient.with(|_| ()),
            TrainingBackend::Device { trainer, .. } => trainer.clear_gradient(),
        }
    }

    /// Sets the weights to the snapshot.
    pub fn restore_snapshot<M: Metrics>(&mut self, state: &mut State<M>) {
        match self {
            TrainingBackend::Cpu(_) => state.weights.clone_from(&state.snapshot),
            TrainingBackend::Device { trainer, host_is_stale } => {
                trainer.restore_snapshot();
                *host_is_stale = true;
            }
        }
    }

    /// Sets the snapshot to the weights.
    pub fn take_snapshot<M: Metrics>(&mut self, state: &mut State<M>) {
        match self {
            TrainingBackend::Cpu(_) => state.snapshot.clone_from(&state.weights),
            TrainingBackend::Device { trainer, host_is_stale } => {
                trainer.take_snapshot();
                *host_is_stale = true;
            }
        }
    }

    /// Updates the state's arrays.
    pub fn sync_to_host<M: Metrics>(&mut self, state: &mut State<M>) {
        if let TrainingBackend::Device { trainer, host_is_stale } = self
            && std::mem::take(host_is_stale)
        {
            trainer.sync_to_host(&mut state.weights, &mut state.adamw, &mut state.snapshot);
        }
    }
}
