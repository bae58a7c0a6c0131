//! Values of all legal moves by an engine.

use std::collections::BTreeMap;

use cwm_contract::Parameters;
use cwm_contract::testing::shared;
use cwm_uci::SearchRoot;
use serde_json::Value as Json;
use shakmaty::Position;

use super::*;
use crate::config::Config;
use crate::evaluator::Evaluator;

fn golden() -> Option<Vec<Json>> {
    let text = std::fs::read_to_string(shared("systems/reasoning-golden/values.jsonl")?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn stockfish_values_all_moves_as_the_golden_data() {
    let (Some(engine), Some(rows)) = (stockfish(), golden()) else { return };
    let values = values(&[
        ("engine", Value::Text(engine.display().to_string())),
        ("nodes", Value::Int(40_000)),
        ("hash", Value::Int(16)),
        ("multipv", Value::Text("all".into())),
    ]);
    let config = Config::read(&values).unwrap();
    let mut evaluator = Evaluator::start(&config, Cancellation::default()).unwrap();
    let source = evaluator.source(&config).unwrap();
    if source.made_by != "Stockfish 15.1" {
        println!("skipped: the golden values are of Stockfish 15.1, and this is {}", source.made_by);
        return;
    }
    assert_eq!(source.options["Hash"], "16");
    let mut compared = 0;
    for row in &rows {
        let position: Chess =
            row["fen"].as_str().unwrap().parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
        let mut expected: BTreeMap<&str, (Option<i64>, Option<i64>)> = BTreeMap::new();
        for (number, uci) in row["moves"].as_array().unwrap().iter().enumerate() {
            expected.insert(uci.as_str().unwrap(), (row["cp"][number].as_i64(), row["mate"][number].as_i64()));
        }
        if expected.is_empty() {
            assert!(SearchRoot::position(&position).is_err());
            continue;
        }
        let lines = evaluator.find(&SearchRoot::position(&position).unwrap()).unwrap().lines;
        let found: BTreeMap<String, (Option<i64>, Option<i64>)> = lines
            .iter()
            .map(|line| {
                let score = match line.score.unwrap() {
                    Score::Centipawns(value) => (Some(value.into()), None),
                    Score::Mate(moves) => (None, Some(moves.into())),
                };
                (PlainMove::from_packed(line.moves[0]).unwrap().to_string(), score)
            })
            .collect();
        let found: BTreeMap<&str, _> = found.iter().map(|(uci, score)| (uci.as_str(), *score)).collect();
        assert_eq!(found, expected, "{}", row["fen"]);
        compared += found.len();
    }
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn each_move_by_itself_is_the_negated_value_of_the_position_after_it() {
    let Some(engine) = stockfish() else { return };
    let folder = tempdir().unwrap();
    let with = |name: &str, value: Value| {
        Trial::new(folder.path().join(name))
            .with("place", Value::Int(12))
            .with("max_pieces", Value::Int(5))
            .with("engine", Value::Text(engine.display().to_string()))
            .with("nodes", Value::Int(300))
            .with("each", Value::Bool(true))
            .with("multipv", value)
    };
    let all = rows(&with("all", Value::Text("all".into())).run(&Analyse).unwrap());
    let mut engine = cwm_uci::Engine::start(&engine, cwm_uci::Settings::default()).unwrap();
    for row in &all {
        let position = position(row);
        assert_eq!(row.lines.len(), position.legal_moves().len());
        let line = row.lines.last().unwrap();
        let played = cwm_encoding::legal(&position, PlainMove::from_packed(line.moves[0]).unwrap()).unwrap();
        let mut next = position.clone();
        next.play_unchecked(played);
        let Ok(root) = SearchRoot::position(&next) else { continue };
        let result = engine.query(&root, &cwm_uci::Limit::nodes(300)).unwrap();
        let expected = result.exact.map(|line| match line.score {
            Score::Centipawns(value) => Score::Centipawns(-value),
            Score::Mate(moves) if moves > 0 => Score::Mate(-moves),
            Score::Mate(moves) => Score::Mate(1 - moves),
        });
        assert_eq!(line.score, expected, "{}", row.fen);
    }
    let three = rows(&with("three", Value::Int(3)).run(&Analyse).unwrap());
    for (few, all) in three.iter().zip(&all) {
        assert_eq!(few.lines[..], all.lines[..few.lines.len()]);
        assert!(few.lines.len() <= 3);
    }
}
