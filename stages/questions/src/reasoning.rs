//! Items of Reasoning, from positions of which every legal move has a value.

use std::path::Path;

use cwm_contract::{Context, Failure};
use cwm_evaluations::{Evaluation, Evaluations};
use cwm_questions::build::{Picker, TaskCount, four_fields};
use cwm_questions::truth::chess_of_fen;
use cwm_questions::{Item, boards_of_files};
use cwm_reasoning::values::Values;
use cwm_reasoning::{RandomChoices, ReasoningTask, build_item};
use cwm_shares::{FullmoveShares, largest_remainders};

use crate::config::Config;
use crate::counts::SourceCounts;
use crate::run::failure;

/// The reasons why positions are dropped: a legal move has no value; the full-move number is in no range of
/// `fullmoves`; an item of the input `apart` has the board.
const REASONS: [&str; 3] = [INCOMPLETE, FULLMOVE, APART];
const INCOMPLETE: &str = "incomplete";
const FULLMOVE: &str = "fullmove";
const APART: &str = "apart";

/// Items that are made for each that is wanted, where their positions are to have shares.
const OVERSAMPLING_FACTOR: usize = 4;

/// The weight of a task where a position serves several: few positions have candidates that are clearly worse, or
/// better.
fn weight(task: ReasoningTask) -> u64 {
    match task {
        ReasoningTask::BestMove | ReasoningTask::WorstMove => 2,
        ReasoningTask::PredictMove | ReasoningTask::LegalMoves => 1,
    }
}

/// Reads evaluations, and builds the items of `tasks`. A board (the first four fields of a FEN) serves one task at most.
///
/// # Errors
///
/// The file is not one of `analyse`, or has a position that cannot be; or the items of `apart` cannot be read.
pub fn read(
    context: &Context,
    path: &Path,
    config: &Config,
    tasks: &[ReasoningTask],
) -> Result<(Vec<Item>, SourceCounts), Failure> {
    context.activity("reading values of moves");
    let shares = config.fullmove_shares().map_err(failure)?;
    let (most, options) = (config.per_task as usize, config.task_options());
    let made = if shares.is_some() { OVERSAMPLING_FACTOR * most } else { most };
    let counted: Vec<_> = tasks.iter().map(|&task| TaskCount { task, wanted: made, weight: weight(task) }).collect();
    let mut picker = Picker::new(config.order(), config.seed, &counted);
    let mut counts = SourceCounts::new(REASONS);
    let apart = boards_of_files(context.group("apart").iter().map(|input| &*input.path))?;
    let evaluations = Evaluations::open(path).map_err(|wrong| {
        wrong.hint("tasks of Reasoning are built from evaluations of `analyse` with `multipv: all`")
    })?;
    let total = evaluations.total();
    for evaluation in evaluations {
        if picker.is_full() {
            break;
        }
        context.check_cancelled()?;
        context.progress(counts.read(), Some(total), "positions");
        let (row, evaluation) = (counts.read(), evaluation?);
        counts.count_read();
        if let Some(shares) = &shares
            && shares.bucket(fullmove(&evaluation.fen)).is_none()
        {
            counts.count_dropped(FULLMOVE);
            continue;
        }
        let wrong = |failure: Failure| Failure::input(format!("{}, row {row}: {}", path.display(), failure.message));
        let Some(values) = Values::of_evaluation(&evaluation).map_err(wrong)? else {
            counts.log_dropped(INCOMPLETE, &format!("row {row} ({})", evaluation.fen), context);
            continue;
        };
        let (position, _) = chess_of_fen(&evaluation.fen).map_err(|what| wrong(Failure::input(what)))?;
        if apart.contains(&position) {
            counts.count_dropped(APART);
            continue;
        }
        let board = four_fields(&evaluation.fen).unwrap_or_default();
        picker.add_candidate(&board, tasks, |task, _| {
            let mut draws = RandomChoices::new(task.name(), config.seed, row);
            let item = build_item(task, &position, &values, &options, &mut draws);
            Ok(item.map(|item| of_game(item, &evaluation)))
        })?;
    }
    // Task after task.
    let mut found = picker.finish(true).into_iter().peekable();
    let of_task = |task: &ReasoningTask| {
        let made: Vec<Item> = std::iter::from_fn(|| found.next_if(|item| item.task_type == task.name())).collect();
        let mut chosen = match &shares {
            Some(shares) => by_shares(made, most, shares),
            None => made,
        };
        for (number, item) in chosen.iter_mut().enumerate() {
            item.task_id = format!("{task}_{number:04}");
        }
        chosen
    };
    Ok((tasks.iter().flat_map(of_task).collect(), counts))
}

/// The item with the place of its position, where that is from a game.
fn of_game(mut item: Item, evaluation: &Evaluation) -> Item {
    for (name, value) in [("game", evaluation.game), ("ply", evaluation.t.map(u64::from))] {
        if let Some(value) = value {
            item.metadata.insert(name, value);
        }
    }
    item
}

/// The full-move number of a FEN; 1 without one, as readers of FENs have it.
fn fullmove(fen: &str) -> u32 {
    fen.split_ascii_whitespace().nth(5).and_then(|field| field.parse().ok()).unwrap_or(1)
}

/// Chooses as many of `made` as wanted, in their order: of each range its share, but no more than it has; what is missing
/// are the first of the rest.
fn by_shares(made: Vec<Item>, wanted: usize, shares: &FullmoveShares) -> Vec<Item> {
    let mut left = largest_remainders(&shares.shares(), wanted);
    let mut is_chosen: Vec<bool> = made
        .iter()
        .map(|item| {
            let place = shares.bucket(fullmove(&item.input)).and_then(|bucket| left.get_mut(bucket));
            let has_place = place.as_ref().is_some_and(|left| **left > 0);
            place.into_iter().for_each(|left| *left = left.saturating_sub(1));
            has_place
        })
        .collect();
    let missing = wanted.saturating_sub(is_chosen.iter().filter(|chosen| **chosen).count());
    is_chosen.iter_mut().filter(|chosen| !**chosen).take(missing).for_each(|chosen| *chosen = true);
    made.into_iter().zip(is_chosen).filter(|(_, chosen)| *chosen).map(|(item, _)| item).collect()
}
