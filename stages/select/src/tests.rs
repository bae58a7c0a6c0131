//! The stage as a whole, on summaries made here.

use std::path::Path;

use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Event, Failure, Stage, Value};
use proptest::prelude::*;
use serde_json::json;

use crate::Select;
use crate::scalar::Scalar;

mod overrides;

/// A training of slice d128/l1 that finished: its label's coordinates, and its last loss, exact and labelwise.
fn training(at: &str, loss: f64, exact: f64, labelwise: f64) -> (String, serde_json::Value) {
    let mut training = json!({
        "steps": 70, "lr": 0.001, "warmup": 5000, "beta2": 0.95, "weight_decay": 0.0,
        "validation": { "loss": loss, "exact": exact, "labelwise": labelwise, "trajectory": 0.0, "games": 1280 },
    });
    for (axis, value) in at.split(',').filter_map(|part| part.split_once('=')) {
        training[axis] = value.parse::<f64>().expect("a number").into();
    }
    let summary = json!({
        "format": 1,
        "architecture": { "family": "slice", "size": "d128/l1", "vocabulary": 20482, "dropout": 0.1, "options": {} },
        "parameters": 3_144_150, "status": "finished", "training": training,
    });
    (format!("sweep[{at}]"), summary)
}

fn trial(folder: &Path, trainings: &[(String, serde_json::Value)]) -> Trial {
    trainings.iter().enumerate().fold(Trial::new(folder.join("work")), |trial, (index, (label, summary))| {
        let path = folder.join(format!("{index}.json"));
        std::fs::write(&path, serde_json::to_string_pretty(summary).unwrap()).unwrap();
        trial.labelled("summaries", label.parse().unwrap(), path)
    })
}

fn choice(outcome: &Outcome) -> String {
    std::fs::read_to_string(&outcome.outputs["choice"]).unwrap()
}

