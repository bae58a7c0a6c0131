use std::collections::BTreeMap;

use cwm_questions::Item;
use serde::Deserialize;
use serde_json::Value;

use super::build::{answer_and_pool, moves_of_pieces};
use super::*;
use crate::draws::RandomChoices;
use crate::golden;
use crate::values::Values;

#[derive(Deserialize)]
struct Golden {
    task: String,
    position: usize,
    answer: Option<Value>,
    pool: Option<Vec<String>>,
    squares: Option<Vec<String>>,
    values: Option<BTreeMap<String, f64>>,
    square: Option<String>,
    piece: Option<String>,
}

#[derive(Deserialize)]
struct GoldenValues {
    id: usize,
    moves: Vec<String>,
    win: Vec<f64>,
}

fn golden_values() -> Option<BTreeMap<usize, Values>> {
    let rows = golden::lines::<GoldenValues>("values.jsonl")?;
    let values = |row: GoldenValues| Some((row.id, Values::new(row.moves.into_iter().zip(row.win).collect()).ok()?));
    Some(rows.into_iter().filter_map(values).collect())
}

fn task_of(name: &str) -> ReasoningTask {
    ReasoningTask::of_name(&format!("reasoning_{name}")).unwrap()
}

#[test]
fn golden_items() {
    let (Some(rows), Some(fens), Some(values)) =
        (golden::lines::<Golden>("tasks.jsonl"), golden::fens(), golden_values())
    else {
        return;
    };
    assert!(!rows.is_empty());
    let options = TaskOptions::default();
    for row in rows {
        let task = task_of(&row.task);
        let (position, values) = (golden::position(&fens[row.position]), &values[&row.position]);
        let build = |ordinal| {
            let mut draws = RandomChoices::new(task.name(), 0, ordinal);
            build_item(task, &position, values, &options, &mut draws)
        };
        let item = build(0);
        match task {
            ReasoningTask::PredictMove => {
                let expected = serde_json::to_value(row.values.unwrap()).unwrap();
                assert_eq!(item.unwrap().metadata.get("values"), Some(&expected));
            }
            ReasoningTask::BestMove | ReasoningTask::WorstMove => {
                let (answer, pool) = answer_and_pool(task, values, options.threshold);
                assert_eq!(pool, row.pool.unwrap(), "{} {}", row.task, row.position);
                assert_eq!(item.is_some(), row.answer.is_some());
                if let Some(Value::String(expected)) = row.answer {
                    assert_eq!(answer, expected);
                    assert_eq!(item.unwrap().correct_answer, expected);
                }
            }
            ReasoningTask::LegalMoves => {
                let pieces = moves_of_pieces(&position, options.legal_min);
                let squares: Vec<String> = pieces.iter().map(|(square, _)| square.to_string()).collect();
                let sorted = |mut squares: Vec<String>| {
                    squares.sort();
                    squares
                };
                assert_eq!(sorted(squares), sorted(row.squares.unwrap()));
                let Some(square) = row.square else {
                    assert!(item.is_none());
                    continue;
                };
                let same =
                    (0..400).filter_map(build).find(|item| item.metadata.text("square") == Some(&square)).unwrap();
                assert_eq!(same.metadata.text("piece"), row.piece.as_deref());
                assert_eq!(Value::from(same.correct_answer.split(", ").collect::<Vec<_>>()), row.answer.unwrap());
            }
        }
    }
}

/// The middle-game position of the golden data, with its values.
fn items(task: ReasoningTask, id: usize, count: u64) -> Option<(Vec<Item>, Values)> {
    let (fens, values) = (golden::fens()?, golden_values()?.remove(&id)?);
    let position = golden::position(&fens[id]);
    let build = |ordinal| {
        let mut draws = RandomChoices::new(task.name(), 7, ordinal);
        build_item(task, &position, &values, &TaskOptions::default(), &mut draws)
    };
    Some(((0..count).filter_map(build).collect(), values))
}

