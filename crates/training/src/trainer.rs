//! Weights and optimiser, one batch at a time, with the guard against numbers that are not finite (protocol.md).

use cwm_models::Device;

use crate::backend::{Losses, PassOptions, TrainingBackend};
use crate::device_trainer::{PendingStepEnd, StepEnd};
use crate::schedule::Schedule;
use crate::{Objective, State};

/// Steps between snapshots of the weights; at a bad step none is taken.
const SNAPSHOT_EVERY: u64 = 500;

/// Metrics of one step.
#[derive(Clone, Copy, Debug)]
pub struct StepMetrics {
    /// Positions of the batch.
    pub positions: usize,
    /// Loss of the batch before the update.
    pub loss: f64,
    /// Learning rate of the update.
    pub learning_rate: f64,
    /// Global norm of the gradient before clipping.
    pub gradient_norm: f64,
}

/// Makes training steps.
pub struct Trainer<'a, T: Objective> {
    /// The objective.
    pub objective: &'a T,
    options: PassOptions<'a>,
    schedule: Schedule,
    clip: f64,
    backend: TrainingBackend,
    /// The pass of the step that has begun.
    pass: Option<Losses>,
    /// The update of the step before it, if it may not have ended.
    update: Option<Update>,
    /// The state after the last step that has ended. Its arrays may be stale: [`Trainer::synced_state`].
    pub state: State<T::Metrics>,
}

/// An update that may not have ended on a device.
struct Update {
    end: PendingStepEnd,
    positions: usize,
    learning_rate: f64,
}

impl<'a, T: Objective> Trainer<'a, T> {
    /// Continues from `state` on `device`.
    pub fn new(
        objective: &'a T,
        options: PassOptions<'a>,
        schedule: Schedule,
        clip: f64,
        state: State<T::Metrics>,
        device: &Device,
    ) -> Self {
        Trainer {
            objective,
            options,
            schedule,
            clip,
            backend: TrainingBackend::new(device, &state),
            pass: None,
            update: None,
            state,
        }
    }

    /// The state with its arrays up to date.
    pub fn synced_state(&mut self) -> &mut State<T::Metrics> {
        self.backend.sync_to_host(&mut self.state);
        &mut self.state
    }

    /// The step that begins next, counted from 0.
    pub fn next_step(&self) -> u64 {
        self.state.step + u64::from(self.update.is_some())
    }

    /// Begins a step on a batch: its passes. On a device they are in its queue then, and the step before can be
    /// [finished](Trainer::finish_step) while the device computes them.
    pub fn begin_step(&mut self, micro_batches: &[T::MicroBatch]) {
        let numbers = (self.next_step(), self.positions(micro_batches));
        self.pass = Some(self.backend.pass(self.objective, self.options, &self.state, numbers, micro_batches));
    }

    /// Starts the update of the step that has begun on this batch; the step before is finished. Without a device it ends at once.
    pub fn update_step(&mut self, micro_batches: &[T::MicroBatch]) {
        debug_assert!(self.update.is_none(), "the step before is not finished");
        if self.pass.is_none() {
            // The step before has restored other weights than those of the pass.
            self.begin_step(micro_batches);
        }
        let losses = self.pass.take().expect("the step has begun");
        let learning_rate = self.schedule.at(self.state.adamw.updates);
        let end = self.backend.start_update(&mut self.state, losses, (self.clip, learning_rate));
        self.update = Some(Update { end, positions: self.positions(micro_batches), learning_rate });
    }

    /// Returns true if the update of a step ends while the next one begins.
    pub fn is_deferred(&self) -> bool {
        self.backend.is_deferred()
    }

    /// Finishes the step whose update was started, if there is one.
    ///
    /// A batch whose loss or gradient norm is not finite makes no update and no step of the schedule. An update that
    /// makes a weight not finite is undone as upstream does it: the weights are restored to the last snapshot, moments
    /// and schedule go on. Both count as bad.
    pub fn finish_step(&mut self) -> Option<StepMetrics> {
        let update = self.update.take()?;
        let (metrics, is_good) = self.finish_update(update);
        self.count_step(is_good);
        if is_good && self.state.step.is_multiple_of(SNAPSHOT_EVERY) {
            self.backend.take_snapshot(&mut self.state);
        }
        Some(metrics)
    }

    fn finish_update(&mut self, Update { end, positions, learning_rate }: Update) -> (StepMetrics, bool) {
        let StepEnd { loss_sum, gradient_norm, is_finite, .. } = self.backend.finish_update(&mut self.state, end);
        let loss = loss_sum / self.objective.denominator(positions);
        if !is_finite {
            self.backend.restore_snapshot(&mut self.state);
            if self.pass.take().is_some() {
                self.backend.discard();
            }
        }
        let is_good = is_finite && loss.is_finite() && gradient_norm.is_finite();
        (StepMetrics { positions, loss, learning_rate, gradient_norm }, is_good)
    }

