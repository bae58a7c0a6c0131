//! Weights and optimiser, one batch at a time, with the guard against numbers that are not finite (protocol.md).

use cwm_models::batch::MicroBatch;
use cwm_models::lanes::Lanes;
use cwm_models::optimiser::{AdamW, Schedule};
use cwm_models::parameters::Weights;
use cwm_models::{Device, Network, loss};

use crate::best::Best;
use crate::config::Config;
use crate::seat::{Seat, Task};

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
    /// The best of what was validated, with `checkpoint: best`.
    pub best: Option<Best>,
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
            best: None,
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
    task: Task<'a>,
    schedule: Schedule,
    clip: f64,
    seat: Seat,
    /// What changes. Its arrays may be behind: [`Trainer::home`].
    pub state: State,
}

impl<'a> Trainer<'a> {
    /// Continues from `state` on `device`; `lanes` are for the processor.
    pub fn new(
        network: &'a Network,
        lanes: &'a Lanes,
        config: &Config,
        schedule: Schedule,
        state: State,
        device: &Device,
    ) -> Self {
        let noise_seed = (config.dropout > 0.0).then(|| config.dropout_seed());
        let task = Task { network, lanes, precision: config.precision(), noise_seed };
        Trainer { task, schedule, clip: config.clip, seat: Seat::on(device, network, &state), state }
    }

    /// The state with its arrays up to date.
    pub fn home(&mut self) -> &mut State {
        self.seat.bring_home(&mut self.state);
        &mut self.state
    }

    /// One step on a batch.
    ///
    /// A batch whose loss or gradient norm is not finite makes no update and no step of the schedule. An update that
    /// makes a weight not finite is undone as upstream does it: the weights go back to the last snapshot, moments and
    /// schedule go on. Both count as bad.
    pub fn step(&mut self, micro_batches: &[MicroBatch]) -> Shown {
        let steps: usize = micro_batches.iter().map(|micro_batch| micro_batch.tokens.valid()).sum();
        let Trainer { seat, state, .. } = self;
        let sum = seat.backward(self.task, state, micro_batches, steps);
        let loss = sum / loss::denominator(steps);
        let learning_rate = self.schedule.at(state.adamw.updates);
        let gradient_norm = seat.update(state, loss.is_finite(), self.clip, learning_rate);
        state.step += 1;
        let finite = seat.is_finite(state);
        if !finite {
            seat.go_back(state);
        }
        if finite && loss.is_finite() && gradient_norm.is_finite() {
            state.bad_in_a_row = 0;
            if state.step.is_multiple_of(SNAPSHOT_EVERY) {
                seat.take_snapshot(state);
            }
        } else {
            state.bad_in_a_row += 1;
            state.skipped += 1;
        }
        Shown { loss, learning_rate, gradient_norm }
    }
}

#[cfg(test)]
mod tests {
    use cwm_contract::Parameters;
    use cwm_encoding::{EnPassant, START, replay_into};
    use cwm_models::device;

    use super::*;

    fn config() -> Config {
        let defaults = Config::specs().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
        let mut config = Config::read(&defaults.collect()).unwrap();
        config.size = "d16/l1".into();
        config
    }

    fn start() -> [MicroBatch; 1] {
        [MicroBatch::labelled(&[&[START]], &[0], |_, rows| replay_into(&[START], EnPassant::Always, rows)).unwrap()]
    }

    /// Makes steps with a model whose state was changed.
    fn with_state<R>(
        config: &Config,
        change: impl FnOnce(&Network, &mut State),
        test: impl FnOnce(&mut Trainer) -> R,
    ) -> R {
        let network = Network::build(config.architecture().unwrap()).unwrap();
        let lanes = Lanes::new(1).unwrap();
        let mut state = State::new(&network, config);
        change(&network, &mut state);
        test(&mut Trainer::new(&network, &lanes, config, config.schedule(10), state, &device::cpu()))
    }

    /// Step, updates, bad steps and how many of them came last.
    fn counts(state: &State) -> (u64, u64, u64, u64) {
        (state.step, state.adamw.updates, state.skipped, state.bad_in_a_row)
    }

    /// Makes all losses infinite, with weights that are not.
    fn overflow(network: &Network, state: &mut State) {
        let head = network.layout().find("output_head.weight").unwrap();
        state.weights.get_mut(head).fill(f32::MAX);
    }

