//! The stage as a whole, on sequences made here.

use std::path::Path;

use cwm_contract::Value;
use cwm_contract::testing::Trial;
use cwm_sequences::{NO_LOSS, Sequence, SequencesWriter, Vocabulary};
use tempfile::TempDir;

use crate::Learn;

mod families;
mod golden;
mod outputs;
mod refusals;
mod resume;
mod start;
mod validation;

type Row = (Vec<u16>, Vec<u16>);

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn vocabulary(form: &str) -> Vocabulary {
    Vocabulary { form: form.to_owned(), version: 1, inputs: 12, targets: 10, longest: 24 }
}

/// A sequence of so many tokens; what is right at a place follows from the two tokens before it, and every third place has a
/// target, the last among them.
fn row(length: usize, start: usize) -> Row {
    let token = |t: usize| ((start + t * (1 + start % 4)) % 11) as u16;
    let target = |t: usize| if (length - t) % 3 == 1 { (token(t) + token(t.saturating_sub(1))) % 10 } else { NO_LOSS };
    ((0..length).map(token).collect(), (0..length).map(target).collect())
}

fn write(folder: &Path, vocabulary: &Vocabulary, rows: impl IntoIterator<Item = Row>) {
    let mut writer = SequencesWriter::create(folder, vocabulary, 1_000).unwrap();
    for (number, (tokens, targets)) in rows.into_iter().enumerate() {
        writer.push(Sequence { id: &format!("row{number}"), tokens: &tokens, targets: &targets }).unwrap();
    }
    writer.finish().unwrap();
}

/// A folder with a training set of 11 sequences and a validation set of 3.
fn data_of(form: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("train"), &vocabulary(form), (0..11).map(|number| row(3 + 2 * number, number)));
    write(&folder.path().join("validation"), &vocabulary(form), (0..3).map(|number| row(6 + number, number)));
    folder
}

fn data() -> TempDir {
    data_of("letters")
}

fn trial(work: &Path, data: &Path, more: &[(&str, Value)]) -> Trial {
    let common = [
        ("size", text("d16/l1")),
        ("epochs", Value::Int(3)),
        ("batch_size", Value::Int(4)),
        ("lr", Value::Float(1e-2)),
        ("warmup", Value::Int(2)),
        ("dropout", Value::Float(0.1)),
        ("validation_every", Value::Int(2)),
        ("checkpoint_every", Value::Int(4)),
        ("micro_batch_tokens", Value::Int(30)),
        ("curve_every", Value::Int(1)),
        ("seed", Value::Int(5)),
    ];
    let trial = Trial::new(work).input("train", data.join("train")).input("validation", data.join("validation"));
    let trial = common.into_iter().fold(trial, |trial, (name, value)| trial.with(name, value));
    more.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone()))
}

/// Trains in a folder of its own; returns that.
fn trained(data: &Path, more: &[(&str, Value)]) -> TempDir {
    let work = tempfile::tempdir().unwrap();
    trial(work.path(), data, more).run(&Learn).unwrap();
    work
}

/// The lines of the curves that a run wrote.
fn curves(work: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(work.join("out/curves.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Losses of the lines of a kind.
fn losses(work: &Path, kind: &str) -> Vec<f64> {
    let of_kind = curves(work).into_iter().filter(|line| line["kind"] == kind);
    of_kind.map(|line| line["loss"].as_f64().unwrap()).collect()
}

/// All bytes that a run wrote.
fn written(work: &Path) -> Vec<Vec<u8>> {
    ["checkpoint/model.safetensors", "checkpoint/model.json", "curves.jsonl", "summary.json"]
        .map(|file| std::fs::read(work.join("out").join(file)).unwrap())
        .into()
}
