//! Stockfish's answers against those that an independent program had from the same program.

use serde_json::Value;
use shakmaty::CastlingMode;

use super::support::{golden, golden_rows, golden_stockfish, root};
use crate::{Engine, Limit, Line, Score, Settings};

/// A row of `labels.csv`: the FEN, and its label as text: nodes, best move, kind and value of the score, depth.
fn labels() -> Option<Vec<(String, String)>> {
    let text = golden("board-vs-moves-golden/labels.csv")?;
    let rows = text.lines().skip(1).map(|line| line.split_once(',').unwrap());
    Some(rows.map(|(fen, label)| (fen.to_owned(), label.to_owned())).collect())
}

/// Kind and value of a score, as the golden data has them.
fn score(score: Score) -> (&'static str, i32) {
    match score {
        Score::Centipawns(value) => ("cp", value),
        Score::Mate(value) => ("mate", value),
    }
}

fn first_move(line: &Line) -> String {
    line.moves[0].to_uci(CastlingMode::Standard).to_string()
}

/// The label of a position after so many nodes.
fn label(engine: &mut Engine, fen: &str, nodes: u64) -> String {
    let root = root(fen);
    assert_eq!(root.fen(), fen);
    let result = engine.query(&root, &Limit::nodes(nodes)).unwrap();
    let line = result.exact.unwrap();
    let (kind, value) = score(line.score);
    format!("{nodes},{},{kind},{value},{}", result.best.to_uci(CastlingMode::Standard), line.depth)
}

#[test]
fn labels_are_equal_forwards_and_backwards() {
    let (Some(program), Some(labels)) = (golden_stockfish(), labels()) else { return };
    assert_eq!(labels.len(), 313);
    let mut engine = Engine::start(&program, Settings::default()).unwrap();
    assert_eq!(engine.name(), "Stockfish 15.1");
    for (fen, expected) in labels.iter().chain(labels.iter().rev()) {
        assert_eq!(label(&mut engine, fen, 1000), *expected, "{fen}");
    }
}

#[test]
fn two_engines_at_once_give_the_same_labels() {
    let (Some(program), Some(labels)) = (golden_stockfish(), labels()) else { return };
    std::thread::scope(|scope| {
        for first in 0..2 {
            let (labels, program) = (&labels, &program);
            scope.spawn(move || {
                let mut engine = Engine::start(program, Settings::default()).unwrap();
                for (fen, expected) in labels.iter().skip(first).step_by(2) {
                    assert_eq!(label(&mut engine, fen, 1000), *expected, "{fen}");
                }
            });
        }
    });
}

/// Settings of the golden data of `reasoning`.
fn reasoning(lines: u32) -> Settings {
    Settings { hash: 16, lines, ..Settings::default() }
}

#[test]
fn values_of_all_moves_are_equal() {
    let (Some(program), Some(rows)) = (golden_stockfish(), golden_rows("reasoning-golden/values.jsonl")) else {
        return;
    };
    let mut engine = Engine::start(&program, reasoning(500)).unwrap();
    let integers = |row: &Value, key: &str, at: usize| row[key][at].as_i64();
    for row in rows.iter().filter(|row| row["moves"].as_array().is_some_and(|moves| !moves.is_empty())) {
        let limit = Limit::nodes(row["nodes"].as_u64().unwrap());
        let result = engine.query(&root(row["fen"].as_str().unwrap()), &limit).unwrap();
        let mut found: Vec<_> = result.lines.iter().map(|line| (first_move(line), score(line.score))).collect();
        found.sort_unstable();
        let names = row["moves"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
        let expected = names.enumerate().map(|(at, name)| {
            let value = match integers(row, "cp", at) {
                Some(centipawns) => ("cp", centipawns as i32),
                None => ("mate", integers(row, "mate", at).unwrap() as i32),
            };
            (name, value)
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{}", row["fen"]);
    }
}

#[test]
fn lines_of_play_are_equal() {
    let (Some(program), Some(rows)) = (golden_stockfish(), golden_rows("reasoning-golden/lines.jsonl")) else { return };
    let positions = golden_rows("reasoning-golden/positions.jsonl").unwrap();
    let mut engine = Engine::start(&program, reasoning(1)).unwrap();
    for row in &rows {
        let position = positions.iter().find(|position| position["id"] == row["id"]).unwrap();
        let fen = position["fen"].as_str().unwrap();
        let result = engine.query(&root(fen), &Limit::depth(10)).unwrap();
        let moves = result.lines[0].moves.iter().map(|made| made.to_uci(CastlingMode::Standard).to_string());
        let expected = row["pv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
        assert_eq!(moves.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{fen}");
    }
}
