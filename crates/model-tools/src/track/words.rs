//! A game followed with a model of words.

use std::io::BufRead;

use cwm_contract::Failure;
use cwm_encoding::PlainMove;
use cwm_policy::inputs::words::Words;

use super::board_reader::BoardReader;
use super::game::Game;
use super::inside::InspectedModel;
use super::likeliest::likeliest;
use super::moves::Moves;
use super::position_prediction::{HeadPrediction, PositionPrediction};

/// Reports the likeliest moves in each position, and what the linear probe reads there.
pub fn follow(
    inside: &InspectedModel,
    game: u64,
    reader: Option<&BoardReader<'_>>,
    text: &mut dyn BufRead,
    report: &mut dyn FnMut(PositionPrediction) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut moves = Moves::new(text, game)?;
    let mut game = Game::default();
    let mut plain: Vec<PlainMove> = Vec::new();
    let mut report = |game: &Game, plain: &[PlainMove]| {
        let read = Words::of(plain.iter().copied()).ids;
        let head = HeadPrediction::Moves(likeliest(inside, &read, &game.position)?);
        let probed = reader.map(|reader| reader.read(&read, &game.labels())).transpose()?;
        report(game.prediction(head, probed))
    };
    report(&game, &plain)?;
    while let Some(group) = moves.next_group(&game.position)? {
        for played in group.played {
            game.play(played);
            plain.push(played.into());
            report(&game, &plain)?;
        }
        if let Some(failure) = group.failure {
            return Err(failure);
        }
    }
    Ok(())
}