    /// One of the updates of a step, and whether it was good; [`Trainer::end_step`] ends the step.
    pub fn update(&mut self, micro_batches: &[T::MicroBatch]) -> (StepMetrics, bool) {
        self.update_step(micro_batches);
        let update = self.update.take().expect("an update was started");
        self.finish_update(update)
    }

    fn positions(&self, micro_batches: &[T::MicroBatch]) -> usize {
        micro_batches.iter().map(|micro_batch| self.objective.positions(micro_batch)).sum()
    }

    /// Ends a step that was made of any number of [updates](Trainer::update). If one of them was bad, all are undone: the weights
    /// are restored to those before the step, moments and schedule go on.
    pub fn end_step(&mut self, is_good: bool) {
        self.count_step(is_good);
        if is_good {
            self.backend.take_snapshot(&mut self.state);
        } else {
            self.backend.restore_snapshot(&mut self.state);
        }
    }

    fn count_step(&mut self, is_good: bool) {
        self.state.step += 1;
        if is_good {
            self.state.consecutive_bad_steps = 0;
        } else {
            self.state.consecutive_bad_steps += 1;
            self.state.skipped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use cwm_models::device;
    use cwm_models::worker_pool::WorkerPool;

    use super::*;
    use crate::schedule::Shape;
    use crate::testing::{Rows, Straight, adamw, devices, micro_batch, start};

    const SCHEDULE: Schedule = Schedule { shape: Shape::Cosine, rate: 1e-3, warmup: 100, horizon: 200, floor: 0.1 };
    /// An update at this rate leaves no finite weight.
    const STEEP: Schedule = Schedule { rate: 1e38, warmup: 0, ..SCHEDULE };

    fn batch() -> [Rows; 1] {
        [micro_batch(&[0, 1, 2])]
    }

    fn step(trainer: &mut Trainer<'_, Straight>) -> StepMetrics {
        trainer.begin_step(&batch());
        trainer.update_step(&batch());
        trainer.finish_step().unwrap()
    }

    /// Steps of which each is finished when the next one has begun.
    fn steps_ahead(trainer: &mut Trainer<'_, Straight>, count: usize) -> Vec<StepMetrics> {
        let mut metrics = Vec::new();
        for _ in 0..count {
            trainer.begin_step(&batch());
            metrics.extend(trainer.finish_step());
            trainer.update_step(&batch());
        }
        metrics.extend(trainer.finish_step());
        metrics
    }

    /// Makes steps with a state that was changed.
    fn with_state<R>(
        schedule: Schedule,
        change: impl FnOnce(&mut State<f64>),
        test: impl FnOnce(&mut Trainer<'_, Straight>) -> R,
    ) -> R {
        let (objective, workers) = (Straight::new(), WorkerPool::new(1).unwrap());
        let mut state = State::new(start(&objective), adamw());
        change(&mut state);
        let options = PassOptions { workers: &workers, precision: Default::default(), dropout_seed: None };
        test(&mut Trainer::new(&objective, options, schedule, 1.0, state, &device::cpu()))
    }

    /// Step, updates, bad steps and how many of them came last.
    fn counts(state: &State<f64>) -> (u64, u64, u64, u64) {
        (state.step, state.adamw.updates, state.skipped, state.consecutive_bad_steps)
    }

    /// Makes all losses infinite, with weights that are not.
    fn overflow(state: &mut State<f64>) {
        state.weights.values_mut().fill(f32::MAX);
    }

    #[test]
    fn a_batch_without_a_finite_loss_makes_no_update_and_no_step_of_the_schedule() {
        with_state(SCHEDULE, overflow, |trainer| {
            let before = trainer.state.clone();
            let metrics = step(trainer);
            assert!(!metrics.loss.is_finite());
            assert_eq!(counts(&trainer.state), (1, 0, 1, 1));
            assert_eq!(trainer.state.weights.values(), before.weights.values(), "nothing is restored either");
            assert_eq!(trainer.state.adamw.first.values(), before.adamw.first.values());
            trainer.state.weights.clone_from(&before.snapshot);
            let again = step(trainer);
            assert!(again.loss.is_finite());
            assert_eq!(again.learning_rate, metrics.learning_rate, "the schedule has waited");
            assert_eq!(counts(&trainer.state), (2, 1, 1, 0));
            assert!(step(trainer).learning_rate > again.learning_rate, "in warm-up it grows by update");
        });
    }

    #[test]
    fn an_update_that_breaks_the_weights_restores_them_and_goes_on_with_all_else() {
        with_state(
            STEEP,
            |_| {},
            |trainer| {
                let snapshot = trainer.state.snapshot.values().to_vec();
                trainer.state.weights.values_mut()[0] += 1.0;
                assert!(step(trainer).loss.is_finite());
                assert_eq!(trainer.state.weights.values(), snapshot);
                assert_eq!(counts(&trainer.state), (1, 1, 1, 1), "the schedule's step is made");
                assert!(trainer.state.adamw.first.values().iter().any(|moment| *moment != 0.0), "moments go on");
            },
        );
    }

    #[test]
    fn with_everything_on_a_device_steps_and_guard_are_the_same() {
        let cases: [(&str, Schedule, fn(&mut State<f64>)); 4] = [
            ("good steps", SCHEDULE, |_| {}),
            ("losses that are not finite", SCHEDULE, overflow),
            ("updates that break the weights", STEEP, |_| {}),
            ("a snapshot", SCHEDULE, |state| state.step = 499),
        ];
        for (case, schedule, change) in cases {
            let run = |device: Option<&Device>| {
                with_state(schedule, change, |trainer| {
                    if let Some(device) = device {
                        trainer.backend = TrainingBackend::on_device(device, &trainer.state);
                    }
                    let metrics = match device {
                        None => (0..3).map(|_| step(trainer)).collect(),
                        Some(_) => steps_ahead(trainer, 3),
                    };
                    (metrics, trainer.synced_state().clone())
                })
            };
            let (expected, host) = run(None);
            for device in &devices() {
                let (metrics, state) = run(Some(device));
                assert_eq!(counts(&state), counts(&host), "{case}");
                for (metrics, expected) in metrics.iter().zip(&expected) {
                    let alike = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-5 || (!a.is_finite() && !b.is_finite());
                    assert!(alike(metrics.loss, expected.loss), "{case}: {metrics:?} {expected:?}");
                    assert!(alike(metrics.gradient_norm, expected.gradient_norm), "{case}: {metrics:?} {expected:?}");
                    assert_eq!(metrics.learning_rate, expected.learning_rate, "{case}");
                }
                for (found, expected) in [(&state.weights, &host.weights), (&state.snapshot, &host.snapshot)] {
                    let far =
                        found.values().iter().zip(expected.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    // A gradient of nothing but rounding may move a weight by the whole learning rate.
                    assert!(far <= 3e-4, "{case}: {far}");
                }
            }
        }
    }

    #[test]
    fn a_step_of_several_updates_is_undone_as_a_whole() {
        with_state(
            SCHEDULE,
            |_| {},
            |trainer| {
                let start = trainer.state.weights.clone();
                assert!(trainer.update(&batch()).1 && trainer.update(&batch()).1);
                assert_ne!(trainer.state.weights.values(), start.values());
                trainer.end_step(false);
                assert_eq!(trainer.state.weights.values(), start.values());
                assert_eq!(counts(&trainer.state), (1, 2, 1, 1), "moments and schedule go on");
                assert!(trainer.update(&batch()).1);
                let end = trainer.state.weights.clone();
                trainer.end_step(true);
                assert_eq!(trainer.state.snapshot.values(), end.values());
                assert_eq!(counts(&trainer.state), (2, 3, 1, 0));
            },
        );
    }

    #[test]
    fn snapshots_are_taken_at_every_five_hundredth_step_when_all_is_well() {
        let at = |first, change: fn(&mut State<f64>)| {
            let set = move |state: &mut State<f64>| {
                change(state);
                state.step = first;
            };
            with_state(SCHEDULE, set, |trainer| {
                let before = trainer.state.snapshot.values().to_vec();
                step(trainer);
                let after = trainer.state.snapshot.values();
                (after != before, after == trainer.state.weights.values())
            })
        };
        let well: fn(&mut State<f64>) = |_| {};
        assert_eq!(at(499, well), (true, true));
        assert_eq!(at(500, well), (false, false));
        assert_eq!(at(999, well), (true, true));
        assert_eq!(at(499, overflow), (false, false), "a bad step takes none");
    }

    #[test]
    fn twenty_bad_batches_in_a_row_and_no_fewer_end_a_run() {
        with_state(SCHEDULE, overflow, |trainer| {
            for _ in 0..19 {
                step(trainer);
            }
            assert!(!trainer.state.has_diverged());
            let (broken, good) = (trainer.state.weights.clone(), trainer.state.snapshot.clone());
            trainer.state.weights = good;
            step(trainer);
            assert_eq!(trainer.state.consecutive_bad_steps, 0);
            trainer.state.weights = broken;
            for _ in 0..19 {
                step(trainer);
            }
            assert!(!trainer.state.has_diverged());
            step(trainer);
            assert!(trainer.state.has_diverged());
            assert_eq!(counts(&trainer.state), (40, 1, 39, 20));
        });
    }
}
