//! The training loop (protocol.md).

use std::time::Instant;

use cwm_contract::{Context, Failure};
use cwm_models::checkpoint::{Description, FORMAT, Status, write};
use cwm_models::device::{self, Opened};
use cwm_models::lanes::Lanes;
use cwm_models::metrics::Tally;
use cwm_models::{Device, Network, Placed};

use crate::best::Best;
use crate::choice::Given;
use crate::config::Config;
use crate::continuation::{self, Training};
use crate::curves::{Curves, Line, Written};
use crate::data::Games;
use crate::description::{self, Extent};
use crate::feed::with_batches;
use crate::keep;
use crate::order::{Batches, Sampler};
use crate::pace::{Pace, Pause};
use crate::trainer::{Shown, State, Trainer};
use crate::validation::Validation;

/// Trains as the context says.
///
/// # Errors
/// An input is not what it should be, the disk refuses, or the stage was asked to stop; then what is needed to continue
/// has been kept.
pub fn run(context: &Context) -> Result<(), Failure> {
    let Opened { device, name, note } = device::open(context.resources())?;
    context.report_device(name);
    note.into_iter().for_each(|note| context.note(note));
    device::guarded(&device, || train(context, &device))
}

fn train(context: &Context, device: &Device) -> Result<(), Failure> {
    context.check_cancelled()?;
    let given = Given::read(context)?;
    let config = &given.config;
    let network = Network::build(config.architecture()?)?;
    // A GPU has one queue of work, which more threads would not fill faster.
    let lanes = Lanes::new(if device::is_processor(device) { context.cores() } else { 1 })?;
    let mut games = Games::open("train", context.input("train")?, config.games, config)?;
    let validation = match context.optional_input("validation") {
        Some(path) => Some(Validation::new(Games::open("validation", path, None, config)?, config.validation_games)?),
        None => None,
    };
    if config.keeps_best() && validation.is_none() {
        return Err(Failure::input("`checkpoint: best` needs the input `validation`: nothing else says which is best"));
    }
    let order = config.order(context, &mut games)?;
    let mut sampler = Sampler::new(games.len(), config.batch_size as usize, order);
    let total_steps = config.total_steps(&mut sampler);
    let extent = Extent { games: games.len(), steps_per_epoch: sampler.steps_of(1), total_steps };
    let goes_on = config.keep_state || context.optional_input("state").is_some();
    let training = if goes_on { Some(Training::read(context, &given, total_steps)?) } else { None };
    let (state, written) = begin(context, &network, &given, training.as_ref(), total_steps)?;

    let mut run = Run {
        context,
        config,
        network: &network,
        lanes: &lanes,
        device,
        validated_on: validation.as_ref().map(Validation::digest).transpose()?,
        validation,
        curves: Curves::open(&keep::curves_path(context.checkpoint_dir()), &written)?,
        sampler: sampler.clone(),
        extent,
        measured: None,
        kept: Instant::now(),
        pace: Pace::begin(),
    };
    let trainer = Trainer::new(&network, &lanes, config, config.schedule(total_steps), state, device);
    let batches = Batches::new(sampler, config.batching());
    let mut trainer = with_batches(games, batches, trainer.state.step..total_steps, |batches| {
        let mut trainer = trainer;
        while trainer.state.step < total_steps && !trainer.state.has_diverged() {
            run.before_step(&mut trainer)?;
            let batch = run.pace.during(Pause::Data, || batches.recv());
            let batch = batch.map_err(|_| Failure::internal("the batches ended before the steps"))??;
            if batch.step != trainer.state.step {
                return Err(Failure::internal(format!("batch {} at step {}", batch.step, trainer.state.step)));
            }
            let shown = trainer.step(&batch.micro_batches);
            run.pace.count(batch.positions());
            run.after_step(&mut trainer, shown)?;
        }
        Ok(trainer)
    })?;
    trainer.home();
    run.finish(trainer.state, training.filter(|_| config.keep_state))
}

/// The state to go on from and what was written of the curves that belong to it: that of an interrupted run, else that of a
/// shorter training, else the beginning.
fn begin(
    context: &Context,
    network: &Network,
    given: &Given,
    training: Option<&Training>,
    total_steps: u64,
) -> Result<(State, Written), Failure> {
    if let Some((state, written)) = keep::load(context, network, &given.config)? {
        context.log(format!("going on after step {} of {total_steps}", state.step));
        return Ok((state, written));
    }
    if let (Some(folder), Some(training)) = (context.optional_input("state"), training) {
        let found = continuation::take(context, folder, network, given, training, total_steps)?;
        context.log(format!("going on from a training of {} steps to {total_steps}", found.0.step));
        return Ok(found);
    }
    Ok((State::new(network, &given.config), Written::nothing()))
}

