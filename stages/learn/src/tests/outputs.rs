//! The outputs of a training, and their dependencies.

use cwm_contract::Value;
use cwm_models::checkpoint::{self, Status};
use serde_json::json;

use super::{curves, data, losses, row, text, trained, trial, vocabulary, write, written};
use crate::Learn;

#[test]
fn a_model_learns_and_describes_itself() {
    let data = data();
    // Measured on what it learns from: there is too little of it to learn a rule.
    std::fs::remove_dir_all(data.path().join("validation")).unwrap();
    write(&data.path().join("validation"), &vocabulary("letters"), (0..11).map(|number| row(3 + 2 * number, number)));
    let work = trained(data.path(), &[("epochs", Value::Int(60))]);
    let (train, validation) = (losses(work.path(), "train"), losses(work.path(), "validation"));
    // Before it has learnt anything it is near a uniform guess among ten.
    assert!((train[0] - 10f64.ln()).abs() < 0.2, "{}", train[0]);
    assert!(train.last().unwrap() < &0.5 && validation.last().unwrap() < &0.2, "{train:?} {validation:?}");
    let last = curves(work.path()).pop().unwrap();
    assert!(last["best"].as_f64().unwrap() > 0.95, "{last}");

    let out = work.path().join("out");
    let (description, network, weights) = checkpoint::read(&out.join("checkpoint"), 10).unwrap();
    assert_eq!(description.status, Status::Finished);
    assert_eq!(description.parameters, weights.values().len() as u64);
    assert_eq!((network.architecture().vocabulary, network.longest()), (12, Some(24)));
    assert_eq!(
        std::fs::read(out.join("summary.json")).unwrap(),
        std::fs::read(out.join("checkpoint/model.json")).unwrap()
    );
    let training = description.training;
    assert_eq!(training["vocabulary"], json!(vocabulary("letters")));
    assert_eq!(
        (&training["rows"], &training["steps"], &training["steps_per_epoch"]),
        (&json!(11), &json!(180), &json!(3))
    );
    assert_eq!(
        (&training["lr"], &training["weight_decay"], &training["dropout"]),
        (&json!(0.01), &json!(0.1), &json!(0.1))
    );
    let keys: Vec<&String> = last.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["best", "kind", "loss", "positions", "step"]);
    assert_eq!(
        training["validation"],
        json!({ "loss": last["loss"], "best": last["best"], "positions": last["positions"] })
    );
}

#[test]
fn the_first_rows_alone_are_learnt_from() {
    let data = data();
    let work = trained(data.path(), &[("rows", Value::Int(5))]);
    let (description, ..) = checkpoint::read(&work.path().join("out/checkpoint"), 10).unwrap();
    assert_eq!((&description.training["rows"], &description.training["steps_per_epoch"]), (&json!(5), &json!(2)));
}

#[test]
fn equal_runs_are_equal_bytes_on_any_number_of_cores() {
    let data = data();
    for options in [Value::Map(Default::default()), Value::Map([("tied".to_owned(), text("true"))].into())] {
        let run = |cores| {
            let work = tempfile::tempdir().unwrap();
            trial(work.path(), data.path(), &[("options", options.clone())]).cores(cores).run(&Learn).unwrap();
            written(work.path())
        };
        let one = run(1);
        assert!(one == run(16) && one == run(2));
    }
}

#[test]
fn parameters_have_their_say() {
    let data = data();
    let usual = written(trained(data.path(), &[]).path());
    for other in [
        ("seed_data", Value::Int(3)),
        ("seed_init", Value::Int(3)),
        ("seed_dropout", Value::Int(3)),
        ("precision", text("bf16")),
        ("batching", text("bucketed")),
        ("schedule", text("linear")),
        ("weight_decay", Value::Float(0.3)),
        ("beta2", Value::Float(0.9)),
        ("clip", Value::Float(0.1)),
        ("checkpoint", text("best")),
    ] {
        let work = trained(data.path(), std::slice::from_ref(&other));
        assert!(written(work.path()) != usual, "{}", other.0);
    }
}

/// The gradient of a batch does not depend on how it is cut, but for rounding.
#[test]
fn micro_batches_add_up_to_the_batch() {
    let data = data();
    let of = |tokens: i128| {
        let more = [("micro_batch_tokens", Value::Int(tokens)), ("dropout", Value::Float(0.0))];
        losses(trained(data.path(), &more).path(), "train")
    };
    let whole = of(10_000);
    for (one, other) in of(1).iter().zip(&whole) {
        assert!((one - other).abs() < 1e-4 * other, "{one} {other}");
    }
}