/// Candidates are uniform over the pool and the answer's place is uniform: by chi squared, with p above .001.
#[test]
fn candidates_and_places_are_uniform() {
    let Some((items, values)) = items(ReasoningTask::BestMove, 26, 8_000) else { return };
    let (answer, pool) = answer_and_pool(ReasoningTask::BestMove, &values, 0.2);
    let (mut taken, mut places) = (vec![0_u32; pool.len()], vec![0_u32; 5]);
    for item in &items {
        let candidates = item.metadata.get("candidates").unwrap().as_array().unwrap();
        assert_eq!(candidates.len(), 5);
        for (place, candidate) in candidates.iter().enumerate() {
            match pool.iter().position(|uci| candidate == uci) {
                Some(at) => taken[at] += 1,
                None => {
                    assert_eq!(candidate, answer);
                    places[place] += 1;
                }
            }
        }
    }
    assert_eq!(items.len(), 8_000);
    let chi_squared = |counts: &[u32]| -> f64 {
        let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
    };
    // 18.47 is the .999 quantile of 4 degrees of freedom.
    assert!(chi_squared(&places) < 18.47, "{places:?}");
    // An approximation (Wilson and Hilferty) of the same quantile of as many degrees as the pool has. Draws without replacement
    // vary less than the independent ones that it is for.
    let degrees = (pool.len() - 1) as f64;
    let quantile = degrees * (1. - 2. / (9. * degrees) + 3.09 * (2. / (9. * degrees)).sqrt()).powi(3);
    assert!(chi_squared(&taken) < quantile, "{taken:?}");
}

#[test]
fn an_item_asks_in_our_own_words() {
    let values = ["a1a2", "a1b1", "a1b2"].map(|uci| (uci.to_owned(), 0.5));
    let values = Values::new(values.to_vec()).unwrap();
    let options = TaskOptions { board: BoardForm::Fen, ..TaskOptions::default() };
    let position = golden::position("7k/8/8/8/8/8/8/K7 w - - 0 1");
    let build = |task| build_item(task, &position, &values, &options, &mut RandomChoices::new("x", 0, 0));
    let mut item = build(ReasoningTask::LegalMoves).unwrap();
    item.task_id = "reasoning_legal_moves_0000".into();
    let mut line = Vec::new();
    cwm_questions::write_line(&mut line, &item).unwrap();
    let expected = concat!(
        r#"{"task_id": "reasoning_legal_moves_0000", "task_type": "reasoning_legal_moves", "task_category": "Reasoning", "#,
        r#""input": "7k/8/8/8/8/8/8/K7 w - - 0 1", "question": "Here is a chess position. It is your turn.\n\n"#,
        r#"7k/8/8/8/8/8/8/K7 w - - 0 1\n\nList all legal moves of the white king at a1. Each promotion is a move of its own. "#,
        r#"You may think aloud first. Give your final answer inside <answer> </answer>: a list of moves in UCI notation, such as "#,
        r#"<answer> ['e2e3', 'e2e4'] </answer>", "format_examples": [], "correct_answer": "a1a2, a1b1, a1b2", "#,
        r#""answer_type": "graded", "metadata": {"system": ""#
    );
    let line = String::from_utf8(line).unwrap();
    assert!(line.starts_with(expected), "{line}");
    assert!(line.ends_with(concat!(
        r#", "square": "a1", "piece": "white king", "#,
        r#""values": {"a1a2": 0.5, "a1b1": 0.5, "a1b2": 0.5}}}"#,
        "\n"
    )));
    let predict = build(ReasoningTask::PredictMove).unwrap();
    assert_eq!(predict.correct_answer, "a1a2, a1b1, a1b2");
    assert_eq!(cwm_questions::prompt::prompt(&predict, Default::default()).unwrap(), predict.question);
    assert_eq!(build(ReasoningTask::BestMove), None);
}