fn candidates(outcome: &Outcome) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(&outcome.outputs["candidates"]).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Labels in the order of their ranks.
fn ranked(trainings: &[(String, serde_json::Value)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let outcome = trial(folder.path(), trainings).run(&Select).unwrap();
    let ranked = candidates(&outcome).into_iter().filter(|line| !line["rank"].is_null());
    ranked.map(|line| line["label"].as_str().unwrap().replace("sweep[", "").replace(']', "")).collect()
}

fn refused(result: Result<Outcome, Failure>) -> String {
    match result {
        Ok(_) => panic!("it was accepted"),
        Err(failure) => failure.message,
    }
}

#[test]
fn the_lowest_last_loss_is_chosen_and_the_files_are_what_the_formats_say() {
    let folder = tempfile::tempdir().unwrap();
    let trainings = [
        training("lr=0.003", 0.2, 0.4, 0.9),
        training("lr=0.001", 0.1, 0.3, 0.8),
        training("lr=0.0001", 0.3, 0.5, 1.0),
    ];
    let outcome = trial(folder.path(), &trainings).run(&Select).unwrap();
    assert_eq!(
        choice(&outcome),
        "{\"family\":\"slice\",\"format\":1,\"parameters\":{\"beta2\":0.95,\"lr\":0.001,\"warmup\":5000,\
         \"weight_decay\":0},\"size\":\"d128/l1\"}\n"
    );
    let lines = candidates(&outcome);
    assert_eq!(
        lines[0],
        json!({
            "rank": 1, "chosen": true, "why": "best", "label": "sweep[lr=0.001]", "family": "slice",
            "size": "d128/l1", "status": "finished", "steps": 70,
            "parameters": { "beta2": 0.95, "lr": 0.001, "warmup": 5000, "weight_decay": 0 },
            "settings": { "beta2": 0.95, "lr": 0.001, "warmup": 5000, "weight_decay": 0 },
            "loss": 0.1, "labelwise": 0.8, "exact": 0.3, "trajectory": 0.0,
        })
    );
    let rest: Vec<_> = lines[1..].iter().map(|line| (&line["rank"], &line["chosen"], &line["label"])).collect();
    let [two, three, no] = [json!(2), json!(3), json!(false)];
    let (second, third) = (json!("sweep[lr=0.003]"), json!("sweep[lr=0.0001]"));
    assert_eq!(rest, [(&two, &no, &second), (&three, &no, &third)]);
    assert_eq!(outcome.metrics["validation_loss"], 0.1);
}

#[test]
fn ties_are_broken_by_exact_state_then_labels_then_the_smaller_parameters_then_the_label() {
    let exact = [training("lr=0.001", 0.1, 0.3, 0.9), training("lr=0.003", 0.1, 0.4, 0.8)];
    assert_eq!(ranked(&exact), ["lr=0.003", "lr=0.001"]);
    let labelwise = [training("lr=0.001", 0.1, 0.3, 0.8), training("lr=0.003", 0.1, 0.3, 0.9)];
    assert_eq!(ranked(&labelwise), ["lr=0.003", "lr=0.001"]);
    let smaller = [
        training("lr=0.001,warmup=20000", 0.1, 0.3, 0.9),
        training("lr=0.003,warmup=5000", 0.1, 0.3, 0.9),
        training("lr=0.001,warmup=10000", 0.1, 0.3, 0.9),
    ];
    assert_eq!(ranked(&smaller), ["lr=0.001,warmup=10000", "lr=0.001,warmup=20000", "lr=0.003,warmup=5000"]);
    let label = [training("seed=2", 0.1, 0.3, 0.9), training("seed=1", 0.1, 0.3, 0.9)];
    assert_eq!(ranked(&label), ["seed=1", "seed=2"]);
}

#[test]
fn what_diverged_or_is_not_finite_is_set_aside_however_low_its_loss() {
    let folder = tempfile::tempdir().unwrap();
    let mut trainings = [
        training("lr=0.0001", 0.3, 0.1, 0.5),
        training("lr=0.0003", 0.2, 0.1, 0.5),
        training("lr=0.001", 0.1, 0.1, 0.5),
        training("lr=0.003", 0.1, 0.1, 0.5),
        training("lr=0.01", 0.1, 0.1, 0.5),
    ];
    trainings[1].1["status"] = "diverged".into();
    trainings[2].1["training"]["validation"]["loss"] = "nan".into();
    trainings[3].1["training"]["validation"]["loss"] = "-inf".into();
    trainings[4].1["training"]["validation"] = serde_json::Value::Null;
    let outcome = trial(folder.path(), &trainings).run(&Select).unwrap();
    assert!(choice(&outcome).contains("\"lr\":0.0001,"), "{}", choice(&outcome));
    let excluded: Vec<_> = candidates(&outcome)[1..]
        .iter()
        .map(|line| format!("{} {} {}", line["label"], line["why"], line["loss"]).replace('"', ""))
        .collect();
    assert_eq!(
        excluded,
        [
            "sweep[lr=0.0003] diverged 0.2",
            "sweep[lr=0.001] validation loss is not finite nan",
            "sweep[lr=0.003] validation loss is not finite -inf",
            "sweep[lr=0.01] never validated null",
        ]
    );
    let none = trial(folder.path(), &trainings[1..3]).run(&Select);
    assert_eq!(
        refused(none),
        "none of the trainings of slice d128/l1 can be chosen: sweep[lr=0.0003] (diverged), sweep[lr=0.001] \
         (validation loss is not finite)"
    );
}

#[test]
fn the_best_checkpoint_is_passed_on_and_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let mut trial = Trial::new(folder.path().join("work"));
    for (index, (label, summary)) in
        [training("lr_floor=0.1", 0.2, 0.1, 0.5), training("lr_floor=0.01", 0.1, 0.1, 0.5)].iter().enumerate()
    {
        let checkpoint = folder.path().join(index.to_string());
        std::fs::create_dir(&checkpoint).unwrap();
        std::fs::write(checkpoint.join("model.json"), summary.to_string()).unwrap();
        trial = trial.labelled("checkpoints", label.parse().unwrap(), checkpoint);
    }
    let outcome = trial.run(&Select).unwrap();
    assert_eq!(outcome.outputs["checkpoint"], folder.path().join("1"));
    let same = outcome
        .events
        .iter()
        .filter(|event| matches!(event, Event::PassThrough { output, .. } if output == "checkpoint"));
    assert_eq!(same.count(), 1);
    assert!(Select.check_inputs(&["summaries", "checkpoints"]).is_some());
    assert!(Select.check_inputs(&["checkpoints"]).is_none() && Select.check_inputs(&[]).is_none());
}

#[test]
fn trainings_on_sequences_are_ranked_by_their_loss_and_not_with_others() {
    let on_sequences = |at: &str, loss: f64| {
        let (label, mut summary) = training(at, loss, 0.0, 0.0);
        summary["training"]["validation"] = json!({ "loss": loss, "best": 0.25, "positions": 1280 });
        (label, summary)
    };
    let mut trainings = vec![on_sequences("lr=0.001", 2.5), on_sequences("lr=0.003", 1.5)];
    assert_eq!(ranked(&trainings), ["lr=0.003", "lr=0.001"]);
    let folder = tempfile::tempdir().unwrap();
    let best = &candidates(&trial(folder.path(), &trainings).run(&Select).unwrap())[0];
    assert_eq!(best["loss"], 1.5);
    assert!(["labelwise", "exact", "trajectory"].iter().all(|name| best[name].is_null()));
    trainings[1] = training("lr=0.003", 1.5, 0.3, 0.9);
    assert_eq!(
        refused(trial(folder.path(), &trainings).run(&Select)),
        "sweep[lr=0.001] was validated on 1280 positions and sweep[lr=0.003] on 1280 games: their losses cannot be compared"
    );
}

