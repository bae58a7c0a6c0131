//! `checkpoint: best`: the weights of the lowest validation loss.

use std::path::Path;

use cwm_contract::{Event, Value};
use cwm_models::checkpoint;
use cwm_models::heads::labels::LOGITS;
use serde_json::{Map, json};

use super::{curves, data, run_until_with, text, trial, written};
use crate::Train;

/// A training of nine steps, so large that it is worse after the last than after the one before.
fn steep(which: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("checkpoint", text(which)),
        ("lr", Value::Float(0.3)),
        ("schedule", text("constant")),
        ("dropout", Value::Float(0.0)),
    ]
}

fn trained(data: &Path, more: &[(&str, Value)]) -> (tempfile::TempDir, Map<String, serde_json::Value>, Vec<f32>) {
    let work = tempfile::tempdir().unwrap();
    let outcome = trial(work.path(), data, more).run(&Train).unwrap();
    let (description, _, weights) = checkpoint::read(&outcome.outputs["checkpoint"], LOGITS).unwrap();
    (work, description.training, weights.values().to_vec())
}

#[test]
fn the_weights_are_those_of_the_lowest_validation_loss_and_it_is_reported() {
    let data = data();
    let (work, training, weights) = trained(data.path(), &steep("best"));
    let lines = curves(work.path());
    let of_validation = lines.iter().filter(|line| line["kind"] == "validation");
    let losses: Vec<(u64, f64)> =
        of_validation.map(|line| (line["step"].as_u64().unwrap(), line["loss"].as_f64().unwrap())).collect();
    let lowest = losses.iter().copied().reduce(|best, one| if one.1 < best.1 { one } else { best }).unwrap();
    let last = *losses.last().unwrap();
    assert!(lowest.0 < last.0 && lowest.1 < last.1, "a training that shows nothing: {losses:?}");
    assert_eq!(training["checkpoint"], "best");
    assert_eq!((&training["checkpoint_step"], &training["steps"]), (&json!(lowest.0), &json!(last.0)));
    assert_eq!(training["checkpoint_validation"]["loss"], lowest.1);
    // What `select` compares is the last, whatever is given out.
    assert_eq!(training["validation"]["loss"], last.1);

    // They are the weights of a training that ended there.
    let mut there = steep("last");
    there.extend([("epochs", Value::Null), ("steps", Value::Int(lowest.0.into()))]);
    let (_, ended, expected) = trained(data.path(), &there);
    assert!(weights == expected);
    assert_eq!(ended["validation"], training["checkpoint_validation"]);
    // And one that keeps the last says nothing of it, as ever.
    assert!(ended.keys().all(|key| !key.starts_with("checkpoint")));
    let (other, ..) = trained(data.path(), &steep("last"));
    assert_eq!(curves(other.path()), lines, "the training is the same");
}

#[test]
fn the_best_survives_an_interruption() {
    let data = data();
    let never = |_: &Event| false;
    let run = |work: &Path, on: fn(&Event) -> bool, after| run_until_with(work, data.path(), &steep("best"), on, after);
    let undisturbed = tempfile::tempdir().unwrap();
    run(undisturbed.path(), never, 1).unwrap();
    let is_validated = |event: &Event| matches!(event, Event::Metric { name, .. } if name == "validation_loss");
    for after in [1, 3, 5] {
        let work = tempfile::tempdir().unwrap();
        run(work.path(), is_validated, after).unwrap_err();
        run(work.path(), never, 1).unwrap();
        assert!(written(work.path()) == written(undisturbed.path()), "stopped at validation {after}");
    }
}

#[test]
fn without_a_validation_set_nothing_is_best() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let trial = cwm_contract::testing::Trial::new(work.path()).input("train", data.path().join("train"));
    let trial = trial.with("size", text("d16/l1")).with("checkpoint", text("best"));
    let failure = trial.run(&Train).map(|_| ()).unwrap_err();
    assert!(failure.message.contains("`checkpoint: best` needs the input `validation`"), "{failure}");
}
