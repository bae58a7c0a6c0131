//! A game followed with a model: what it believes of the position after each ply, beside what is true.

mod follower;
mod moves;
mod prediction;
mod word_reader;

#[cfg(test)]
mod tests;

use std::io::BufRead;
use std::path::Path;

use cwm_contract::{Failure, ModelHints, MoveNotation, PositionPrediction, TrackRequest};
use cwm_encoding::{EnPassant, PlainMove, START, VOCABULARY, labels_of};
use cwm_foreign::import_model;
use cwm_models::heads::labels;
use cwm_models::parameters::Weights;
use cwm_models::{Network, device};
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Color, Move, Position};

use follower::Follower;
use moves::Moves;

/// Follows the game in `text`, line by line; each position is reported as soon as it is computed, which models with a
/// memory do move by move.
pub fn track(
    request: &TrackRequest,
    text: &mut dyn BufRead,
    report: &mut dyn FnMut(PositionPrediction) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (network, weights) = model(&request.model, request)?;
    let vocabulary = network.architecture().vocabulary;
    if vocabulary < VOCABULARY {
        return Err(Failure::input(format!(
            "{} knows {vocabulary} tokens, but the moves of chess are {VOCABULARY}",
            request.model.display()
        )));
    }
    let device = device::cpu();
    let mut follower = Follower::new(&network, &weights, &device);
    let mut moves = Moves::new(text, request.game)?;
    let mut position = Chess::default();
    let mut ply = 0;
    follower.read(&[START], &mut |logits| {
        report(prediction::predict(ply, None, logits, &labels_of(&position, EnPassant::Always)))
    })?;
    // What is legal before the word that is not is reported before that is.
    while let Some(group) = moves.next_group(&position)? {
        let tokens: Vec<u16> = group.played.iter().map(|&played| PlainMove::from(played).token()).collect();
        let mut played = group.played.iter();
        follower.read(&tokens, &mut |logits| {
            let played = *played.next().ok_or_else(|| Failure::internal("logits of no move"))?;
            let notation = notation(&position, played);
            position.play_unchecked(played);
            ply += 1;
            report(prediction::predict(ply, Some(notation), logits, &labels_of(&position, EnPassant::Always)))
        })?;
        if let Some(failure) = group.failure {
            return Err(failure);
        }
    }
    Ok(())
}

/// A checkpoint's folder, or the file of another program.
fn model(path: &Path, request: &TrackRequest) -> Result<(Network, Weights), Failure> {
    if path.is_dir() {
        refuse_hints(path, &request.hints)?;
        let (_, network, weights) = labels::read(path)?;
        return Ok((network, weights));
    }
    let imported = import_model(path, &crate::import::hints(&request.hints)?)?;
    Ok((imported.network, imported.weights))
}

/// A checkpoint describes itself. Hints to another model would be ignored silently.
fn refuse_hints(path: &Path, hints: &ModelHints) -> Result<(), Failure> {
    let given = [
        ("--family", hints.family.is_some()),
        ("--size", hints.size.is_some()),
        ("--option", !hints.options.is_empty()),
        ("--key", hints.key.is_some()),
        ("--round", hints.round),
    ];
    let given: Vec<&str> = given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect();
    if given.is_empty() {
        return Ok(());
    }
    let what = format!("{} is a checkpoint, of which {} can say nothing", path.display(), given.join(", "));
    Err(Failure::input(what)
        .hint("leave it out: a checkpoint says itself what it is; only files of other programs may not"))
}

fn notation(position: &Chess, played: Move) -> MoveNotation {
    let dots = if position.turn() == Color::White { "." } else { "..." };
    MoveNotation {
        number: format!("{}{dots}", position.fullmoves()),
        san: SanPlus::from_move(position.clone(), played).to_string(),
        uci: PlainMove::from(played).to_string(),
    }
}
