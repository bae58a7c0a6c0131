//! The stage as a whole, on items and a model made here.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::Value;
use cwm_contract::testing::{Outcome, Trial};
use cwm_reasoning::ReasoningTask;
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::Reinforce;
use crate::probe::{BOARDS, made_up_items, write_checkpoint, write_items};

mod learning;
mod outputs;
mod ratio;
mod refusals;
mod resume;

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// Boards of two kings, and a rook and a pawn of White, which is to move.
fn boards(count: usize) -> Vec<String> {
    let board = |number: usize| {
        let (king, rook, pawn) = (number % 6, number / 6 % 7, number / 42 % 8);
        format!("k7/8/{}/8/8/{}/{}/8 w - - 0 1", rank(king + 2, 'K'), rank(pawn, 'P'), rank(rook + 1, 'R'))
    };
    (0..count).map(board).collect()
}

fn rank(file: usize, man: char) -> String {
    let empty = |count: usize| if count == 0 { String::new() } else { count.to_string() };
    format!("{}{man}{}", empty(file), empty(7 - file))
}

/// A folder with a checkpoint, an item about each of so many boards, and a validation set of all tasks.
fn data(count: usize, raised: f32) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_checkpoint(&path("checkpoint"), "transformer", &[], raised).unwrap();
    let boards = boards(count);
    let boards: Vec<&str> = boards.iter().map(String::as_str).collect();
    write_items(&path("items"), &made_up_items(&boards, &[ReasoningTask::PredictMove]).unwrap()).unwrap();
    write_items(&path("validation"), &made_up_items(&BOARDS, &ReasoningTask::ALL).unwrap()).unwrap();
    folder
}

fn trial(work: &Path, data: &Path, more: &[(&str, Value)]) -> Trial {
    let common = [
        ("batch_size", Value::Int(4)),
        ("rollouts", Value::Int(4)),
        ("mini_batch", Value::Int(2)),
        ("max_tokens", Value::Int(6)),
        ("lr", Value::Float(1e-2)),
        ("reading", text("lenient")),
        ("keep_answers", Value::Int(7)),
        ("micro_batch_tokens", Value::Int(150)),
        ("checkpoint_every", Value::Int(1)),
        ("validation_every", Value::Int(2)),
    ];
    let trial = Trial::new(work);
    let trial =
        ["checkpoint", "items", "validation"].iter().fold(trial, |trial, name| trial.input(name, data.join(name)));
    common.iter().chain(more).fold(trial, |trial, (name, value)| trial.with(name, value.clone()))
}

fn trained(data: &Path, more: &[(&str, Value)]) -> (TempDir, Outcome) {
    let work = tempfile::tempdir().unwrap();
    let outcome = trial(work.path(), data, more).run(&Reinforce).unwrap();
    (work, outcome)
}

/// The bytes of all outputs.
fn written(work: &Path) -> BTreeMap<String, Vec<u8>> {
    let names =
        ["checkpoint/model.safetensors", "checkpoint/model.json", "curves.jsonl", "answers.parquet", "summary.json"];
    names.iter().map(|name| ((*name).to_owned(), std::fs::read(work.join("out").join(name)).unwrap())).collect()
}

fn curves(work: &Path, kind: &str) -> Vec<Json> {
    let text = std::fs::read_to_string(work.join("out/curves.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    lines.filter(|line| line["kind"] == kind).collect()
}

fn summary(work: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(work.join("out/summary.json")).unwrap()).unwrap()
}

/// The bytes of the weights that a training starts from, or of those that it ends with.
fn weights(checkpoint: &Path) -> Vec<u8> {
    std::fs::read(checkpoint.join("model.safetensors")).unwrap()
}
