//! The training loop (protocol.md).

use cwm_contract::{Context, Failure};
use cwm_models::checkpoint::{Description, FORMAT, Status, write};
use cwm_models::lanes::Lanes;
use cwm_models::metrics::Tally;
use cwm_models::{Network, Placed, device};
use serde_json::json;

use crate::config::Config;
use crate::curves::{Curves, Line, number};
use crate::data::Games;
use crate::feed::with_batches;
use crate::keep;
use crate::sampler::Sampler;
use crate::trainer::{Shown, State, Trainer};
use crate::validation::Validation;

/// Trains as the context says.
///
/// # Errors
/// An input is not what it should be, the disk refuses, or the stage was asked to stop; then what is needed to continue
/// has been kept.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let network = Network::build(config.architecture()?)?;
    let lanes = Lanes::new(context.cores())?;
    let open = |name, path| Games::open(name, path, config.en_passant(), config.micro_batch_tokens as usize);
    let games = open("train", context.input("train")?)?;
    let validation = match context.optional_input("validation") {
        Some(path) => Some(Validation::new(&open("validation", path)?, config.validation_games)?),
        None => None,
    };
    let sampler = Sampler::new(games.len(), config.batch_size as usize, config.order());
    let steps_per_epoch = sampler.steps_per_epoch();
    let total_steps = config.total_steps(steps_per_epoch);

    let (state, curves_length) = match keep::load(context, &network, &config)? {
        Some((state, curves_length)) => {
            context.log(format!("going on after step {} of {total_steps}", state.step));
            (state, curves_length)
        }
        None => (State::new(&network, &config), 0),
    };
    let mut run = Run {
        context,
        config: &config,
        network: &network,
        lanes: &lanes,
        validation: validation.as_ref(),
        curves: Curves::open(&keep::curves_path(context.kept()), curves_length)?,
        steps_per_epoch,
        total_steps,
        measured: None,
    };
    let trainer = Trainer::new(&network, &lanes, &config, config.schedule(total_steps), state);
    let trainer = with_batches(&games, sampler, trainer.state.step..total_steps, |batches| {
        let mut trainer = trainer;
        while trainer.state.step < total_steps && !trainer.state.has_diverged() {
            run.before_step(&mut trainer.state)?;
            let batch = batches.recv().map_err(|_| Failure::internal("the batches ended before the steps"))??;
            if batch.step != trainer.state.step {
                return Err(Failure::internal(format!("batch {} at step {}", batch.step, trainer.state.step)));
            }
            let shown = trainer.step(&batch.micro_batches);
            run.after_step(&trainer.state, shown)?;
        }
        Ok(trainer)
    })?;
    run.finish(trainer.state, games.len())
}

/// What a run writes as it goes.
struct Run<'a> {
    context: &'a Context,
    config: &'a Config,
    network: &'a Network,
    lanes: &'a Lanes,
    validation: Option<&'a Validation>,
    curves: Curves,
    steps_per_epoch: u64,
    total_steps: u64,
    /// The last validation and its step.
    measured: Option<(u64, Tally)>,
}

impl Run<'_> {
    /// Stops if asked to, and validates where that is due; what was asked to stop can continue from here.
    fn before_step(&mut self, state: &mut State) -> Result<(), Failure> {
        let due = state.step % self.config.validation_every == 0 || state.step % self.steps_per_epoch == 0;
        let stopped = self.context.check_cancelled();
        let stopped = if due && state.step > 0 { stopped.and_then(|()| self.validate(state)) } else { stopped };
        if self.context.cancellation().is_cancelled() {
            self.keep(state)?;
            return stopped.and(Err(Failure::cancelled()));
        }
        stopped
    }

    fn after_step(&mut self, state: &State, shown: Shown) -> Result<(), Failure> {
        let step = state.step;
        if step % self.config.curve_every == 0 || step == self.total_steps || state.bad_in_a_row > 0 {
            self.curves.push(&Line::train(step, shown.loss, shown.learning_rate, shown.gradient_norm))?;
        }
        if step % self.config.checkpoint_every == 0 && step < self.total_steps {
            self.keep(state)?;
        }
        self.context.progress(step, Some(self.total_steps), "steps");
        Ok(())
    }

    /// Measures the weights once a step, and writes that to the curves unless they have it already.
    fn validate(&mut self, state: &mut State) -> Result<(), Failure> {
        let Some(validation) = self.validation else { return Ok(()) };
        if self.measured.as_ref().is_some_and(|(step, _)| *step == state.step) {
            return Ok(());
        }
        self.context.doing("validating");
        let placed = Placed::new(&state.weights, &device::cpu()).with_precision(self.config.precision());
        let tally = validation.measure(self.context, self.network, &placed, self.lanes)?;
        if state.validated < state.step {
            self.curves.push(&Line::validation(state.step, &tally))?;
            state.validated = state.step;
        }
        self.context.metric("validation_loss", tally.loss());
        self.context.metric("validation_labelwise", tally.labelwise());
        self.context.doing("training");
        self.measured = Some((state.step, tally));
        Ok(())
    }

    fn keep(&mut self, state: &State) -> Result<(), Failure> {
        let length = self.curves.sync()?;
        keep::save(self.context.kept(), self.network, state, length)
    }

    fn finish(mut self, mut state: State, games: usize) -> Result<(), Failure> {
        if let Err(failure) = self.validate(&mut state) {
            self.keep(&state)?;
            return Err(failure);
        }
        let state = &state;
        let status = if state.has_diverged() { Status::Diverged } else { Status::Finished };
        if status == Status::Diverged {
            self.context.log(format!("ended at step {}: {} bad batches in a row", state.step, state.bad_in_a_row));
        }
        let description = Description {
            format: FORMAT,
            architecture: self.network.architecture().clone(),
            parameters: self.network.layout().total() as u64,
            status,
            training: self.training(state, games),
        };
        write(self.context.output("checkpoint")?, &description, &state.weights)?;
        description.write(self.context.output("summary")?)?;
        self.curves.sync()?;
        fs_err::copy(keep::curves_path(self.context.kept()), self.context.output("curves")?)?;
        Ok(())
    }

    /// How the model was trained, for its description.
    fn training(&self, state: &State, games: usize) -> serde_json::Map<String, serde_json::Value> {
        let config = self.config;
        let validation = self.measured.as_ref().map(|(_, tally)| {
            json!({
                "loss": number(tally.loss()),
                "labelwise": number(tally.labelwise()),
                "exact": number(tally.exact()),
                "trajectory": number(tally.trajectory()),
                "games": tally.games,
            })
        });
        let training = json!({
            "games": games,
            "steps": state.step,
            "steps_per_epoch": self.steps_per_epoch,
            "updates": state.adamw.updates,
            "skipped": state.skipped,
            "batch_size": config.batch_size,
            "lr": config.lr,
            "warmup": config.warmup,
            "schedule": config.schedule,
            "lr_floor": config.lr_floor,
            "horizon": config.horizon.unwrap_or(self.total_steps),
            "weight_decay": config.weight_decay,
            "beta2": config.beta2,
            "clip": config.clip,
            "seed": config.seed,
            "seed_init": config.init_seed(),
            "seed_data": config.data_seed(),
            "seed_dropout": config.dropout_seed(),
            "order": config.order,
            "en_passant": config.en_passant,
            "precision": config.precision,
            "validation": validation,
        });
        match training {
            serde_json::Value::Object(map) => map,
            _ => serde_json::Map::new(),
        }
    }
}
