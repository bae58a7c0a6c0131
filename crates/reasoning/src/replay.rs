//! The published answers of 25 models, judged anew: every verdict, score and reward, and the tables that the paper prints.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use cwm_questions::{AnswerType, Item, Metadata};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::task::CATEGORY;
use crate::{AnswerVerdict, ClaimRule, Judged, ReasoningTask, RewardOptions, Verifier, golden};

fn batches(name: &str) -> Option<Vec<RecordBatch>> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(golden::path(name)?).unwrap()).unwrap();
    Some(reader.build().unwrap().map(Result::unwrap).collect())
}

fn text<'b>(batch: &'b RecordBatch, column: &str, row: usize) -> Option<&'b str> {
    let texts = batch.column_by_name(column).unwrap().as_string::<i32>();
    texts.is_valid(row).then(|| texts.value(row))
}

fn number(batch: &RecordBatch, column: &str, row: usize) -> Option<f64> {
    let numbers = batch.column_by_name(column).unwrap().as_primitive::<Float64Type>();
    numbers.is_valid(row).then(|| numbers.value(row))
}

fn count(batch: &RecordBatch, column: &str, row: usize) -> i64 {
    batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().value(row)
}

fn texts(batch: &RecordBatch, column: &str, row: usize) -> Vec<String> {
    let list = batch.column_by_name(column).unwrap().as_list::<i32>().value(row);
    list.as_string::<i32>().iter().map(|text| text.unwrap().to_owned()).collect()
}

/// The item of a published row.
fn item(batch: &RecordBatch, row: usize) -> Item {
    let task = format!("reasoning_{}", text(batch, "task", row).unwrap());
    let mut metadata = Metadata::default();
    if task == ReasoningTask::PredictMove.name() {
        let wins = batch.column_by_name("win").unwrap().as_list::<i32>().value(row);
        let wins = wins.as_primitive::<Float64Type>().values().to_vec();
        let values: serde_json::Map<_, _> =
            texts(batch, "moves", row).into_iter().zip(wins.into_iter().map(serde_json::Value::from)).collect();
        metadata.insert("values", values);
    }
    metadata.insert("candidates", texts(batch, "candidates", row));
    Item {
        task_id: text(batch, "item", row).unwrap().into(),
        task_type: task,
        task_category: CATEGORY.into(),
        input: text(batch, "fen", row).unwrap().into(),
        question: String::new(),
        format_examples: Vec::new(),
        correct_answer: texts(batch, "answer", row).join(", "),
        answer_type: AnswerType::Graded,
        metadata,
    }
}

fn verifiers() -> Option<HashMap<String, Verifier>> {
    let mut verifiers = HashMap::new();
    for batch in batches("replay-items.parquet")? {
        for row in 0..batch.num_rows() {
            let item = item(&batch, row);
            verifiers.insert(item.task_id.clone(), Verifier::new(&item).unwrap());
        }
    }
    assert_eq!(verifiers.len(), 1_600);
    Some(verifiers)
}

/// The answers of a checkpoint to the items of a task, judged.
type Answers = BTreeMap<(String, String, ReasoningTask), Vec<(Judged, Option<bool>)>>;

