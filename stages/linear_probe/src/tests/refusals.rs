//! Parameters and inputs that are refused, and the messages.

use std::path::Path;

use cwm_chess::{DatasetRow, DatasetWriter, sample};
use cwm_contract::testing::Trial;
use cwm_contract::{Event, Failure, Parameters, Stage, Value, Values};
use cwm_encoding::{LABELS, START};
use cwm_inside::ModelTask;
use cwm_inside::linear_probe::LinearProbes;
use cwm_inside::sample::write_checkpoint;
use serde_json::json;

use super::stage::run;
use crate::LinearProbe;
use crate::config::Config;

fn failure(task: ModelTask, given: &[(&str, Value)]) -> Failure {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), task, if task == ModelTask::Moves { "gpt" } else { "transformer" }, given).err().unwrap()
}

fn message(task: ModelTask, given: &[(&str, Value)]) -> String {
    failure(task, given).message
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

#[test]
fn what_does_not_fit_the_model_is_named() {
    let layers = Value::List(vec![Value::Int(3)]);
    assert_eq!(
        message(ModelTask::Moves, &[("layers", layers)]),
        "`layers` has layer 3, and gpt d32/l2 has layers 0 to 2"
    );
    assert_eq!(
        message(ModelTask::State, &[("phase", text("1"))]),
        "`phase` is 1, and transformer d32/l2 reads whole moves, which have no phase"
    );
    assert_eq!(
        message(ModelTask::Moves, &[("max_tokens", Value::Int(4_000))]),
        "`max_tokens` is 4000, and gpt d32/l2 reads 512 tokens at most"
    );
    assert_eq!(
        message(ModelTask::Moves, &[("family", text("slice"))]),
        "the checkpoint is of family `gpt`, but `family` is `slice`"
    );
    let failure = failure(ModelTask::Moves, &[("phase", text("4")), ("max_tokens", Value::Int(3))]);
    assert!(failure.hint.as_deref().unwrap().starts_with("`last: 0` looks at all tokens"));
    assert_eq!(
        failure.message,
        "no token of the games of input `train` is read (`last`, `phase`, `max_tokens`): 0 games are too long, 0 are of other rules"
    );
}

#[test]
fn games_too_long_and_of_other_rules_are_dropped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let [checkpoint, games, test] = ["checkpoint", "games", "test"].map(|name| folder.path().join(name));
    write_checkpoint(&checkpoint, ModelTask::State, "transformer", "d32/l1", 4).unwrap();
    sample::write_train_and_test(&folder.path().join("train"), &test).unwrap();
    // Two games have one name; the labels of the last are its boards.
    let mut writer = DatasetWriter::create(&games, 9).unwrap().labelled(true);
    let tokens: Vec<u16> = std::iter::once(START).chain(sample::games()[3].iter().map(|one| one.token())).collect();
    let boards = vec![1; tokens.len() * LABELS];
    for (index, labels) in [(0, None), (1, None), (2, Some(&boards[..]))] {
        writer.push(DatasetRow { index, id: "same", tokens: &tokens, result: "*", labels }).unwrap();
    }
    writer.finish().unwrap();
    let run = |train: &Path, test: &Path, name: &str| {
        let trial = Trial::new(folder.path().join(name)).with("epochs", Value::Int(1)).with("resamples", Value::Int(9));
        trial.input("checkpoint", &checkpoint).input("train", train).input("test", test).run(&LinearProbe)
    };
    let outcome = run(&games, &test, "train-of-both").unwrap();
    let training = LinearProbes::read(&outcome.outputs["probes"]).unwrap().description.training;
    let counts = (&training["games"], &training["rows"], &training["dropped"]);
    assert_eq!(counts, (&json!(2), &json!(10), &json!({ "other_rules": 1, "too_long": 0 })));
    let is = |line: &str| outcome.events.iter().any(|event| matches!(event, Event::Log(text) if text == line));
    // The rows of each of two layers have 32 channels of 4 bytes.
    assert!(is("train: 10 rows of 2 games; scratch files of 2560 bytes, 10 rows × 2 layers × 32 × 4"));
    let measured = run(&test, &games, "test-of-both").unwrap();
    assert_eq!(cwm_findings::read(&measured.outputs["findings"]).unwrap()[0].n, 10);
    // 270 plies are more than 512 words.
    let long = folder.path().join("long");
    sample::write_dataset(&long, sample::games().iter().take(1)).unwrap();
    std::fs::remove_dir_all(&checkpoint).unwrap();
    write_checkpoint(&checkpoint, ModelTask::Moves, "gpt", "d32/l1", 4).unwrap();
    let failure = run(&long, &test, "too-long").err().unwrap();
    assert!(failure.message.ends_with(": 1 games are too long, 0 are of other rules"), "{failure}");
    assert_eq!(failure.hint.unwrap(), "`max_tokens` cuts long games in place of dropping them");
}

