//! Positions of evaluations.

use std::path::Path;

use cwm_contract::{Context, Failure};
use cwm_encoding::{PlainMove, legal};
use cwm_evaluations::{Evaluation, Evaluations};
use cwm_questions::truth::chess_of_fen;
use cwm_reasoning::values::Values;
use shakmaty::Chess;

use super::{KnownMoves, Positions};
use crate::config::Config;

/// Reads a file of evaluations.
pub fn read(context: &Context, path: &Path, config: &Config, positions: &mut Positions) -> Result<(), Failure> {
    let evaluations = Evaluations::open(path)?;
    let total = evaluations.total();
    for (row, evaluation) in evaluations.enumerate() {
        let evaluation = evaluation?;
        let located = |wrong: String| Failure::input(format!("{}, row {row}: {wrong}", path.display()));
        // Before an engine reads it: some exit without a message in a position in which the king could be taken.
        let (position, _) = chess_of_fen(&evaluation.fen).map_err(located)?;
        let place = (evaluation.game, evaluation.t);
        positions.push(context, &position, place, || {
            known(&position, &evaluation, config).map_err(|failure| located(failure.message))
        })?;
        context.progress(row as u64 + 1, Some(total), "positions");
    }
    Ok(())
}

/// The part of an evaluation that the builder needs.
fn known(position: &Chess, evaluation: &Evaluation, config: &Config) -> Result<KnownMoves, Failure> {
    match config.builder.as_str() {
        "best_move" => Ok(KnownMoves { best: Some(best(position, evaluation)?), values: None }),
        _ if config.needs_values() => Ok(KnownMoves { best: None, values: Values::of_evaluation(evaluation)? }),
        _ => Ok(KnownMoves::default()),
    }
}

/// The move of the greatest value, the first of equals by its text, where every legal move has a value; else the one that the
/// evaluation has first, which must be legal.
fn best(position: &Chess, evaluation: &Evaluation) -> Result<String, Failure> {
    if let Some(values) = Values::of_evaluation(evaluation)? {
        return Ok(values.best().0.to_owned());
    }
    let best = PlainMove::from_packed(evaluation.best());
    let best = best.ok_or_else(|| Failure::input(format!("{} is no move", evaluation.best())))?;
    if legal(position, best).is_none() {
        return Err(Failure::input(format!("its best move {best} is not legal in {:?}", evaluation.fen)));
    }
    Ok(best.to_string())
}
