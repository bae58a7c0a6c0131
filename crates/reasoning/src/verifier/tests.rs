use cwm_questions::{Metadata, UnknownTasks, read_items, write_line};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use super::*;
use crate::draws::RandomChoices;
use crate::golden;
use crate::reading::ReadingRule;
use crate::reward::AnswerVerdict;
use crate::task::{CATEGORY, TaskOptions, build_item};

#[derive(Deserialize)]
struct Golden {
    item: String,
    text: String,
    release: GoldenRow,
    lenient: GoldenRow,
}

#[derive(Deserialize)]
struct GoldenRow {
    read: Value,
    verdict: String,
    score: Option<f64>,
    reward: f64,
}

/// An item of a task in a position, with its key and its metadata.
fn item(task: ReasoningTask, fen: &str, key: &str, metadata: &[(&str, Value)]) -> Item {
    let mut entries = Metadata::default();
    for (name, value) in metadata {
        entries.insert(name, value.clone());
    }
    Item {
        task_id: format!("{}_0000", task.name()),
        task_type: task.name().into(),
        task_category: CATEGORY.into(),
        input: fen.into(),
        question: "?".into(),
        format_examples: Vec::new(),
        correct_answer: key.into(),
        answer_type: AnswerType::Graded,
        metadata: entries,
    }
}

/// The item of a row of `tasks.jsonl`.
fn golden_item(row: &Value, fens: &[String]) -> Item {
    let task = ReasoningTask::of_name(&format!("reasoning_{}", row["task"].as_str().unwrap())).unwrap();
    let key = match &row["answer"] {
        Value::Array(moves) => moves.iter().map(|uci| uci.as_str().unwrap()).collect::<Vec<_>>().join(", "),
        key => key.as_str().unwrap_or_default().to_owned(),
    };
    let metadata: Vec<(&str, Value)> =
        ["candidates", "values"].into_iter().filter_map(|name| Some((name, row.get(name)?.clone()))).collect();
    item(task, &fens[row["position"].as_u64().unwrap() as usize], &key, &metadata)
}

fn as_json(read: Option<&ReadAnswer>) -> Value {
    match read {
        None => Value::Null,
        Some(ReadAnswer::Move(uci)) => uci.clone().into(),
        Some(ReadAnswer::Moves(moves)) => moves.clone().into(),
    }
}

#[test]
fn golden_readings() {
    let (Some(fens), Some(tasks)) = (golden::fens(), golden::lines::<Value>("tasks.jsonl")) else { return };
    let rows = golden::lines::<Golden>("readings.jsonl").unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let task = tasks.iter().find(|task| task["id"] == row.item.as_str()).unwrap();
        let verifier = Verifier::new(&golden_item(task, &fens)).unwrap();
        for (reading, expected) in [(ReadingRule::Release, &row.release), (ReadingRule::Lenient, &row.lenient)] {
            let judged = verifier.judge(&row.text, &RewardOptions { reading, ..RewardOptions::default() });
            let context = format!("{} {reading:?} {:?}: {judged:?}", row.item, row.text);
            assert_eq!(as_json(judged.read.as_ref()), expected.read, "{context}");
            assert_eq!(judged.verdict.name(), expected.verdict, "{context}");
            assert_eq!(judged.score.is_some(), expected.score.is_some(), "{context}");
            assert!((judged.score.unwrap_or(0.) - expected.score.unwrap_or(0.)).abs() < 1e-12, "{context}");
            assert!((judged.reward - expected.reward).abs() < 1e-12, "{context}");
        }
    }
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn bad_items_are_refused() {
    let fault = |item: &Item| Verifier::new(item).err().unwrap().message;
    let predict =
        |values: Value| item(ReasoningTask::PredictMove, "7k/8/8/8/8/8/8/K7 w - - 0 1", "", &[("values", values)]);
    let values = serde_json::json!({"a1a2": 0.5, "a1b1": 0.5, "a1b2": 0.5});
    assert!(Verifier::new(&predict(values.clone())).is_ok());
    let id = "reasoning_predict_move_0000: ";
    for (values, expected) in [
        (serde_json::json!({"a1a2": 0.5, "a1b1": 0.5}), "its `values` lack the legal move a1b2"),
        (
            serde_json::json!({"a1a2": 0.5, "a1b1": 0.5, "a1b2": 0.5, "e2e4": 0}),
            "its `values` have e2e4, which is not legal",
        ),
        (serde_json::json!({"a1a2": "x"}), "the value \"x\" of a1a2 is no number"),
        (serde_json::json!([]), "its `values` are no object of moves and win probabilities"),
    ] {
        assert_eq!(fault(&predict(values)), format!("{id}{expected}"));
    }
    assert_eq!(fault(&item(ReasoningTask::PredictMove, START, "", &[])), format!("{id}its metadata lack `values`"));
    let fen = fault(&item(ReasoningTask::PredictMove, "x", "", &[]));
    assert!(fen.starts_with(&format!("{id}\"x\" is no FEN")), "{fen}");
    let best = |key: &str, candidates: &[&str]| {
        fault(&item(ReasoningTask::BestMove, START, key, &[("candidates", candidates.to_vec().into())]))
    };
    let id = "reasoning_best_move_0000: ";
    assert_eq!(best("e2e4", &["d2d4"]), format!("{id}its key \"e2e4\" is not among its `candidates`"));
    assert_eq!(best("e2e4", &["e2e4", "e2e5"]), format!("{id}its candidate \"e2e5\" is not legal"));
    let legal = |key: &str| Verifier::new(&item(ReasoningTask::LegalMoves, START, key, &[]));
    assert!(legal("g1h3, g1f3").is_ok());
    for key in ["g1f3", "g1f3, g1h3, e2e4", "", "é"] {
        let expected =
            format!("reasoning_legal_moves_0000: its key {key:?} is not the list of all legal moves of a piece");
        assert_eq!(legal(key).err().unwrap().message, expected);
    }
    let other = Item { task_type: "guided_good".into(), ..predict(values.clone()) };
    let named =
        "graded are those of reasoning_predict_move, reasoning_best_move, reasoning_worst_move, reasoning_legal_moves";
    let id = "reasoning_predict_move_0000: ";
    assert_eq!(fault(&other), format!("{id}an item of \"guided_good\" is not graded; {named}"));
    let other = Item { answer_type: AnswerType::Single, ..predict(values) };
    assert_eq!(fault(&other), format!("{id}the item is not graded: its `answer_type` must be `graded`"));
}

