//! The loop itself.

use std::time::Instant;

use cwm_contract::{Context, Failure};
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Device, DeviceWeights, Precision, device};

use crate::backend::PassOptions;
use crate::checkpoints;
use crate::curves::{Curves, CurvesPrefix, Line};
use crate::optimiser::AdamWOptions;
use crate::order::{Batches, Batching, Sampler};
use crate::prefetch::with_batches;
use crate::schedule::Schedule;
use crate::throughput::{Overhead, Throughput};
use crate::trainer::Trainer;
use crate::{BestWeights, Examples, Metrics, Objective, State, Validation};

/// Settings of a training, beside its objective and its data.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Batches to draw in all.
    pub total_steps: u64,
    /// The way batches are drawn from the order of the examples.
    pub batching: Batching,
    /// Learning rates by update.
    pub schedule: Schedule,
    /// The optimiser's constants.
    pub adamw: AdamWOptions,
    /// Largest global norm of a gradient.
    pub clip: f64,
    /// Precision of matrix products, in training and validation.
    pub precision: Precision,
    /// Seed of dropout; `None` without dropout.
    pub dropout_seed: Option<u64>,
    /// Steps between two validations; each end of an epoch has one besides.
    pub validation_every: u64,
    /// Steps between two checkpoints; one is written after ten minutes at the latest.
    pub checkpoint_every: u64,
    /// Steps between two lines of curves; steps that fail are all written.
    pub curve_every: u64,
    /// True if the weights of the lowest validation loss are kept.
    pub keeps_best: bool,
}

/// A training in progress: what is trained and what it writes as it goes.
pub struct TrainingLoop<'a, T: Objective> {
    context: &'a Context,
    settings: Settings,
    trainer: Trainer<'a, T>,
    device: &'a Device,
    validation: Option<Box<dyn Validation<T::Metrics> + 'a>>,
    curves: Curves,
    sampler: Sampler,
    /// The last validation and its step.
    validated: Option<(u64, T::Metrics)>,
    /// When a checkpoint was last written, or the run began.
    last_checkpoint: Instant,
    throughput: Throughput,
}

/// Result of a training.
pub struct TrainingResult<M> {
    /// Weights and counts after the last step.
    pub state: State<M>,
    /// The validation at the end, if there is a validation set.
    pub validation: Option<M>,
}

impl<'a, T: Objective> TrainingLoop<'a, T> {
    /// Starts or resumes at `state`, to which that `prefix` of the curves belongs. `sampler` draws the examples.
    /// Passes run on `device`, and on `workers` where that is the CPU.
    ///
    /// # Errors
    /// The device cannot compute in the precision, the best weights are wanted without a validation, or the file of the
    /// curves cannot be opened.
    pub fn begin(
        context: &'a Context,
        objective: &'a T,
        settings: Settings,
        sampler: Sampler,
        validation: Option<Box<dyn Validation<T::Metrics> + 'a>>,
        (device, workers): (&'a Device, &'a WorkerPool),
        (state, prefix): (State<T::Metrics>, CurvesPrefix),
    ) -> Result<Self, Failure> {
        let Settings { precision, dropout_seed, schedule, clip, keeps_best, .. } = settings;
        device::check_precision(device, precision)?;
        if keeps_best && validation.is_none() {
            return Err(Failure::input(
                "`checkpoint: best` needs the input `validation`: nothing else determines which is best",
            ));
        }
        let options = PassOptions { workers, precision, dropout_seed };
        Ok(TrainingLoop {
            context,
            settings,
            trainer: Trainer::new(objective, options, schedule, clip, state, device),
            device,
            validation,
            curves: Curves::open(&checkpoints::curves_path(context.checkpoint_dir()), &prefix)?,
            sampler,
            validated: None,
            last_checkpoint: Instant::now(),
            throughput: Throughput::start(),
        })
    }

    /// Trains on `examples` until all steps are made or the training has diverged.
    ///
    /// # Errors
    /// An example cannot be read, an operation on the disk fails, or the stage was cancelled; then a checkpoint was
    /// written.
    pub fn train(&mut self, examples: impl Examples<MicroBatch = T::MicroBatch>) -> Result<(), Failure> {
        let steps = self.trainer.state.step..self.settings.total_steps;
        let batches = Batches::new(self.sampler.clone(), self.settings.batching);
        with_batches(examples, batches, steps, |batches| {
            loop {
                // A validation needs the weights after the last step, and that they are good.
                if self.validation_is_due() {
                    self.finish_step()?;
                }
                if self.trainer.next_step() >= self.settings.total_steps || self.trainer.state.has_diverged() {
                    return self.finish_step();
                }
                self.before_step()?;
                let batch = self.throughput.during(Overhead::Data, || batches.recv());
                // What was trained before a batch that cannot be read is kept.
                if !matches!(batch, Ok(Ok(_))) {
                    self.finish_step()?;
                }
                let batch = batch.map_err(|_| Failure::internal("the batches ended before the steps"))??;
                let step = self.trainer.next_step();
                if batch.step != step {
                    return Err(Failure::internal(format!("batch {} at step {step}", batch.step)));
                }
                // The step before is finished while a device computes the passes of this one.
                self.trainer.begin_step(&batch.micro_batches);
                self.finish_step()?;
                if self.trainer.state.has_diverged() {
                    return Ok(());
                }
                self.trainer.update_step(&batch.micro_batches);
                if !self.trainer.is_deferred() {
                    self.finish_step()?;
                }
            }
        })
    }

