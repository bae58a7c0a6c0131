//! A model of ours chooses, some positions at a time.

use cwm_choices::{Choice, Chooser};
use cwm_contract::{Context, Failure};
use cwm_models::Device;
use cwm_models::batch::cut_by_length;
use cwm_models::checkpoint::{Description, Status};
use cwm_models::device;
use cwm_models::worker_pool::WorkerPool;
use cwm_player::{Form, Player, PlayerAnswer, Question};

use crate::config::Config;
use crate::correctness::correctness;
use crate::output::OutputWriter;
use crate::positions::{Position, Positions};

/// The fields of a training's description that choices have.
const TRAINING: [&str; 13] = [
    "batch_size",
    "beta2",
    "clip",
    "dropout",
    "horizon",
    "lr",
    "lr_floor",
    "rows",
    "schedule",
    "steps_per_epoch",
    "updates",
    "warmup",
    "weight_decay",
];

/// Positions that are sorted by length together, and whose choices are in memory at once.
const WINDOW: usize = 1_024;

/// Lets the checkpoint choose in all positions.
///
/// # Errors
/// An input is not what it should be, an operation on the disk fails, or the stage was cancelled.
pub fn run(context: &Context, config: &Config) -> Result<(), Failure> {
    if let Some(problem) = config.problem_with(false) {
        return Err(Failure::input(format!("choose {problem}")));
    }
    device::run(context, |device| choose(context, config, device))
}

fn choose(context: &Context, config: &Config, device: &Device) -> Result<(), Failure> {
    let player = Player::open(context.input("checkpoint")?, device)?.with_precision(config.precision())?;
    let workers = device::workers(context, device)?;
    let mut positions = Positions::open(context, config)?;
    let mut output = OutputWriter::create(context, &chooser(&player, config))?;
    context.activity("choosing");
    loop {
        context.check_cancelled()?;
        let window = positions.take(WINDOW)?;
        if window.is_empty() {
            break;
        }
        let answers = answers(context, config, &player, &workers, &window)?;
        for (position, answer) in window.iter().zip(answers) {
            output.push(choice(output.row(position), &player, position, answer))?;
        }
        context.progress(positions.counts().read(), Some(positions.total()), "positions");
    }
    output.finish(context, positions.counts())
}

/// The model's answers in these positions.
fn answers(
    context: &Context,
    config: &Config,
    player: &Player,
    workers: &WorkerPool,
    window: &[Position],
) -> Result<Vec<PlayerAnswer>, Failure> {
    let questions = workers.map(window.len(), |place| {
        let position = &window[place];
        player.question(&position.board, position.game.as_ref(), position.best).map_err(|error| {
            let record = position.evaluation.record;
            let failure = Failure::input(format!("record {record} of the evaluations: {error}"));
            if position.game.is_none() {
                failure.hint("the input `games` has the games of the positions")
            } else {
                failure
            }
        })
    });
    let questions: Vec<Question> = questions.into_iter().collect::<Result<_, _>>()?;
    let lengths: Vec<usize> = questions.iter().map(Question::tokens).collect();
    let cuts = cut_by_length(&lengths, config.batch_tokens as usize);
    let answered = workers.map(cuts.len(), |index| {
        context.check_cancelled()?;
        let batch: Vec<&Question> = cuts[index].iter().map(|&place| &questions[place]).collect();
        Ok::<_, Failure>(player.answer(&batch))
    });
    let mut in_order: Vec<(usize, PlayerAnswer)> = Vec::with_capacity(window.len());
    for (cut, answers) in cuts.iter().zip(answered) {
        in_order.extend(cut.iter().copied().zip(answers?));
    }
    in_order.sort_by_key(|(place, _)| *place);
    Ok(in_order.into_iter().map(|(_, answer)| answer).collect())
}

fn choice(row: Choice, player: &Player, position: &Position, answer: PlayerAnswer) -> Choice {
    let correctness =
        |text: &str| correctness(position.board.position(), player.form().notation(), text, position.best);
    Choice {
        loss: Some(answer.loss),
        tokens: Some(answer.tokens as u16),
        forced: Some(correctness(&answer.forced)),
        forced_text: Some(answer.forced),
        free: correctness(&answer.free),
        text: answer.free,
        mask_best: answer.among_legal.map(|(likeliest, _)| likeliest == position.best),
        mask_loss: answer.among_legal.map(|(_, loss)| loss),
        ..row
    }
}

/// The model in the metadata of the choices.
fn chooser(player: &Player, config: &Config) -> Chooser {
    let Description { architecture, parameters, status, training, .. } = player.description();
    let mut known: serde_json::Map<String, serde_json::Value> =
        TRAINING.into_iter().filter_map(|key| Some((key.to_owned(), training.get(key)?.clone()))).collect();
    if *status == Status::Diverged {
        known.insert("status".to_owned(), "diverged".into());
    }
    let number = |key: &str| training.get(key).and_then(serde_json::Value::as_u64);
    Chooser {
        name: architecture.family.clone(),
        size: Some(architecture.size.to_string()),
        parameters: Some(*parameters),
        form: Some(player.form().name().to_owned()),
        mask: Some(if player.is_causal() { "causal" } else { "none" }.to_owned()),
        trained_positions: number("rows").filter(|_| matches!(player.form(), Form::Board | Form::Prompt)),
        steps: number("steps"),
        training: known,
        seed: number("seed"),
        precision: Some(config.precision.clone()),
    }
}
