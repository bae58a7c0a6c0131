//! The stage as a whole, on games made here.

use std::path::Path;
use std::sync::Mutex;

use cwm_chess::{DatasetRow, DatasetWriter};
use cwm_contract::testing::Trial;
use cwm_contract::{
    Cancellation, Context, Event, Failure, FailureKind, GroupInput, Label, Parameters, Reporter, Resources, Stage,
    Task, Value, Values,
};
use cwm_encoding::{EnPassant, LABELS, START, replay_into};
use cwm_models::checkpoint;

use crate::Train;
use crate::config::Config;

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
        ("size", Value::Text("d16/l1".into())),
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

/// All bytes that a run wrote.
fn written(work: &Path) -> Vec<Vec<u8>> {
    ["checkpoint/model.safetensors", "checkpoint/model.json", "curves.jsonl"]
        .map(|file| std::fs::read(work.join("out").join(file)).unwrap())
        .into()
}

#[test]
fn the_outputs_are_what_the_formats_say() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let outcome = trial(work.path(), data.path(), &[]).run(&Train).unwrap();
    let (description, network, weights) = checkpoint::read(&outcome.outputs["checkpoint"]).unwrap();
    assert_eq!(description.status, checkpoint::Status::Finished);
    assert_eq!(network.architecture().size.to_string(), "d16/l1");
    assert_eq!(description.training["steps"], 9);
    assert_ne!(weights.values(), network.initial_weights(5).values());
    let described = std::fs::read(outcome.outputs["checkpoint"].join(checkpoint::DESCRIPTION_FILE)).unwrap();
    assert_eq!(std::fs::read(&outcome.outputs["summary"]).unwrap(), described);
    let curves = std::fs::read_to_string(&outcome.outputs["curves"]).unwrap();
    let lines: Vec<serde_json::Value> = curves.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let steps = |kind: &str| -> Vec<u64> {
        lines.iter().filter(|line| line["kind"] == kind).map(|line| line["step"].as_u64().unwrap()).collect()
    };
    assert_eq!(steps("train"), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // every second step and the end of each epoch of three
    assert_eq!(steps("validation"), [2, 3, 4, 6, 8, 9]);
    let losses: Vec<f64> = lines.iter().filter_map(|line| line["loss"].as_f64()).collect();
    assert_eq!(losses.len(), lines.len());
    assert!(losses.last().unwrap() < losses.first().unwrap(), "nothing was learnt: {losses:?}");
    assert_eq!(outcome.metrics["validation_loss"], *losses.last().unwrap());
}

#[test]
fn runs_are_equal_to_the_bit_whatever_the_cores() {
    let data = data();
    let run = |cores: usize, seed_dropout: i128| {
        let work = tempfile::tempdir().unwrap();
        let trial = trial(work.path(), data.path(), &[("seed_dropout", Value::Int(seed_dropout))]);
        trial.cores(cores).run(&Train).unwrap();
        written(work.path())
    };
    let one = run(1, 5);
    assert!(one == run(1, 5), "a second run differs");
    assert!(one == run(2, 5), "two cores differ from one");
    assert!(one == run(3, 5), "three cores differ from one");
    assert!(one[0] != run(1, 6)[0], "the seed of dropout changes nothing");
}

#[test]
fn a_precision_rounds_training_and_validation_and_little_changes() {
    let data = data();
    let losses = |precision: &str| -> Vec<f64> {
        let work = tempfile::tempdir().unwrap();
        let trial = trial(work.path(), data.path(), &[("precision", Value::Text(precision.into()))]);
        let outcome = trial.run(&Train).unwrap();
        let curves = std::fs::read_to_string(&outcome.outputs["curves"]).unwrap();
        let lines = curves.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.map(|line| line["loss"].as_f64().unwrap()).collect()
    };
    let strict = losses("fp32");
    for (precision, allowed) in [("tf32", 2e-3), ("bf16", 2e-2)] {
        let found = losses(precision);
        assert_eq!(found.len(), strict.len());
        for (found, strict) in found.iter().zip(&strict) {
            assert!(found != strict && (found / strict - 1.0).abs() < allowed, "{precision}: {found} {strict}");
        }
    }
}

#[test]
fn labels_that_games_carry_are_used_as_if_they_had_been_replayed() {
    let replayed = |tokens: &[u16]| {
        let mut labels = vec![0; tokens.len() * LABELS];
        replay_into(tokens, EnPassant::Always, &mut labels).unwrap();
        labels
    };
    // Of games that no replay knows: white passes at every move.
    let passing = |tokens: &[u16]| vec![1; tokens.len() * LABELS];
    let run = |change: fn(&mut Vec<u16>), labels: &dyn Fn(&[u16]) -> Option<Vec<u8>>| {
        let (data, work) = (data(), tempfile::tempdir().unwrap());
        std::fs::remove_dir_all(data.path().join("train")).unwrap();
        let mut games: Vec<_> = (0..11).map(|game| shuffle_knights(3 + game * 2, game % 2)).collect();
        games.iter_mut().for_each(change);
        carrying(&data.path().join("train"), games, labels);
        trial(work.path(), data.path(), &[]).run(&Train).map(|_| written(work.path()))
    };
    let plain = run(|_| {}, &|_| None).unwrap();
    assert!(plain == run(|_| {}, &|tokens| (tokens.len() % 4 == 0).then(|| replayed(tokens))).unwrap());
    assert!(plain != run(|_| {}, &|tokens| Some(passing(tokens))).unwrap());
    let pass = |tokens: &mut Vec<u16>| tokens[1] = 0;
    run(pass, &|tokens| Some(passing(tokens))).unwrap();
    let failure = run(pass, &|_| None).unwrap_err();
    assert!(failure.message.ends_with(": token 0 (a1a1) at ply 1 is not a legal move"), "{failure}");
}