#[test]
fn a_game_to_train_on_is_not_measured_on() {
    let folder = tempfile::tempdir().unwrap();
    let [checkpoint, train, test] = ["checkpoint", "train", "test"].map(|name| folder.path().join(name));
    write_checkpoint(&checkpoint, ModelTask::Moves, "gpt", "d32/l1", 4).unwrap();
    sample::write_train_and_test(&train, &test).unwrap();
    let trial = Trial::new(folder.path().join("trial")).with("epochs", Value::Int(1));
    let failure = trial
        .input("checkpoint", checkpoint)
        .input("train", &train)
        .input("test", &train)
        .run(&LinearProbe)
        .err()
        .unwrap();
    assert!(failure.message.starts_with("game sample_0"), "{failure}");
    assert!(failure.message.ends_with("is among the games to train on, and is to be measured on"), "{failure}");
}

/// All parameters, of which some are given.
fn values(given: &[(&str, Value)]) -> Values {
    let defaults = Config::specs().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
    defaults.chain(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()))).collect()
}

#[test]
fn what_is_of_the_stream_is_refused_beside_an_autoencoder() {
    let wrong = |name: &str, inputs: &[&str]| {
        LinearProbe.check_inputs_for(&values(&[(name, Value::Bool(true))]), inputs).unwrap_or_default()
    };
    for name in ["composition", "normed"] {
        let message = format!("has an `autoencoder`, and `{name}` is of the stream");
        assert_eq!(wrong(name, &["checkpoint", "autoencoder"]), message);
        assert_eq!(wrong(name, &["checkpoint"]), "");
    }
    assert_eq!(LinearProbe.check_inputs_for(&values(&[]), &["checkpoint", "autoencoder"]), None);
}

#[test]
fn what_has_no_effect_is_no_part_of_the_key() {
    let unused = |given: &[(&str, Value)]| LinearProbe.unused_parameters(&values(given));
    assert_eq!(unused(&[]), ["untrained_seed"]);
    assert!(unused(&[("network", text("untrained"))]).is_empty());
    let of_difference = unused(&[("method", text("difference"))]);
    assert!(of_difference.contains(&"lr") && of_difference.contains(&"epochs") && !of_difference.contains(&"seed"));
}

#[test]
fn parameters_that_cannot_be_meant_are_refused() {
    let faults = |given: &[(&str, Value)]| {
        let faults = LinearProbe.check(&values(given));
        faults.iter().map(|fault| fault.parameter.to_string()).collect::<Vec<_>>()
    };
    assert!(faults(&[]).is_empty());
    assert_eq!(faults(&[("lr", Value::Float(0.0))]), ["lr"]);
    assert_eq!(faults(&[("layers", Value::List([1, 0, 1].map(Value::Int).into()))]), ["layers"]);
    assert_eq!(faults(&[("beta2", Value::Float(1.0))]), ["beta2"]);
    assert_eq!(faults(&[("composition", Value::Bool(true)), ("target", text("mine"))]), ["composition"]);
    assert_eq!(faults(&[("cut", text("random")), ("max_tokens", Value::Int(11))]), ["max_tokens"]);
    assert_eq!(faults(&[("family", text("elman"))]), ["family"]);
}
