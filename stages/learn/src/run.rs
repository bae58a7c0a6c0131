//! The stage: its inputs to the training loop, and the result of that to its outputs.

use cwm_contract::{Context, Failure};
use cwm_models::Device;
use cwm_models::checkpoint::{Description, FORMAT, Status, write};
use cwm_models::device;
use cwm_training::curves::CurvesPrefix;
use cwm_training::order::{Order, Sampler};
use cwm_training::{Objective, State, TrainingLoop, TrainingResult, Validation, checkpoints, describe};
use serde_json::json;

use crate::config::Config;
use crate::data::{Rows, check_alike};
use crate::metrics::ChoiceMetrics;
use crate::start;
use crate::task::ChoiceTask;
use crate::validation::ChoiceValidation;

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
    let config: Config = context.parameters()?;
    let hyper = &config.hyper;
    let rows = Rows::open("train", context.input("train")?, &config)?;
    let vocabulary = rows.vocabulary().clone();
    let task = ChoiceTask(config.network(&vocabulary)?);
    let workers = device::workers(context, device)?;
    let validation = match context.optional_input("validation") {
        Some(path) => {
            let measured = Rows::open("validation", path, &config)?;
            check_alike(&rows, &measured)?;
            let measured = measured.for_network(&task.0);
            Some(ChoiceValidation::new(measured, config.validation_rows, &task.0, &workers)?)
        }
        None => None,
    };
    let validation = validation.map(|validation| Box::new(validation) as Box<dyn Validation<ChoiceMetrics> + '_>);
    let count = rows.count(config.rows)?;
    let mut sampler = Sampler::new(count, hyper.batch_size as usize, Order::Shuffled { seed: hyper.data_seed() });
    let (steps_per_epoch, total_steps) = (sampler.steps_of(1), hyper.total_steps(&mut sampler));
    let start = match checkpoints::load(context, &task, hyper.adamw())? {
        Some(resumed) => {
            context.log(format!("resuming after step {} of {total_steps}", resumed.0.step));
            resumed
        }
        None => {
            let weights = match context.optional_input("checkpoint") {
                Some(folder) => start::read(folder, &task.0, &vocabulary)?,
                None => task.0.initial_weights(hyper.init_seed()),
            };
            (State::new(weights, hyper.adamw()), CurvesPrefix::empty())
        }
    };

    let settings = hyper.settings(total_steps);
    let mut run = TrainingLoop::begin(context, &task, settings, sampler, validation, (device, &workers), start)?;
    run.train(rows.for_network(&task.0))?;
    let TrainingResult { state, validation } = run.finish()?;
    let mut training = describe(hyper, (steps_per_epoch, total_steps), &state, validation.as_ref());
    training.insert("rows".to_owned(), json!(count));
    training.insert("vocabulary".to_owned(), json!(vocabulary));
    let description = Description {
        format: FORMAT,
        architecture: task.0.architecture().clone(),
        parameters: task.layout().total() as u64,
        status: if state.has_diverged() { Status::Diverged } else { Status::Finished },
        training,
    };
    let weights = state.best.as_ref().map_or(&state.weights, |best| &best.weights);
    write(context.output("checkpoint")?, &description, weights)?;
    description.write(context.output("summary")?)?;
    fs_err::copy(checkpoints::curves_path(context.checkpoint_dir()), context.output("curves")?)?;
    Ok(())
}
