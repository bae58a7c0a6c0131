//! The input `choice`.

use std::path::Path;

use cwm_contract::{Failure, Value};
use serde_json::json;

use super::{data, text, trial, written};
use crate::Train;
use crate::resolved_config::MAY_CHOOSE;

/// Trains with a choice of this text.
fn train(data: &Path, choice: &str, more: &[(&str, Value)]) -> Result<Vec<Vec<u8>>, Failure> {
    let work = tempfile::tempdir().unwrap();
    let path = work.path().join("choice.json");
    std::fs::write(&path, choice).unwrap();
    trial(work.path(), data, more).input("choice", &path).run(&Train).map(|_| written(work.path()))
}

fn choice(parameters: &str) -> String {
    format!("{{\"family\":\"transformer\",\"format\":1,\"parameters\":{{{parameters}}},\"size\":\"d16/l1\"}}\n")
}

#[test]
fn what_was_chosen_is_trained_with() {
    let data = data();
    let work = tempfile::tempdir().unwrap();
    let given = [("lr", Value::Float(0.01)), ("weight_decay", Value::Float(0.0)), ("schedule", text("constant"))];
    trial(work.path(), data.path(), &given).run(&Train).unwrap();
    // A whole number stands without a point.
    let chosen = choice(r#""lr":0.01,"schedule":"constant","weight_decay":0"#);
    assert!(train(data.path(), &chosen, &[]).unwrap() == written(work.path()));
    // What is given alike does no harm.
    assert!(train(data.path(), &chosen, &given).unwrap() == written(work.path()));
}

#[test]
fn whatever_may_be_chosen_and_decides_bits_is_reported() {
    let data = data();
    let told = |more: &[(&str, Value)]| {
        let work = tempfile::tempdir().unwrap();
        let outcome = trial(work.path(), data.path(), more).run(&Train).unwrap();
        let summary = std::fs::read(&outcome.outputs["summary"]).unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
        summary["training"].as_object().unwrap().clone()
    };
    let plain = told(&[("dropout", Value::Float(0.25))]);
    for name in MAY_CHOOSE {
        assert!(plain.get(name).is_some_and(|value| value.is_number() || value.is_string()), "{name}: {plain:?}");
    }
    assert_eq!((&plain["dropout"], &plain["micro_batch_tokens"]), (&json!(0.25), &json!(40)));
    let idle = ["shard_games", "workers", "bucket_batches"];
    assert!(idle.iter().all(|name| !plain.contains_key(*name)), "{plain:?}");
    let all = told(&[
        ("order", text("authors")),
        ("shard_games", Value::Int(4)),
        ("workers", Value::Int(2)),
        ("batching", text("bucketed")),
        ("bucket_batches", Value::Int(2)),
    ]);
    assert_eq!(idle.map(|name| &all[name]), [&json!(4), &json!(2), &json!(2)]);
}

#[test]
fn a_choice_that_does_not_fit_is_refused_in_words() {
    let data = data();
    let message = |text: &str, more: &[(&str, Value)]| {
        let failure = train(data.path(), text, more).unwrap_err();
        failure.message.split_once("choice.json) ").unwrap().1.to_owned()
    };
    let lr = choice(r#""lr":0.01"#);
    assert_eq!(message(&lr, &[("lr", Value::Float(0.02))]), "has `lr` 0.01, and this training's is given as 0.02");
    assert_eq!(message(&lr.replace("d16/l1", "d32/l1"), &[]), "is for size `d32/l1`, and this training's is `d16/l1`");
    assert_eq!(
        message(&lr.replace("transformer", "slice"), &[]),
        "is for family `slice`, and this training's is `transformer`"
    );
    assert_eq!(message(&lr.replace("\"format\":1", "\"format\":2"), &[]), "has format 2, this build reads 1");
    assert!(
        message(&choice(r#""seed":3"#), &[]).starts_with("has a `seed`; what can be chosen are batch_size, beta2,")
    );
    assert!(message(&choice(r#""lr":"high""#), &[]).starts_with("has a `lr` that must be a number"));
    assert!(message("{}", &[]).starts_with("is no choice of hyper-parameters: "));
    assert!(message(&lr.replace("\"size\"", "\"loss\":1,\"size\""), &[]).contains("unknown field `loss`"));
    let failure = train(data.path(), &choice(r#""beta2":2"#), &[]).unwrap_err();
    assert_eq!(failure.message, "parameter `beta2` must be from 0 to below 1");
}