/// What a run writes as it goes.
struct Run<'a> {
    context: &'a Context,
    config: &'a Config,
    network: &'a Network,
    lanes: &'a Lanes,
    device: &'a Device,
    validation: Option<Validation>,
    /// Which games those are.
    validated_on: Option<String>,
    curves: Curves,
    sampler: Sampler,
    extent: Extent,
    /// The last validation and its step.
    measured: Option<(u64, Tally)>,
    /// When a checkpoint was last kept, or none had to be.
    kept: Instant,
    pace: Pace,
}

impl Run<'_> {
    /// Stops if asked to, and validates where that is due; what was asked to stop can continue from here.
    fn before_step(&mut self, trainer: &mut Trainer) -> Result<(), Failure> {
        let step = trainer.state.step;
        let due = step % self.config.validation_every == 0 || self.sampler.begins_epoch(step);
        let stopped = self.context.check_cancelled();
        let stopped = if due && step > 0 { stopped.and_then(|()| self.validate(trainer.home())) } else { stopped };
        if self.context.cancellation().is_cancelled() {
            self.keep(trainer.home())?;
            return stopped.and(Err(Failure::cancelled()));
        }
        stopped
    }

    fn after_step(&mut self, trainer: &mut Trainer, shown: Shown) -> Result<(), Failure> {
        let (step, total_steps) = (trainer.state.step, self.extent.total_steps);
        if step % self.config.curve_every == 0 || trainer.state.bad_in_a_row > 0 {
            self.curves.push(&Line::train(step, shown.loss, shown.learning_rate, shown.gradient_norm))?;
        }
        if step < total_steps && keep::is_due(step, self.config.checkpoint_every, self.kept.elapsed()) {
            self.keep(trainer.home())?;
        }
        self.context.progress(step, Some(total_steps), "steps");
        Ok(())
    }

    /// Measures the weights once a step, and writes that to the curves unless they have it already.
    fn validate(&mut self, state: &mut State) -> Result<(), Failure> {
        let Some(validation) = &mut self.validation else { return Ok(()) };
        if self.measured.as_ref().is_some_and(|(step, _)| *step == state.step) {
            return Ok(());
        }
        self.context.activity("validating");
        let placed = Placed::new(&state.weights, self.device).with_precision(self.config.precision());
        let measure = || validation.measure(self.context, self.network, &placed, self.lanes);
        let tally = self.pace.during(Pause::Validation, measure)?;
        if state.validated < state.step {
            self.curves.push(&Line::validation(state.step, &tally))?;
            state.validated = state.step;
        }
        if self.config.keeps_best() {
            Best::consider(&mut state.best, state.step, &tally, &state.weights);
        }
        self.context.metric("validation_loss", tally.loss());
        self.context.metric("validation_labelwise", tally.labelwise());
        self.context.activity("training");
        self.measured = Some((state.step, tally));
        Ok(())
    }

    fn keep(&mut self, state: &State) -> Result<(), Failure> {
        let Run { context, network, curves, .. } = self;
        self.pace.during(Pause::Checkpoint, || {
            let written = curves.sync()?;
            keep::save(context.checkpoint_dir(), network, state, &written)
        })?;
        self.kept = Instant::now();
        Ok(())
    }

    /// Writes the outputs; also `state`, if there is a `training` to keep it for.
    fn finish(mut self, mut state: State, training: Option<Training>) -> Result<(), Failure> {
        let curves = keep::curves_path(self.context.checkpoint_dir());
        // Before the validation at the end, which a longer training does not make here.
        let written = self.curves.sync()?;
        continuation::write(self.context.output("state")?, self.network, &state, training, &curves, &written)?;
        if let Err(failure) = self.validate(&mut state) {
            self.keep(&state)?;
            return Err(failure);
        }
        self.pace.tell(self.context);
        let status = if state.has_diverged() { Status::Diverged } else { Status::Finished };
        if status == Status::Diverged {
            let (step, bad) = (state.step, state.bad_in_a_row);
            self.context.note(format!("diverged: it ended at step {step}, after {bad} bad batches in a row"));
        }
        let tally = self.measured.as_ref().map(|(_, tally)| tally);
        let description = Description {
            format: FORMAT,
            architecture: self.network.architecture().clone(),
            parameters: self.network.layout().total() as u64,
            status,
            training: description::training(self.config, self.extent, &state, self.validated_on.as_deref().zip(tally)),
        };
        if self.config.keeps_best() && state.best.is_none() {
            self.context.note("no validation had a finite loss: the checkpoint is that of the last step");
        }
        let weights = state.best.as_ref().map_or(&state.weights, |best| &best.weights);
        write(self.context.output("checkpoint")?, &description, weights)?;
        description.write(self.context.output("summary")?)?;
        self.curves.sync()?;
        fs_err::copy(curves, self.context.output("curves")?)?;
        Ok(())
    }
}