/// Asks to stop when something is reported the `after`-th time.
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

/// Runs in `work` until `on` was reported `after` times.
fn run_until(work: &Path, data: &Path, on: fn(&Event) -> bool, after: usize) -> Result<(), Failure> {
    let mut values: Values =
        Config::specs().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?))).collect();
    values.extend(parameters().into_iter().map(|(name, value)| (name.to_owned(), value)));
    let input = |name: &str| (name.to_owned(), vec![GroupInput { label: Label::stage(name), path: data.join(name) }]);
    let output = |name: &str, file: &str| (name.to_owned(), work.join("out").join(file));
    let task = Task {
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
        kept: work.join("keep"),
        resources: Resources { cores: 2, ..Resources::default() },
        expected: Vec::new(),
    };
    let _ = std::fs::remove_dir_all(work.join("out"));
    for folder in ["out", "tmp", "keep"] {
        std::fs::create_dir_all(work.join(folder)).unwrap();
    }
    let cancellation = Cancellation::default();
    let stopper = Stopper { cancellation: cancellation.clone(), on, after: Mutex::new(after) };
    Train.run(&Context::new(&Train, task, Box::new(stopper), cancellation))
}

fn is_validated(event: &Event) -> bool {
    matches!(event, Event::Metric { name, .. } if name == "validation_loss")
}

fn is_validating(event: &Event) -> bool {
    matches!(event, Event::Doing(what) if what == "validating")
}

fn never(_: &Event) -> bool {
    false
}

#[test]
fn an_interrupted_run_ends_as_an_undisturbed_one() {
    let data = data();
    let undisturbed = tempfile::tempdir().unwrap();
    run_until(undisturbed.path(), data.path(), never, 1).unwrap();
    for (on, after) in
        [(is_validated as fn(&Event) -> bool, 1), (is_validated, 4), (is_validating, 2), (is_validating, 6)]
    {
        let work = tempfile::tempdir().unwrap();
        let failure = run_until(work.path(), data.path(), on, after).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Cancelled);
        assert!(!work.path().join("out/curves.jsonl").exists());
        run_until(work.path(), data.path(), never, 1).unwrap();
        assert!(written(work.path()) == written(undisturbed.path()), "stopped {after}");
    }
}

#[test]
fn a_run_continues_from_an_older_checkpoint_after_a_kill() {
    let data = data();
    let undisturbed = tempfile::tempdir().unwrap();
    run_until(undisturbed.path(), data.path(), never, 1).unwrap();
    // A killed process leaves its last checkpoints and more lines of curves than they know of.
    let kept = |work: &Path| -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(work.join("keep"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        kept(undisturbed.path()),
        ["curves.jsonl", "step-000000000004.safetensors", "step-000000000008.safetensors"]
    );
    let first = written(undisturbed.path());
    run_until(undisturbed.path(), data.path(), never, 1).unwrap();
    assert!(written(undisturbed.path()) == first);
    // The newer of the two is damaged: the older one serves.
    std::fs::write(undisturbed.path().join("keep/step-000000000008.safetensors"), b"torn").unwrap();
    run_until(undisturbed.path(), data.path(), never, 1).unwrap();
    assert!(written(undisturbed.path()) == first);
}

#[test]
fn bad_parameters_are_refused_in_words() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let error = |name: &str, value: Value| {
        trial(work.path(), data.path(), &[(name, value)]).run(&Train).map(|_| ()).unwrap_err().message
    };
    assert!(
        error("family", Value::Text("lstm".into()))
            .starts_with("parameter `family` is unknown: there is no family `lstm`; known are transformer")
    );
    assert!(error("size", Value::Text("big".into())).starts_with("parameter `size` is wrong: `big` is not a size"));
    assert_eq!(
        error("size", Value::Text("d200/l1".into())),
        "parameter `size` makes no model: size d200/l1: a width of 200 does not divide among 3 heads"
    );
    assert_eq!(error("steps", Value::Int(3)), "parameter `steps` must not be given together with `epochs`");
    assert_eq!(error("lr", Value::Float(0.0)), "parameter `lr` must be a positive number");
    assert_eq!(error("dropout", Value::Float(1.0)), "parameter `dropout` must be from 0 to below 1");
}

#[test]
fn a_game_that_is_none_is_named() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let mut bad = shuffle_knights(6, 0);
    bad[3] = bad[1];
    std::fs::remove_dir_all(data.path().join("train")).unwrap();
    dataset(&data.path().join("train"), [shuffle_knights(5, 0), bad]);
    let failure = trial(work.path(), data.path(), &[]).run(&Train).map(|_| ()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Input);
    assert!(failure.message.starts_with("input `train`, game 1 (game1): token "), "{}", failure.message);
    assert!(failure.message.ends_with(" at ply 3 is not a legal move"), "{}", failure.message);
}

#[test]
fn a_run_without_finite_losses_ends_as_diverged() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let trial = trial(
        work.path(),
        data.path(),
        &[("lr", Value::Float(1e38)), ("warmup", Value::Int(0)), ("epochs", Value::Int(40))],
    );
    let outcome = trial.run(&Train).unwrap();
    let (description, _, weights) = checkpoint::read(&outcome.outputs["checkpoint"]).unwrap();
    assert_eq!(description.status, checkpoint::Status::Diverged);
    assert!(weights.is_finite());
    assert!(description.training["skipped"].as_u64().unwrap() >= 20);
}
