//! Sequences that an independent program encoded.

use cwm_contract::testing::shared;
use cwm_evaluations::Line;
use cwm_policy::actions::action_of;
use cwm_sequences::NO_LOSS;
use serde_json::Value;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use super::*;
use crate::probe::evaluations_of;

/// The lines of a file; none, with a printed line, where it is absent.
fn lines(file: &str) -> Vec<Value> {
    let Some(path) = shared(&format!("systems/board-vs-moves-golden/{file}")) else { return Vec::new() };
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<u16> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as u16).collect()
}

fn plain(uci: &str) -> PlainMove {
    let Ok(UciMove::Normal { from, to, promotion }) = uci.parse() else { panic!("{uci}") };
    PlainMove { from, to, promotion }
}

/// The golden positions that have a best move.
fn labelled() -> Vec<Value> {
    lines("positions.jsonl").into_iter().filter(|position| position["best"].is_string()).collect()
}

fn evaluation(position: &Value) -> Evaluation {
    Evaluation {
        record: 0,
        game: None,
        id: String::new(),
        t: None,
        fen: position["fen"].as_str().unwrap().to_owned(),
        lines: vec![Line { score: None, depth: None, moves: vec![plain(position["best"].as_str().unwrap()).packed()] }],
    }
}

/// The moves of a text, by no code of the product.
fn moves_of(text: &str) -> Vec<PlainMove> {
    let mut position = Chess::default();
    let words = text.trim_start_matches(';').split(' ').map(|word| word.rsplit('.').next().unwrap());
    words
        .map(|san| {
            let played = san.parse::<SanPlus>().unwrap().san.to_move(&position).unwrap();
            position.play_unchecked(played);
            PlainMove::from(played)
        })
        .collect()
}

#[test]
fn golden_positions_are_golden_boards() {
    let positions = labelled();
    let bench = Bench::new().evaluations(positions.iter().map(evaluation));
    let outcome = bench.run("board");
    let found = rows(&outcome);
    assert_eq!(found.len(), positions.len());
    for (record, ((id, tokens, targets), position)) in found.iter().zip(&positions).enumerate() {
        assert_eq!(id, &record.to_string());
        assert_eq!((tokens[0], &tokens[1..]), (0, &numbers(&position["board"])[..]), "{position}");
        let (best, before) = targets.split_last().unwrap();
        assert_eq!(u64::from(*best), position["best_action"].as_u64().unwrap(), "{position}");
        assert!(before.len() == 77 && before.iter().all(|target| *target == NO_LOSS));
    }
}

#[test]
fn golden_positions_are_golden_prompts() {
    let positions = labelled();
    let bench = Bench::new().evaluations(positions.iter().map(evaluation));
    let outcome = bench.run("prompt");
    let (with, without): (Vec<&Value>, Vec<&Value>) =
        positions.iter().partition(|position| position["prompt_tokens"].is_array());
    let found = rows(&outcome);
    assert_eq!(found.len(), with.len());
    for ((_, tokens, targets), position) in found.iter().zip(with) {
        let expected = numbers(&position["prompt_tokens"]);
        assert_eq!(tokens, &expected[..expected.len() - 1], "{position}");
        let answer = position["best"].as_str().unwrap().len() + 1;
        let (before, learnt) = targets.split_at(targets.len() - answer);
        assert!(before.iter().all(|target| *target == NO_LOSS));
        assert_eq!(learnt, &expected[expected.len() - answer..], "{position}");
    }
    let counts: Value = serde_json::from_str(&counts(&outcome)).unwrap();
    assert_eq!(counts["dropped"]["legal_moves"].as_u64().unwrap(), without.len() as u64);
    assert!(positions.is_empty() || !without.is_empty());
}

#[test]
fn golden_games_are_golden_characters() {
    let golden = lines("movetexts.jsonl");
    let games: Vec<_> = golden.iter().map(|golden| moves_of(golden["text"].as_str().unwrap())).collect();
    let bench = Bench::new().games(&games);
    let outcome = bench.run("characters");
    let found = rows(&outcome);
    assert_eq!(found.len(), golden.len());
    for ((_, tokens, targets), golden) in found.iter().zip(&golden) {
        let expected = numbers(&golden["tokens"]);
        assert_eq!(tokens, &expected[..expected.len() - 1]);
        assert_eq!(targets, &expected[1..]);
    }
    let counts: Value = serde_json::from_str(&counts(&outcome)).unwrap();
    let is_long = |golden: &&Value| golden["text"].as_str().unwrap().len() > 1024;
    assert_eq!(counts["cut"].as_u64().unwrap(), golden.iter().filter(is_long).count() as u64);
    let moves = |golden: &Value| golden["plies"].as_u64().unwrap() - golden["answers"].as_array().unwrap().len() as u64;
    assert_eq!(counts["dropped"]["moves_beyond_context"].as_u64().unwrap(), golden.iter().map(moves).sum::<u64>());
}

#[test]
fn golden_games_have_the_best_moves_at_their_plies() {
    let golden = lines("movetexts.jsonl");
    let games: Vec<_> = golden.iter().map(|golden| moves_of(golden["text"].as_str().unwrap())).collect();
    let labels: Vec<_> = (0..).zip(&games).flat_map(|(index, game)| evaluations_of(index, game).unwrap()).collect();
    // White's alone.
    let labels = labels.into_iter().filter(|label| label.t.unwrap() % 2 == 0);
    let bench = Bench::new().games(&games).evaluations(labels);
    let outcome = bench.run("moves");
    for ((_, tokens, targets), game) in rows(&outcome).iter().zip(&games) {
        let actions: Vec<u16> = game.iter().map(|&plain| action_of(plain).unwrap()).collect();
        assert_eq!((tokens[0], &tokens[1..]), (1968, &actions[..]));
        for (t, target) in targets.iter().enumerate() {
            let expected = actions.get(t).filter(|_| t % 2 == 0);
            assert_eq!(target, expected.unwrap_or(&NO_LOSS));
        }
    }
}