#[test]
fn trainings_that_cannot_be_compared_and_files_that_are_no_summaries_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let pair = || [training("lr=0.001", 0.1, 0.3, 0.9), training("lr=0.003", 0.1, 0.3, 0.9)];
    let spoiled = |spoil: fn(&mut serde_json::Value)| {
        let mut trainings = pair();
        spoil(&mut trainings[1].1);
        let message = refused(trial(folder.path(), &trainings).run(&Select));
        message.replace(&format!("{}/", folder.path().display()), "")
    };
    assert_eq!(
        spoiled(|summary| summary["training"]["validation"]["games"] = 64.into()),
        "sweep[lr=0.001] was validated on 1280 games and sweep[lr=0.003] on 64: their losses cannot be compared"
    );
    assert_eq!(
        spoiled(|summary| summary["architecture"]["size"] = "d256/l2".into()),
        "sweep[lr=0.003] is a training of slice d256/l2; this is a choice among those of slice d128/l1"
    );
    assert_eq!(
        spoiled(|summary| summary["training"]["beta2"] = serde_json::Value::Null),
        "the summary of sweep[lr=0.003] (1.json) has no `beta2`"
    );
    assert_eq!(
        spoiled(|summary| summary["format"] = 2.into()),
        "the summary of sweep[lr=0.003] (1.json) has format 2; this cwm reads format 1"
    );
    assert_eq!(
        spoiled(|summary| summary["training"]["validation"]["loss"] = "low".into()),
        "the summary of sweep[lr=0.003] (1.json) has a `validation` that is not readable"
    );
    let text = folder.path().join("x.json");
    std::fs::write(&text, "{").unwrap();
    let broken = Trial::new(folder.path().join("work")).labelled("summaries", "sweep".parse().unwrap(), &text);
    assert!(refused(broken.run(&Select)).contains("is not JSON"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The outputs are the same for any order of the trainings, and any number of equally good ones.
    #[test]
    fn the_order_of_trainings_means_nothing(losses in prop::collection::vec(0u8..4, 1..9), turn in 0usize..9) {
        let trainings: Vec<_> = losses
            .iter()
            .enumerate()
            .map(|(index, loss)| training(&format!("seed={index}"), f64::from(*loss), 0.5, 0.5))
            .collect();
        let bytes = |trainings: &[(String, serde_json::Value)]| {
            let folder = tempfile::tempdir().unwrap();
            let outcome = trial(folder.path(), trainings).run(&Select).unwrap();
            ["choice", "candidates"].map(|output| std::fs::read(&outcome.outputs[output]).unwrap())
        };
        let mut turned = trainings.clone();
        turned.rotate_left(turn % trainings.len());
        prop_assert_eq!(bytes(&trainings), bytes(&turned));
    }

    /// The same number, written as an integer, as a float or as JSON, is one value.
    #[test]
    fn a_number_is_one_whatever_it_was_written_as(whole in -1_000_000i64..1_000_000, real in -1e9f64..1e9) {
        let of = |value: Value| Scalar::of(&value).unwrap();
        prop_assert_eq!(of(Value::Int(whole.into())), of(Value::Float(whole as f64)));
        prop_assert_eq!(of(Value::Int(whole.into())), Scalar::of_json(&json!(whole as f64)).unwrap());
        let read = serde_json::from_str(&of(Value::Float(real)).json().to_string()).unwrap();
        prop_assert_eq!(of(Value::Float(real)), Scalar::of_json(&read).unwrap());
    }
}

#[test]
fn numbers_that_are_not_finite_and_what_is_no_scalar_are_none() {
    for value in [Value::Float(f64::NAN), Value::Float(f64::INFINITY), Value::Null, Value::List(Vec::new())] {
        assert_eq!(Scalar::of(&value), None);
    }
    assert_eq!(Scalar::of(&Value::Float(-0.0)), Some(Scalar::Whole(0)));
    assert_eq!(Scalar::of(&Value::Float(1e300)), Some(Scalar::Real(1e300)));
    assert_eq!(Scalar::of_json(&json!(u64::MAX)), Some(Scalar::Real(u64::MAX as f64)));
}
