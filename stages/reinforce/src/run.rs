//! Runs the stage: passes its inputs to the training loop, and writes the result to its outputs.

use cwm_contract::{Context, Failure};
use cwm_generation::{Checkpoint, Sampling};
use cwm_models::checkpoint::{Description, FORMAT, Status, write};
use cwm_models::{Device, device};
use cwm_speech::{END, PositionForm};
use cwm_training::curves::CurvesPrefix;
use cwm_training::order::{Order, Sampler};
use cwm_training::{Metrics, State, TrainingLoop, TrainingResult, Validation, checkpoints};
use serde_json::{Map, Value, json};

use crate::answer_journal::AnswerJournal;
use crate::config::{ADAMW, CLIP, Config};
use crate::micro_batch::MicroBatchOptions;
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::questions::{self, Question};
use crate::step::Learner;
use crate::validation::RewardValidation;

/// Trains with the inputs and parameters of the context.
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
    let max_tokens = config.max_tokens as usize;
    let Checkpoint { words: form, description, network, weights } =
        Checkpoint::read(context.input("checkpoint")?, PositionForm::of)?;
    if !network.is_causal() {
        let message = "the model has no mask: with an answer behind its prompt it would read what it is to answer";
        return Err(Failure::input(message).hint("train it with `mask: causal`"));
    }
    let questions = questions::read(context, "items", (&network, form), max_tokens)?;
    let validation = match context.optional_input("validation") {
        Some(_) => Some(questions::read(context, "validation", (&network, form), max_tokens)?),
        None => None,
    };
    questions::check_apart(&questions, validation.as_deref().unwrap_or_default())?;
    let policy = Policy { network, surrogate: config.surrogate() };
    let (reward, sampling) = (config.reward()?, Sampling::plain(END, max_tokens));
    let workers = device::workers(context, device)?;
    let greedy = Sampling { temperature: 0.0, ..sampling.clone() };
    let validation = validation.map(|questions: Vec<Question>| {
        let network = &policy.network;
        let validation = RewardValidation { network, questions, sampling: greedy, reward, device, workers: &workers };
        Box::new(validation) as Box<dyn Validation<Outcome> + '_>
    });

    let order = Order::Shuffled { seed: config.seed };
    let mut sampler = Sampler::new(questions.len(), config.batch_size as usize, order);
    let total_steps = sampler.steps_of(1);
    let state = match checkpoints::load(context, &policy, ADAMW)? {
        Some(resumed) => {
            context.log(format!("resuming after step {} of {total_steps}", resumed.0.step));
            resumed
        }
        None => (State::new(weights.clone(), ADAMW), CurvesPrefix::empty()),
    };
    let kept = AnswerJournal::open(context, config.keep_answers, questions.len() as u64)?;
    let mut learner = Learner {
        config: &config,
        policy: &policy,
        start: &weights,
        questions: &questions,
        sampler: sampler.clone(),
        sampling,
        reward,
        micro_batch_options: MicroBatchOptions {
            objective: config.objective()?,
            max_tokens,
            micro_batch_tokens: config.micro_batch_tokens as usize,
            padding: policy.network.architecture().vocabulary as u32 - 1,
        },
        kept: &kept,
        device,
        workers: &workers,
    };
    let settings = config.settings(total_steps);
    let mut run = TrainingLoop::begin(context, &policy, settings, sampler, validation, (device, &workers), state)?;
    run.steps(|trainer, throughput| learner.step(trainer, throughput))?;
    let TrainingResult { state, validation } = run.finish()?;

    let training = described(&config, questions.len(), &state, validation.as_ref(), description.training);
    let status = if state.has_diverged() { Status::Diverged } else { Status::Finished };
    let description = Description { format: FORMAT, status, training, ..description };
    write(context.output("checkpoint")?, &description, &state.weights)?;
    description.write(context.output("summary")?)?;
    kept.write(context.output("answers")?, config.max_tokens, state.step * config.batch_size)?;
    fs_err::copy(checkpoints::curves_path(context.checkpoint_dir()), context.output("curves")?)?;
    Ok(())
}

/// The keys of `training` in the description of the model: this training, and the one before it.
fn described(
    config: &Config,
    items: usize,
    state: &State<Outcome>,
    validation: Option<&Outcome>,
    start: Map<String, Value>,
) -> Map<String, Value> {
    let validation = validation.map(|outcome| {
        outcome.entries().into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>()
    });
    let described = json!({
        "objective": config.objective,
        "batch_size": config.batch_size,
        "rollouts": config.rollouts,
        "mini_batch": config.mini_batch,
        "lr": config.lr,
        "clip_low": config.clip_low,
        "clip_high": config.clip_high,
        "kl": config.kl,
        "max_tokens": config.max_tokens,
        "reading": config.reading,
        "scaling": config.scaling,
        "cut": config.cut,
        "weight_decay": ADAMW.weight_decay,
        "beta2": ADAMW.beta2,
        "clip": CLIP,
        "seed": config.seed,
        "micro_batch_tokens": config.micro_batch_tokens,
        "items": items,
        "steps": state.step,
        "updates": state.adamw.updates,
        "skipped": state.skipped,
        "validation": validation,
        "vocabulary": start.get("vocabulary"),
    });
    let Value::Object(mut described) = described else { return Map::new() };
    described.insert("start".to_owned(), Value::Object(start));
    described
}