    /// Finishes the step whose update was started, if there is one.
    fn finish_step(&mut self) -> Result<(), Failure> {
        let Some(metrics) = self.trainer.finish_step() else { return Ok(()) };
        self.throughput.count(metrics.positions);
        self.after_step(&Line::train(self.trainer.state.step, &metrics))
    }

    /// Trains by `make`, which makes one step with the trainer and returns its line of the curves, until all steps are made or
    /// the training has diverged: for batches that depend on the weights.
    ///
    /// # Errors
    /// The error of `make`, an operation on the disk fails, or the stage was cancelled; then a checkpoint was written.
    pub fn steps(
        &mut self,
        mut make: impl FnMut(&mut Trainer<'a, T>, &mut Throughput) -> Result<Line, Failure>,
    ) -> Result<(), Failure> {
        while self.trainer.state.step < self.settings.total_steps && !self.trainer.state.has_diverged() {
            self.before_step()?;
            let line = make(&mut self.trainer, &mut self.throughput)?;
            self.after_step(&line)?;
        }
        Ok(())
    }

    /// The state with its arrays up to date, and the prefix of the curves that belongs to it, synced to the disk.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn synced(&mut self) -> Result<(&State<T::Metrics>, CurvesPrefix), Failure> {
        let prefix = self.curves.sync()?;
        let state = &*self.trainer.synced_state();
        Ok((state, prefix))
    }

    /// Validates at the end, and reports the throughput.
    ///
    /// # Errors
    /// The stage was cancelled, or an example cannot be read; then a checkpoint was written. Or an operation on the
    /// disk fails.
    pub fn finish(mut self) -> Result<TrainingResult<T::Metrics>, Failure> {
        self.trainer.synced_state();
        if let Err(failure) = self.validate() {
            self.write_checkpoint()?;
            return Err(failure);
        }
        self.throughput.report(self.context);
        self.curves.sync()?;
        let state = self.trainer.state;
        if state.has_diverged() {
            let (step, bad) = (state.step, state.consecutive_bad_steps);
            self.context.note(format!("diverged: it ended at step {step}, after {bad} bad batches in a row"));
        }
        if self.settings.keeps_best && state.best.is_none() {
            self.context.note("no validation had a finite loss: the checkpoint is that of the last step");
        }
        Ok(TrainingResult { state, validation: self.validated.map(|(_, metrics)| metrics) })
    }

    fn validation_is_due(&mut self) -> bool {
        let step = self.trainer.next_step();
        let is_time = step.is_multiple_of(self.settings.validation_every) || self.sampler.begins_epoch(step);
        self.validation.is_some() && step > 0 && is_time
    }

    /// Stops if cancelled, and validates where that is due; a cancelled run resumes from here.
    fn before_step(&mut self) -> Result<(), Failure> {
        let stopped = self.context.check_cancelled();
        let stopped = if self.validation_is_due() { stopped.and_then(|()| self.validate()) } else { stopped };
        if self.context.cancellation().is_cancelled() {
            self.finish_step()?;
            self.write_checkpoint()?;
            return stopped.and(Err(Failure::cancelled()));
        }
        stopped
    }

    fn after_step(&mut self, line: &Line) -> Result<(), Failure> {
        let (step, total_steps) = (self.trainer.state.step, self.settings.total_steps);
        if step % self.settings.curve_every == 0 || self.trainer.state.consecutive_bad_steps > 0 {
            self.curves.push(line)?;
        }
        let is_due = checkpoints::is_due(step, self.settings.checkpoint_every, self.last_checkpoint.elapsed());
        if step < total_steps && is_due {
            self.write_checkpoint()?;
        }
        self.context.progress(step, Some(total_steps), "steps");
        Ok(())
    }

    /// Validates once a step, and writes the result to the curves unless they have it already.
    fn validate(&mut self) -> Result<(), Failure> {
        let Some(validation) = &mut self.validation else { return Ok(()) };
        let state = self.trainer.synced_state();
        if self.validated.as_ref().is_some_and(|(step, _)| *step == state.step) {
            return Ok(());
        }
        self.context.activity("validating");
        let device_weights = DeviceWeights::new(&state.weights, self.device).with_precision(self.settings.precision);
        let measure = || validation.measure(self.context, &state.weights, &device_weights);
        let metrics = self.throughput.during(Overhead::Validation, measure)?;
        if state.validated < state.step {
            self.curves.push(&Line { kind: "validation", step: state.step, entries: metrics.entries() })?;
            state.validated = state.step;
        }
        if self.settings.keeps_best {
            BestWeights::update(&mut state.best, state.step, &metrics, &state.weights);
        }
        for (name, value) in metrics.progress() {
            self.context.metric(&format!("validation_{name}"), value);
        }
        self.context.activity("training");
        self.validated = Some((state.step, metrics));
        Ok(())
    }

    fn write_checkpoint(&mut self) -> Result<(), Failure> {
        let TrainingLoop { context, trainer, curves, throughput, .. } = self;
        throughput.during(Overhead::Checkpoint, || {
            let prefix = curves.sync()?;
            let objective = trainer.objective;
            checkpoints::save(context.checkpoint_dir(), objective, trainer.synced_state(), &prefix)
        })?;
        self.last_checkpoint = Instant::now();
        Ok(())
    }
}
