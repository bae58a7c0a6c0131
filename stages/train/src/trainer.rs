//! Weights and optimiser, one batch at a time, with the guard against numbers that are not finite (protocol.md).

use cwm_models::batch::MicroBatch;
use cwm_models::gradient::GradientSum;
use cwm_models::lanes::Lanes;
use cwm_models::noise::Noise;
use cwm_models::optimiser::{AdamW, Schedule, clip_factor, norm};
use cwm_models::parameters::Weights;
use cwm_models::{Network, Pass, Placed, Precision, device, loss};

use crate::config::Config;

/// Bad batches in a row that end a run.
const PATIENCE: u64 = 20;
/// Steps between snapshots of the weights; at a bad step none is taken.
const SNAPSHOT_EVERY: u64 = 500;

/// Everything that changes from step to step, and that a checkpoint holds.
#[derive(Clone, Debug)]
pub struct State {
    /// The model.
    pub weights: Weights,
    /// Moments and number of updates.
    pub adamw: AdamW,
    /// What the weights go back to when an update makes one of them not finite.
    pub snapshot: Weights,
    /// Batches drawn.
    pub step: u64,
    /// Batches that made no lasting update.
    pub skipped: u64,
    /// How many of them came last, without a good one between.
    pub bad_in_a_row: u64,
    /// The last step whose validation is in the curves.
    pub validated: u64,
}

impl State {
    /// The beginning of a run.
    pub fn new(network: &Network, config: &Config) -> Self {
        let weights = network.initial_weights(config.init_seed());
        State {
            adamw: AdamW::new(network.layout().clone(), config.adamw()),
            snapshot: weights.clone(),
            weights,
            step: 0,
            skipped: 0,
            bad_in_a_row: 0,
            validated: 0,
        }
    }

    /// Whether too many batches in a row were bad.
    pub fn has_diverged(&self) -> bool {
        self.bad_in_a_row >= PATIENCE
    }
}

/// What one step showed.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Loss of the batch before the update.
    pub loss: f64,
    /// Learning rate of the update.
    pub learning_rate: f64,
    /// Global norm of the gradient before clipping.
    pub gradient_norm: f64,
}

/// Makes steps.
pub struct Trainer<'a> {
    network: &'a Network,
    lanes: &'a Lanes,
    schedule: Schedule,
    clip: f64,
    precision: Precision,
    /// Seed of dropout; none without dropout.
    noise_seed: Option<u64>,
    gradient: GradientSum,
    /// What changes.
    pub state: State,
}

impl<'a> Trainer<'a> {
    /// Continues from `state`.
    pub fn new(network: &'a Network, lanes: &'a Lanes, config: &Config, schedule: Schedule, state: State) -> Self {
        Trainer {
            network,
            lanes,
            schedule,
            clip: config.clip,
            precision: config.precision(),
            noise_seed: (config.dropout > 0.0).then(|| config.dropout_seed()),
            gradient: GradientSum::new(network.layout().clone()),
            state,
        }
    }

    /// One step on a batch.
    ///
    /// A batch whose loss or gradient norm is not finite makes no update and no step of the schedule. An update that
    /// makes a weight not finite is undone as upstream does it: the weights go back to the last snapshot, moments and
    /// schedule go on. Both count as bad.
    pub fn step(&mut self, micro_batches: &[MicroBatch]) -> Shown {
        let steps: usize = micro_batches.iter().map(|micro_batch| micro_batch.tokens.valid()).sum();
        let sum = self.backward(micro_batches, steps);
        let loss = sum / loss::denominator(steps);
        let learning_rate = self.schedule.at(self.state.adamw.updates);
        let (state, clip) = (&mut self.state, self.clip);
        let gradient_norm = self.gradient.with(|gradient| {
            let gradient_norm = norm(gradient.values());
            if loss.is_finite() && gradient_norm.is_finite() {
                let factor = clip_factor(gradient_norm, clip);
                state.adamw.update(&mut state.weights, gradient, factor, learning_rate);
            }
            gradient_norm
        });
        state.step += 1;
        let finite = state.weights.is_finite();
        if !finite {
            state.weights.clone_from(&state.snapshot);
        }
        if finite && loss.is_finite() && gradient_norm.is_finite() {
            state.bad_in_a_row = 0;
            if state.step.is_multiple_of(SNAPSHOT_EVERY) {
                state.snapshot.clone_from(&state.weights);
            }
        } else {
            state.bad_in_a_row += 1;
            state.skipped += 1;
        }
        Shown { loss, learning_rate, gradient_norm }
    }

    /// Sums the gradients of all micro-batches; returns the sum of their cross-entropies.
    fn backward(&self, micro_batches: &[MicroBatch], steps: usize) -> f64 {
        let placed = Placed::new(&self.state.weights, &device::cpu()).with_precision(self.precision);
        let sums = self.lanes.map(micro_batches.len(), |index| {
            let noise = self.noise_seed.map(|seed| Noise::new(seed, self.state.step, index as u64));
            let pass = Pass::training(&placed, noise);
            let logits = self.network.flat_logits(&pass, &micro_batches[index].tokens);
            let loss = loss::loss(logits, &micro_batches[index].targets, steps);
            self.gradient.add(index, pass.gradient(&loss.share));
            loss.sum
        });
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use cwm_contract::Parameters;
    use cwm_encoding::{EnPassant, START, replay_into};

    use super::*;

    fn config() -> Config {
        let defaults = Config::specs().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
        let mut config = Config::read(&defaults.collect()).unwrap();
        config.size = "d16/l1".into();
        config
    }

    #[test]
    fn a_batch_without_a_finite_loss_makes_no_update_and_weights_go_back() {
        let config = config();
        let network = Network::build(config.architecture().unwrap()).unwrap();
        let lanes = Lanes::new(1).unwrap();
        let mut state = State::new(&network, &config);
        let snapshot = state.snapshot.values().to_vec();
        let broken = network.layout().find("output_head.bias").unwrap();
        state.weights.get_mut(broken)[0] = f32::NAN;
        let mut trainer = Trainer::new(&network, &lanes, &config, config.schedule(10), state);
        let batch =
            [MicroBatch::labelled(&[&[START]], &[0], |_, rows| replay_into(&[START], EnPassant::Always, rows))
                .unwrap()];

        assert!(trainer.step(&batch).loss.is_nan());
        let counts = |state: &State| (state.step, state.adamw.updates, state.skipped, state.bad_in_a_row);
        assert_eq!(counts(&trainer.state), (1, 0, 1, 1));
        assert_eq!(trainer.state.weights.values(), snapshot);

        assert!(trainer.step(&batch).loss.is_finite());
        assert_eq!(counts(&trainer.state), (2, 1, 1, 0));
        assert_ne!(trainer.state.weights.values(), snapshot);
    }
}