    #[test]
    fn a_batch_without_a_finite_loss_makes_no_update_and_no_step_of_the_schedule() {
        with_state(&config(), overflow, |trainer| {
            let before = trainer.state.clone();
            let shown = trainer.step(&start());
            assert!(!shown.loss.is_finite());
            assert_eq!(counts(&trainer.state), (1, 0, 1, 1));
            assert_eq!(trainer.state.weights.values(), before.weights.values(), "nothing is restored either");
            assert_eq!(trainer.state.adamw.first.values(), before.adamw.first.values());
            trainer.state.weights.clone_from(&before.snapshot);
            let again = trainer.step(&start());
            assert!(again.loss.is_finite());
            assert_eq!(again.learning_rate, shown.learning_rate, "the schedule has waited");
            assert_eq!(counts(&trainer.state), (2, 1, 1, 0));
            assert!(trainer.step(&start()).learning_rate > again.learning_rate, "in warm-up it grows by update");
        });
    }

    #[test]
    fn an_update_that_breaks_the_weights_restores_them_and_goes_on_with_all_else() {
        let mut config = config();
        (config.lr, config.warmup) = (1e38, 0);
        with_state(
            &config,
            |_, _| {},
            |trainer| {
                let snapshot = trainer.state.snapshot.values().to_vec();
                trainer.state.weights.values_mut()[0] += 1.0;
                assert!(trainer.step(&start()).loss.is_finite());
                assert_eq!(trainer.state.weights.values(), snapshot);
                assert_eq!(counts(&trainer.state), (1, 1, 1, 1), "the schedule's step is made");
                assert!(trainer.state.adamw.first.values().iter().any(|moment| *moment != 0.0), "moments go on");
            },
        );
    }

    #[test]
    fn with_everything_on_a_device_steps_and_guard_are_the_same() {
        let mut steep = config();
        (steep.lr, steep.warmup) = (1e38, 0);
        let cases: [(&str, Config, fn(&Network, &mut State)); 4] = [
            ("good steps", config(), |_, _| {}),
            ("losses that are not finite", config(), overflow),
            ("updates that break the weights", steep, |_, _| {}),
            ("a snapshot", config(), |_, state| state.step = 499),
        ];
        for (case, config, change) in cases {
            let run = |on_device: bool| {
                with_state(&config, change, |trainer| {
                    if on_device {
                        trainer.seat = Seat::resident(&device::cpu(), &trainer.state);
                    }
                    let shown: Vec<Shown> = (0..3).map(|_| trainer.step(&start())).collect();
                    (shown, trainer.home().clone())
                })
            };
            let ((shown, state), (expected, host)) = (run(true), run(false));
            assert_eq!(counts(&state), counts(&host), "{case}");
            for (shown, expected) in shown.iter().zip(&expected) {
                let alike = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-5 || (!a.is_finite() && !b.is_finite());
                assert!(alike(shown.loss, expected.loss), "{case}: {shown:?} {expected:?}");
                assert!(alike(shown.gradient_norm, expected.gradient_norm), "{case}: {shown:?} {expected:?}");
                assert_eq!(shown.learning_rate, expected.learning_rate, "{case}");
            }
            for (found, expected) in [(&state.weights, &host.weights), (&state.snapshot, &host.snapshot)] {
                let far = found.values().iter().zip(expected.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                // A gradient of nothing but rounding may move a weight by the whole learning rate.
                assert!(far <= 3e-4, "{case}: {far}");
            }
        }
    }

    #[test]
    fn snapshots_are_taken_at_every_five_hundredth_step_when_all_is_well() {
        let at = |step, change: fn(&Network, &mut State)| {
            let set = move |network: &Network, state: &mut State| {
                change(network, state);
                state.step = step;
            };
            with_state(&config(), set, |trainer| {
                let before = trainer.state.snapshot.values().to_vec();
                trainer.step(&start());
                let after = trainer.state.snapshot.values();
                (after != before, after == trainer.state.weights.values())
            })
        };
        let well: fn(&Network, &mut State) = |_, _| {};
        assert_eq!(at(499, well), (true, true));
        assert_eq!(at(500, well), (false, false));
        assert_eq!(at(999, well), (true, true));
        assert_eq!(at(499, overflow), (false, false), "a bad step takes none");
    }

    #[test]
    fn twenty_bad_batches_in_a_row_and_no_fewer_end_a_run() {
        with_state(&config(), overflow, |trainer| {
            for _ in 0..19 {
                trainer.step(&start());
            }
            assert!(!trainer.state.has_diverged());
            let (broken, good) = (trainer.state.weights.clone(), trainer.state.snapshot.clone());
            trainer.state.weights = good;
            trainer.step(&start());
            assert_eq!(trainer.state.bad_in_a_row, 0);
            trainer.state.weights = broken;
            for _ in 0..19 {
                trainer.step(&start());
            }
            assert!(!trainer.state.has_diverged());
            trainer.step(&start());
            assert!(trainer.state.has_diverged());
            assert_eq!(counts(&trainer.state), (40, 1, 39, 20));
        });
    }
}
