//! Runs the stage: passes its inputs to the training loop, and writes the result to its outputs.

use cwm_contract::{Context, Failure};
use cwm_models::Device;
use cwm_models::checkpoint::{Description, FORMAT, Status, write};
use cwm_models::device;
use cwm_models::heads::labels;
use cwm_training::curves::CurvesPrefix;
use cwm_training::order::Sampler;
use cwm_training::warm_start::{self, Recipe};
use cwm_training::{Objective, State, TrainingLoop, TrainingResult, Validation, checkpoints};

use crate::data::Games;
use crate::description::{self, Extent};
use crate::resolved_config::ResolvedConfig;
use crate::task::{LabelMetrics, LabelTask};
use crate::validation::LabelValidation;

/// Trains with the parameters of the context.
///
/// # Errors
/// An input is not what it should be, an operation on the disk fails, or the stage was cancelled; then a checkpoint was
/// written.
pub fn run(context: &Context) -> Result<(), Failure> {
    device::run(context, |device| train(context, device))
}

fn train(context: &Context, device: &Device) -> Result<(), Failure> {
    context.check_cancelled()?;
    let resolved = ResolvedConfig::read(context)?;
    let config = &resolved.config;
    let hyper = &config.hyper;
    let task = LabelTask(labels::network(config.architecture()?)?);
    let workers = device::workers(context, device)?;
    let mut games = Games::open("train", context.input("train")?, config.games, config)?.of_at_most(task.0.longest());
    let validation = match context.optional_input("validation") {
        Some(path) => {
            let games = Games::open("validation", path, None, config)?.of_at_most(task.0.longest());
            Some(LabelValidation::new(games, config.validation_games, &task.0, &workers)?)
        }
        None => None,
    };
    let order = config.order(context, &mut games)?;
    let mut sampler = Sampler::new(games.len(), hyper.batch_size as usize, order);
    let total_steps = hyper.total_steps(&mut sampler);
    let extent = Extent { games: games.len(), steps_per_epoch: sampler.steps_of(1), total_steps };
    let needs_recipe = config.keep_state || context.optional_input("state").is_some();
    let recipe = if needs_recipe { Some(resolved.recipe(context, total_steps)?) } else { None };
    let start = start(context, &task, &resolved, recipe.as_ref(), total_steps)?;

    let validated_on = validation.as_ref().map(LabelValidation::digest).transpose()?;
    let validation = validation.map(|validation| Box::new(validation) as Box<dyn Validation<LabelMetrics> + '_>);
    let settings = hyper.settings(total_steps);
    let mut run = TrainingLoop::begin(context, &task, settings, sampler, validation, (device, &workers), start)?;
    run.train(games)?;

    let curves = checkpoints::curves_path(context.checkpoint_dir());
    // Before the validation at the end, which a longer training does not make here.
    let (state, prefix) = run.synced()?;
    let kept = recipe.filter(|_| config.keep_state);
    warm_start::write(context.output("state")?, &task, (state, &prefix), kept, &curves)?;
    let TrainingResult { state, validation } = run.finish()?;
    let description = Description {
        format: FORMAT,
        architecture: task.0.architecture().clone(),
        parameters: task.layout().total() as u64,
        status: if state.has_diverged() { Status::Diverged } else { Status::Finished },
        training: description::training(config, extent, &state, validated_on.as_deref().zip(validation.as_ref())),
    };
    let weights = state.best.as_ref().map_or(&state.weights, |best| &best.weights);
    write(context.output("checkpoint")?, &description, weights)?;
    description.write(context.output("summary")?)?;
    fs_err::copy(curves, context.output("curves")?)?;
    Ok(())
}

/// Starts the training at the newest checkpoint of an interrupted run, else at the end of a shorter training, else at
/// fresh weights.
fn start(
    context: &Context,
    task: &LabelTask,
    resolved: &ResolvedConfig,
    recipe: Option<&Recipe>,
    total_steps: u64,
) -> Result<(State<LabelMetrics>, CurvesPrefix), Failure> {
    let hyper = &resolved.config.hyper;
    if let Some(resumed) = checkpoints::load(context, task, hyper.adamw())? {
        context.log(format!("resuming after step {} of {total_steps}", resumed.0.step));
        return Ok(resumed);
    }
    if let (Some(folder), Some(recipe)) = (context.optional_input("state"), recipe) {
        let shorter = warm_start::read(context, folder, task, hyper.adamw(), recipe, total_steps)?;
        context.log(format!("continuing a training of {} steps to {total_steps}", shorter.0.step));
        return Ok(shorter);
    }
    Ok((State::new(task.0.initial_weights(hyper.init_seed()), hyper.adamw()), CurvesPrefix::empty()))
}