/// `cwm_questions` reads and writes such an item, and has no verdict on answers to it.
#[test]
fn graded_items_are_read_and_not_judged_by_their_keys() {
    let item = item(ReasoningTask::BestMove, START, "e2e4", &[("candidates", vec!["e2e4"].into())]);
    let mut line = Vec::new();
    write_line(&mut line, &item).unwrap();
    let read = read_items(line.as_slice(), "items", UnknownTasks::Fail).unwrap();
    assert_eq!(read, std::slice::from_ref(&item));
    let failure = cwm_questions::Judge::new(&item).err().unwrap().message;
    assert_eq!(failure, "reasoning_best_move_0000: a graded item has no key to compare answers with");
}

/// A built item is accepted, its key gets the reward 1, and a move that its position does not allow gets none.
#[test]
fn built_items_are_verified() {
    let Some(fens) = golden::fens() else { return };
    let mut built = 0;
    for row in golden::lines::<GoldenValues>("values.jsonl").unwrap() {
        let position = golden::position(&fens[row.id]);
        let Ok(values) = Values::new(row.moves.into_iter().zip(row.win).collect()) else { continue };
        for task in ReasoningTask::ALL {
            let mut draws = RandomChoices::new(task.name(), 1, row.id as u64);
            let Some(item) = build_item(task, &position, &values, &TaskOptions::default(), &mut draws) else {
                continue;
            };
            let verifier = Verifier::new(&item).unwrap();
            let reward =
                |answer: &str| verifier.judge(&format!("<answer>{answer}</answer>"), &RewardOptions::default()).reward;
            let keys: Vec<&str> = item.correct_answer.split(", ").collect();
            if task.wants_a_list() {
                assert_eq!((reward(&format!("{keys:?}")), reward("['e9']")), (1., 0.), "{item:?}");
            } else {
                assert!(keys.iter().all(|key| reward(key) == 1.) && reward("e9") == -0.2, "{item:?}");
            }
            assert_eq!(verifier.values(), Some(&values));
            built += 1;
        }
    }
    assert!(built > 140, "{built}");
}

#[derive(Deserialize)]
struct GoldenValues {
    id: usize,
    moves: Vec<String>,
    win: Vec<f64>,
}

proptest! {
    /// A reward lies where the verdict puts it.
    #[test]
    fn rewards_have_bounds(wins in prop::collection::vec(0_f64..=1., 3), answer in "a1(a2|b1|b2|c3)", cut in 0_f64..1.) {
        let values = serde_json::json!({"a1a2": wins[0], "a1b1": wins[1], "a1b2": wins[2]});
        let item = item(ReasoningTask::PredictMove, "7k/8/8/8/8/8/8/K7 w - - 0 1", "", &[("values", values)]);
        let verifier = Verifier::new(&item).unwrap();
        let judged = verifier.judge(&format!("<answer>{answer}</answer>"), &RewardOptions { cut, ..RewardOptions::default() });
        let measures = verifier.measures(&judged);
        if answer == "a1c3" {
            prop_assert_eq!((judged.verdict, judged.score, judged.reward), (AnswerVerdict::Illegal, None, -0.2));
            prop_assert_eq!(measures, MoveMeasures::default());
        } else {
            prop_assert!(judged.reward == 0. || (cut..=1.).contains(&judged.reward));
            prop_assert_eq!(judged.score, measures.rank);
            prop_assert_eq!(measures.best == Some(true), judged.score == Some(1.));
            prop_assert!(measures.best != Some(true) || judged.reward == 1.);
        }
    }
}
