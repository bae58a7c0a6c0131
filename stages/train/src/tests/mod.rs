//! The stage as a whole, on games made here.

use std::path::Path;
use std::sync::Mutex;

use cwm_chess::{DatasetRow, DatasetWriter};
use cwm_contract::testing::Trial;
use cwm_contract::{
    Cancellation, Context, Event, Failure, GroupInput, Invocation, Label, Parameters, Reporter, Resources, Stage,
    Value, Values,
};
use cwm_encoding::START;

use crate::Train;
use crate::config::Config;

mod best;
mod checkpoints;
mod choices;
mod order;
mod outputs;
mod refusals;
mod resume;
mod validation;
mod warm_start;

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// Moves a knight out and back: `plies` plies of a legal game.
fn shuffle_knights(plies: usize, side: usize) -> Vec<u16> {
    // b1c3, b8c6, c3b1, c6b8 or the king's knights
    let cycle: [(u16, u16); 4] =
        if side == 0 { [(1, 18), (57, 42), (18, 1), (42, 57)] } else { [(6, 21), (62, 45), (21, 6), (45, 62)] };
    let moves = (0..plies).map(|ply| cycle[ply % 4]).map(|(from, to)| (from * 64 + to) * 5);
    std::iter::once(START).chain(moves).collect()
}

fn dataset(folder: &Path, games: impl IntoIterator<Item = Vec<u16>>) {
    carrying(folder, games, |_| None);
}

/// A dataset whose games carry the labels that `labels` gives.
fn carrying(folder: &Path, games: impl IntoIterator<Item = Vec<u16>>, labels: impl Fn(&[u16]) -> Option<Vec<u8>>) {
    let mut writer = DatasetWriter::create(folder, 1_000_000).unwrap().labelled(true);
    for (index, tokens) in games.into_iter().enumerate() {
        let (id, labels) = (format!("game{index}"), labels(&tokens));
        let (index, labels) = (index as u64, labels.as_deref());
        writer.push(DatasetRow { index, id: &id, tokens: &tokens, result: "*", labels }).unwrap();
    }
    writer.finish().unwrap();
}

/// A folder with a training set of 11 games and a validation set of 3.
fn data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    dataset(&folder.path().join("train"), (0..11).map(|game| shuffle_knights(3 + game * 2, game % 2)));
    dataset(&folder.path().join("validation"), (0..3).map(|game| shuffle_knights(4 + game, game % 2)));
    folder
}

fn parameters() -> Vec<(&'static str, Value)> {
    vec![
        ("size", text("d16/l1")),
        ("epochs", Value::Int(3)),
        ("batch_size", Value::Int(4)),
        ("warmup", Value::Int(2)),
        ("validation_every", Value::Int(2)),
        ("checkpoint_every", Value::Int(4)),
        ("micro_batch_tokens", Value::Int(40)),
        ("curve_every", Value::Int(1)),
        ("seed", Value::Int(5)),
    ]
}

fn trial(work: &Path, data: &Path, more: &[(&str, Value)]) -> Trial {
    let trial = Trial::new(work).input("train", data.join("train")).input("validation", data.join("validation"));
    let trial = parameters().into_iter().fold(trial, |trial, (name, value)| trial.with(name, value));
    more.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone()))
}

/// The lines of the curves that a run wrote.
fn curves(work: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(work.join("out/curves.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// All bytes that a run wrote.
fn written(work: &Path) -> Vec<Vec<u8>> {
    ["checkpoint/model.safetensors", "checkpoint/model.json", "curves.jsonl"]
        .map(|file| std::fs::read(work.join("out").join(file)).unwrap())
        .into()
}

/// Cancels the stage at the `after`-th event for which `on` is true.
struct Stopper {
    cancellation: Cancellation,
    on: fn(&Event) -> bool,
    after: Mutex<usize>,
}

impl Reporter for Stopper {
    fn report(&self, event: Event) {
        if (self.on)(&event) {
            let mut left = self.after.lock().unwrap();
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.cancellation.cancel();
            }
        }
    }
}

/// Runs in `work` until `on` was true of `after` events.
fn run_until(work: &Path, data: &Path, on: fn(&Event) -> bool, after: usize) -> Result<(), Failure> {
    run_until_with(work, data, &[], on, after)
}

/// The same with further parameters.
fn run_until_with(
    work: &Path,
    data: &Path,
    more: &[(&str, Value)],
    on: fn(&Event) -> bool,
    after: usize,
) -> Result<(), Failure> {
    let mut values: Values =
        Config::specs().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?))).collect();
    values.extend(parameters().into_iter().map(|(name, value)| (name.to_owned(), value)));
    values.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let input = |name: &str| (name.to_owned(), vec![GroupInput { label: Label::stage(name), path: data.join(name) }]);
    let output = |name: &str, file: &str| (name.to_owned(), work.join("out").join(file));
    let invocation = Invocation {
        values,
        inputs: [input("train"), input("validation")].into(),
        outputs: [
            output("checkpoint", "checkpoint"),
            output("curves", "curves.jsonl"),
            output("summary", "summary.json"),
            output("state", "state"),
        ]
        .into(),
        temporary: work.join("tmp"),
        checkpoint_dir: work.join("checkpoints"),
        resources: Resources { cores: 2, ..Resources::default() },
        expected: Vec::new(),
    };
    let _ = std::fs::remove_dir_all(work.join("out"));
    for folder in ["out", "tmp", "checkpoints"] {
        std::fs::create_dir_all(work.join(folder)).unwrap();
    }
    let cancellation = Cancellation::default();
    let stopper = Stopper { cancellation: cancellation.clone(), on, after: Mutex::new(after) };
    Train.run(&Context::new(&Train, invocation, Box::new(stopper), cancellation))
}
