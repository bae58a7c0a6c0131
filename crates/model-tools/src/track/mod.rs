//! A game followed with a model: what its head predicts after each ply, and what a linear probe reads in it, beside what is true.
//!
//! A model of boards (`boards`) predicts the position; a model of words (`words`) the next move.

mod board_reader;
mod boards;
mod drawing;
mod game;
mod game_predictor;
mod inside;
mod likeliest;
mod moves;
mod position_prediction;
mod prediction;
mod summary;
mod word_reader;
mod words;

#[cfg(test)]
mod tests;

use std::io::BufRead;
use std::path::Path;

use cwm_contract::{Failure, ModelHints, TrackReport, TrackRequest};
use cwm_inside::ModelTask;

use board_reader::BoardReader;
use inside::InspectedModel;
use position_prediction::PositionPrediction;
use summary::Summary;

/// Follows the game in `text` and reports each position in words, then the summary, also after a failure.
pub fn report(
    request: &TrackRequest,
    text: &mut dyn BufRead,
    report: &mut dyn FnMut(TrackReport) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut summary = Summary::default();
    let followed = track(request, text, &mut |position| {
        summary.add(&position);
        report(TrackReport::Position { text: drawing::draw(&position), json: summary::json_line(&position) })
    });
    if summary.positions > 0 {
        report(summary.report()?)?;
    }
    followed
}

/// Follows the game in `text`, line by line; each position is reported as soon as it is computed, which models with a
/// memory do move by move.
fn track(
    request: &TrackRequest,
    text: &mut dyn BufRead,
    report: &mut dyn FnMut(PositionPrediction) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let is_checkpoint = request.model.is_dir();
    if is_checkpoint {
        refuse_hints(&request.model, &request.hints)?;
    }
    let reads_words = is_checkpoint && inside::reads_sequences(&request.model)?;
    if request.probes.is_none() && !reads_words {
        return boards::follow(request, None, text, report);
    }
    if !is_checkpoint {
        let what = format!("{} is a file of weights, and linear probes are of a checkpoint", request.model.display());
        return Err(Failure::input(what).hint("`cwm model import` makes a checkpoint of it"));
    }
    let inside = InspectedModel::open(&request.model)?;
    let reader = request.probes.as_deref().map(|folder| BoardReader::open(folder, request.layer, &inside));
    let reader = reader.transpose()?;
    match inside.model.task() {
        ModelTask::State => boards::follow(request, reader.as_ref(), text, report),
        ModelTask::Moves => words::follow(&inside, request.game, reader.as_ref(), text, report),
    }
}

/// A checkpoint describes itself. Hints to another model would be ignored silently.
fn refuse_hints(path: &Path, hints: &ModelHints) -> Result<(), Failure> {
    let options = [
        ("--family", hints.family.is_some()),
        ("--size", hints.size.is_some()),
        ("--option", !hints.options.is_empty()),
        ("--key", hints.key.is_some()),
        ("--round", hints.round),
    ];
    let set: Vec<&str> = options.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
    if set.is_empty() {
        return Ok(());
    }
    let what = format!("{} is a checkpoint, to which {} cannot be applied", path.display(), set.join(", "));
    Err(Failure::input(what)
        .hint("leave it out: a checkpoint has its own description, which files of other programs may lack"))
}
