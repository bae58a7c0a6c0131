//! Reads choices made by another program, in place of a checkpoint.

use std::collections::HashSet;
use std::path::Path;

use cwm_choices::{Choice, Chooser};
use cwm_contract::{Context, Failure};
use cwm_evaluations::Evaluations;

use crate::config::Config;
use crate::correctness::{correctness, notation_of};
use crate::output::OutputWriter;
use crate::positions::Positions;
use crate::table::Table;

/// Positions that are read at once.
const WINDOW: usize = 1_024;

/// Compares the choices in the file `path` with the best moves.
///
/// # Errors
/// They do not answer in each position once, an input is not what it should be, an operation on the disk fails, or the stage
/// was cancelled.
pub fn run(context: &Context, config: &Config, path: &Path) -> Result<(), Failure> {
    if let Some(problem) = config.problem_with(true) {
        return Err(Failure::input(format!("choose {problem}")));
    }
    let table = Table::read(path, &records(context)?)?;
    let chooser = Chooser {
        name: config.name.clone().unwrap_or_default(),
        size: config.size.clone(),
        parameters: config.parameters,
        ..Chooser::default()
    };
    let mut positions = Positions::open(context, config)?;
    let mut output = OutputWriter::create(context, &chooser)?;
    let (mut missing, mut first_missing) = (0, None);
    loop {
        context.check_cancelled()?;
        let window = positions.take(WINDOW)?;
        if window.is_empty() {
            break;
        }
        for position in &window {
            let record = position.evaluation.record;
            let Some(answer) = table.get(record) else {
                missing += 1;
                first_missing = first_missing.or(Some(record));
                continue;
            };
            let board = position.board.position();
            let correctness = |text: &str| correctness(board, notation_of(board, text), text, position.best);
            output.push(Choice {
                loss: answer.loss,
                tokens: answer.tokens,
                forced: answer.forced_text.as_deref().map(correctness),
                forced_text: answer.forced_text.clone(),
                free: correctness(&answer.text),
                text: answer.text.clone(),
                ..output.row(position)
            })?;
        }
        context.progress(positions.counts().read(), Some(positions.total()), "positions");
    }
    if let Some(record) = first_missing {
        let chosen = positions.counts().positions;
        let message = format!("the choices lack {missing} of {chosen} positions: the first is record {record}");
        return Err(Failure::input(message).hint("a row for every position of the evaluations, by its `record`"));
    }
    output.finish(context, positions.counts())
}

/// The records of the evaluations.
fn records(context: &Context) -> Result<HashSet<u64>, Failure> {
    let evaluations = Evaluations::open(context.input("evaluations")?)?;
    evaluations.map(|evaluation| Ok(evaluation?.record)).collect()
}
