//! Where the arrays of a training are while it runs: with the processor, or all of them on a device.

use cwm_models::batch::MicroBatch;
use cwm_models::gradient::GradientSum;
use cwm_models::lanes::Lanes;
use cwm_models::noise::Noise;
use cwm_models::optimiser::{clip_factor, norm};
use cwm_models::resident::Resident;
use cwm_models::{Device, Network, Pass, Placed, Precision, device, loss};

use crate::trainer::State;

/// Where they are.
pub enum Seat {
    /// In the state; the gradient is summed beside it.
    Host(GradientSum),
    /// On a device; the arrays of the state are those of the last time that they were brought home.
    Device {
        /// They.
        resident: Box<Resident>,
        /// Whether the state's have been left behind.
        ahead: bool,
    },
}

/// What a backward pass needs beside its micro-batches.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The model.
    pub network: &'a Network,
    /// Threads, for the processor.
    pub lanes: &'a Lanes,
    /// Of matrix products.
    pub precision: Precision,
    /// Seed of dropout; none without dropout.
    pub noise_seed: Option<u64>,
}

impl Seat {
    /// The seat for training `state` on `device`.
    pub fn on(device: &Device, network: &Network, state: &State) -> Self {
        if device::is_processor(device) {
            Seat::Host(GradientSum::new(network.layout().clone()))
        } else {
            Seat::resident(device, state)
        }
    }

    /// A seat on `device`, of whatever kind that is.
    pub fn resident(device: &Device, state: &State) -> Self {
        let resident = Resident::new(&state.weights, &state.adamw, &state.snapshot, device);
        Seat::Device { resident: Box::new(resident), ahead: false }
    }

    /// Sums the gradients of all micro-batches; returns the sum of their cross-entropies.
    pub fn backward(&mut self, task: Task, state: &State, micro_batches: &[MicroBatch], steps: usize) -> f64 {
        let noise = |index: usize| task.noise_seed.map(|seed| Noise::new(seed, state.step, index as u64));
        let logits = |pass: &Pass, index: usize| task.network.flat_logits(pass, &micro_batches[index].tokens);
        match self {
            Seat::Host(gradient) => {
                let placed = Placed::new(&state.weights, &device::cpu()).with_precision(task.precision);
                let sums = task.lanes.map(micro_batches.len(), |index| {
                    let pass = Pass::training(&placed, noise(index));
                    let loss = loss::loss(logits(&pass, index), &micro_batches[index].targets, steps);
                    gradient.add(index, pass.gradient(&loss.share));
                    loss.sum
                });
                sums.iter().sum()
            }
            Seat::Device { resident, .. } => {
                let placed = resident.placed().with_precision(task.precision);
                let mut shares = Vec::with_capacity(micro_batches.len());
                for (index, micro_batch) in micro_batches.iter().enumerate() {
                    let pass = Pass::training(&placed, noise(index));
                    let share = loss::shares(logits(&pass, index), &micro_batch.targets, steps);
                    resident.add(pass.slopes(&share.share));
                    shares.push(share);
                }
                shares.iter().map(loss::Shares::sum).sum()
            }
        }
    }

    /// Global norm of the gradient; if that is finite and `wanted`, one update at `rate` with the gradient cut to `clip`.
    /// The gradient is zero again.
    pub fn update(&mut self, state: &mut State, wanted: bool, clip: f64, rate: f64) -> f64 {
        match self {
            Seat::Host(gradient) => gradient.with(|gradient| {
                let norm = norm(gradient.values());
                if wanted && norm.is_finite() {
                    state.adamw.update(&mut state.weights, gradient, clip_factor(norm, clip), rate);
                }
                norm
            }),
            Seat::Device { resident, ahead } => {
                let norm = resident.gradient_norm();
                if wanted && norm.is_finite() {
                    resident.update(clip_factor(norm, clip), rate);
                    state.adamw.updates = resident.updates();
                    *ahead = true;
                } else {
                    resident.forget_gradient();
                }
                norm
            }
        }
    }

    /// Whether every weight is finite.
    pub fn is_finite(&self, state: &State) -> bool {
        match self {
            Seat::Host(_) => state.weights.is_finite(),
            Seat::Device { resident, .. } => resident.is_finite(),
        }
    }

    /// Makes the snapshot the weights.
    pub fn go_back(&mut self, state: &mut State) {
        match self {
            Seat::Host(_) => state.weights.clone_from(&state.snapshot),
            Seat::Device { resident, ahead } => {
                resident.go_back();
                *ahead = true;
            }
        }
    }

    /// Makes the weights the snapshot.
    pub fn take_snapshot(&mut self, state: &mut State) {
        match self {
            Seat::Host(_) => state.snapshot.clone_from(&state.weights),
            Seat::Device { resident, ahead } => {
                resident.take_snapshot();
                *ahead = true;
            }
        }
    }

    /// Brings the state's arrays up to date.
    pub fn bring_home(&mut self, state: &mut State) {
        if let Seat::Device { resident, ahead } = self
            && std::mem::take(ahead)
        {
            resident.bring_home(&mut state.weights, &mut state.adamw, &mut state.snapshot);
        }
    }
}