#[test]
fn published_answers_get_their_rewards_and_give_the_printed_tables() {
    let Some(verifiers) = verifiers() else { return };
    let mut answers = Answers::new();
    let mut compared = 0;
    for batch in batches("replay-answers.parquet").unwrap() {
        for row in 0..batch.num_rows() {
            let column = |name| text(&batch, name, row);
            let verifier = &verifiers[column("item").unwrap()];
            let answer = column("answer").map(|answer| format!("<answer>{answer}</answer>")).unwrap_or_default();
            let judged = verifier.judge(&answer, &RewardOptions::default());
            let context = format!("{:?} {:?}: {judged:?}", column("item"), column("answer"));
            assert_eq!(Some(judged.verdict.name()), column("verdict"), "{context}");
            let score = number(&batch, "score", row);
            assert_eq!(judged.score.is_some(), score.is_some(), "{context}");
            assert!((judged.score.unwrap_or(0.) - score.unwrap_or(0.)).abs() < 1e-12, "{context} {score:?}");
            assert!((judged.reward - number(&batch, "reward", row).unwrap()).abs() < 1e-12, "{context}");
            let trivial = verifier.measures(&judged).trivial;
            let of = (column("model").unwrap().to_owned(), column("phase").unwrap().to_owned(), verifier.task());
            answers.entry(of).or_default().push((judged, trivial));
            compared += 1;
        }
    }
    assert_eq!(compared, 40_000);
    let mut printed = 0;
    let mut table = csv::Reader::from_path(golden::path("replay-tables.csv").unwrap()).unwrap();
    for row in table.records().map(Result::unwrap) {
        let [model, phase, name, value, paper, rounds] = [0, 1, 2, 3, 4, 5].map(|at| row[at].to_owned());
        let Some(found) = measure(&answers, &model, &phase, &name) else { continue };
        assert!((found - value.parse::<f64>().unwrap()).abs() < 1e-6, "{model} {phase} {name}: {found} {value}");
        if rounds == "True" {
            let decimals = paper.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            let scale = 10_f64.powi(decimals as i32);
            assert!(((found * scale).round() / scale - paper.parse::<f64>().unwrap()).abs() < 1e-9, "{found} {paper}");
            printed += 1;
        }
    }
    assert_eq!(printed, 144);
}

/// A measure of the table; none if it is not of verdicts and scores.
fn measure(answers: &Answers, model: &str, phase: &str, name: &str) -> Option<f64> {
    let of = |task| &answers[&(model.to_owned(), phase.to_owned(), task)];
    let with = |task, verdict| of(task).iter().filter(move |(judged, _)| judged.verdict == verdict);
    let percent = |part: usize, whole: usize| 100. * part as f64 / whole as f64;
    let mean = |scores: Vec<f64>| scores.iter().sum::<f64>() / scores.len() as f64;
    let legal = || with(ReasoningTask::PredictMove, AnswerVerdict::Legal);
    let right = |task| percent(with(task, AnswerVerdict::Right).count(), of(task).len());
    let lists = || of(ReasoningTask::LegalMoves).iter();
    Some(match name {
        "predict_legal" => percent(legal().count(), of(ReasoningTask::PredictMove).len()),
        "predict_rank" => mean(legal().filter_map(|(judged, _)| judged.score).collect()),
        "trivial" => percent(legal().filter(|(_, trivial)| *trivial == Some(true)).count(), legal().count()),
        "best_accuracy" => right(ReasoningTask::BestMove),
        "worst_accuracy" => right(ReasoningTask::WorstMove),
        "legal_iou_all" => mean(lists().filter_map(|(judged, _)| judged.score).collect()),
        "legal_iou" => {
            mean(lists().filter(|(judged, _)| judged.read.is_some()).filter_map(|(judged, _)| judged.score).collect())
        }
        _ => return None,
    })
}

/// What whole outputs claim.
#[test]
fn published_outputs_have_their_claims() {
    let Some(verifiers) = verifiers() else { return };
    let mut expected = HashMap::new();
    for batch in batches("replay-answers.parquet").unwrap() {
        for row in 0..batch.num_rows() {
            let key = ["model", "phase", "item"].map(|name| text(&batch, name, row).unwrap().to_owned());
            let columns = ["move_claims", "true_move_claims", "piece_claims", "true_piece_claims"];
            if key[2].starts_with("predict") {
                expected.insert(key, columns.map(|name| count(&batch, name, row) as usize));
            }
        }
    }
    let mut compared = 0;
    for batch in batches("replay-texts.parquet").unwrap() {
        for row in 0..batch.num_rows() {
            let key = ["model", "phase", "item"].map(|name| text(&batch, name, row).unwrap().to_owned());
            let claims = verifiers[&key[2]].claims(text(&batch, "text", row).unwrap(), ClaimRule::Position);
            let found = [claims.moves.len(), claims.true_moves(), claims.pieces.len(), claims.true_pieces()];
            assert_eq!(found, expected[&key], "{key:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 120);
}
