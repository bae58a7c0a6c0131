//! A game followed with a model of boards.

use std::io::BufRead;

use cwm_contract::{Failure, TrackRequest};
use cwm_encoding::{PlainMove, START, VOCABULARY};
use cwm_foreign::import_model;
use cwm_models::heads::labels;
use cwm_models::parameters::Weights;
use cwm_models::{Network, device};

use super::board_reader::BoardReader;
use super::game::Game;
use super::game_predictor::GamePredictor;
use super::moves::Moves;
use super::position_prediction::{HeadPrediction, PositionPrediction};
use super::prediction;

/// Reports what the model predicts of each position, and what the linear probe reads there.
pub fn follow(
    request: &TrackRequest,
    reader: Option<&BoardReader<'_>>,
    text: &mut dyn BufRead,
    report: &mut dyn FnMut(PositionPrediction) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (network, weights) = model(request)?;
    let vocabulary = network.architecture().vocabulary;
    if vocabulary < VOCABULARY {
        return Err(Failure::input(format!(
            "{} has a vocabulary of {vocabulary} tokens, but the moves of chess are {VOCABULARY}",
            request.model.display()
        )));
    }
    let device = device::cpu();
    let mut predictor = GamePredictor::new(&network, &weights, &device);
    let mut moves = Moves::new(text, request.game)?;
    let mut game = Game::default();
    let mut read = vec![START];
    let mut report = |game: &Game, read: &[u16], logits: &[f32]| {
        let truth = game.labels();
        let probed = reader.map(|reader| reader.read(read, &truth)).transpose()?;
        report(game.prediction(HeadPrediction::Board(prediction::predict(logits, &truth)), probed))
    };
    predictor.read(&[START], &mut |logits| report(&game, &read, logits))?;
    // What is legal before the word that is not is reported before that is.
    while let Some(group) = moves.next_group(&game.position)? {
        let tokens: Vec<u16> = group.played.iter().map(|&played| PlainMove::from(played).token()).collect();
        let mut played = group.played.iter().zip(&tokens);
        predictor.read(&tokens, &mut |logits| {
            let (&played, &token) = played.next().ok_or_else(|| Failure::internal("logits of no move"))?;
            game.play(played);
            read.push(token);
            report(&game, &read, logits)
        })?;
        if let Some(failure) = group.failure {
            return Err(failure);
        }
    }
    Ok(())
}

/// A checkpoint's folder, or the file of another program.
fn model(request: &TrackRequest) -> Result<(Network, Weights), Failure> {
    if request.model.is_dir() {
        let (_, network, weights) = labels::read(&request.model)?;
        return Ok((network, weights));
    }
    let imported = import_model(&request.model, &crate::import::hints(&request.hints)?)?;
    Ok((imported.network, imported.weights))
}
