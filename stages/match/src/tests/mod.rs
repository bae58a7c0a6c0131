//! The stage as a whole, through its contract.

mod engines;
mod faults;
mod games;
mod models;
#[path = "../../../../crates/uci/src/tests/stockfish.rs"]
mod stockfish;

use std::path::{Path, PathBuf};

use cwm_chess::sample;
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Stage, Value, Values};
use cwm_encoding::PlainMove;
use cwm_matches::{Game, Matches, Players};
use cwm_policy::replay::replay;
use shakmaty::{Chess, Position};

use crate::Match;

/// A trial of two players.
fn trial(folder: &Path, first: &str, second: &str, games: i128) -> Trial {
    Trial::new(folder.join("work"))
        .with("first", text(first))
        .with("second", text(second))
        .with("games", Value::Int(games))
}

fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

/// Values as the executor completes them.
fn values(given: &[(&str, Value)]) -> Values {
    let mut values: Values =
        Match.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?))).collect();
    values.extend(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    values
}

fn games(outcome: &Outcome) -> Vec<Game> {
    Matches::open(&outcome.outputs["matches"]).unwrap().collect::<Result<_, _>>().unwrap()
}

fn players(outcome: &Outcome) -> Players {
    Matches::open(&outcome.outputs["matches"]).unwrap().description().clone()
}

fn counts(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(&outcome.outputs["counts"]).unwrap()).unwrap()
}

/// The bytes of all outputs.
fn bytes(outcome: &Outcome) -> Vec<Vec<u8>> {
    outcome.outputs.values().map(|path| std::fs::read(path).unwrap()).collect()
}

/// The position after the moves of a game.
fn last_position(game: &Game) -> Chess {
    let mut last = Chess::default();
    replay(&game.moves, |_, position, _| {
        last = position.clone();
        Ok(())
    })
    .unwrap();
    last
}

/// So many games to open with, each of 30 random plies: no two alike.
fn openings(folder: &Path, count: usize) -> PathBuf {
    let path = folder.join("openings");
    let game = |number: usize| {
        let mut position = Chess::default();
        let mut moves = Vec::new();
        for ply in 0..30 {
            let legal = position.legal_moves();
            if legal.is_empty() {
                break;
            }
            let played = legal[(number * 7919 + ply * ply * 31 + number * ply) % legal.len()];
            moves.push(PlainMove::from(played));
            position.play_unchecked(played);
        }
        moves
    };
    let all: Vec<Vec<PlainMove>> = (0..count).map(game).collect();
    sample::write_games(&path, &all).unwrap();
    path
}
