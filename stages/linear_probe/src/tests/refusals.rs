//! What is refused, in words.

use cwm_chess::sample;
use cwm_contract::{Parameters, Stage, Value};
use cwm_inside::Task;
use cwm_inside::sample::write_checkpoint;

use super::stage::run;
use crate::LinearProbe;
use crate::config::Config;

fn message(task: Task, given: &[(&str, Value)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), task, if task == Task::Moves { "gpt" } else { "transformer" }, given).err().unwrap().message
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

#[test]
fn what_does_not_fit_the_model_is_named() {
    let layers = Value::List(vec![Value::Int(3)]);
    assert_eq!(message(Task::Moves, &[("layers", layers)]), "`layers` has layer 3, and gpt d32/l2 has layers 0 to 2");
    assert_eq!(
        message(Task::State, &[("phase", text("1"))]),
        "`phase` is 1, and transformer d32/l2 reads whole moves, which have no phase"
    );
    assert_eq!(
        message(Task::Moves, &[("max_tokens", Value::Int(4_000))]),
        "`max_tokens` is 4000, and gpt d32/l2 reads 512 tokens at most"
    );
    assert_eq!(
        message(Task::Moves, &[("family", text("slice"))]),
        "the checkpoint is of family `gpt`, but `family` is `slice`"
    );
    assert_eq!(
        message(Task::Moves, &[("phase", text("4")), ("max_tokens", Value::Int(3))]),
        "no token of the games of input `train` is read (`last`, `phase`, `max_tokens`)"
    );
}

#[test]
fn a_game_to_train_on_is_not_measured_on() {
    let folder = tempfile::tempdir().unwrap();
    let [checkpoint, train, test] = ["checkpoint", "train", "test"].map(|name| folder.path().join(name));
    write_checkpoint(&checkpoint, Task::Moves, "gpt", "d32/l1", 4).unwrap();
    sample::write_train_and_test(&train, &test).unwrap();
    let trial = cwm_contract::testing::Trial::new(folder.path().join("trial")).with("epochs", Value::Int(1));
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

#[test]
fn parameters_that_cannot_be_meant_are_refused() {
    let faults = |given: &[(&str, Value)]| {
        let mut values: cwm_contract::Values =
            Config::specs().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?))).collect();
        values.extend(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        LinearProbe.check(&values).iter().map(|fault| fault.parameter.to_string()).collect::<Vec<_>>()
    };
    assert!(faults(&[]).is_empty());
    assert_eq!(faults(&[("lr", Value::Float(0.0))]), ["lr"]);
    assert_eq!(faults(&[("beta2", Value::Float(1.0))]), ["beta2"]);
    assert_eq!(faults(&[("composition", Value::Bool(true)), ("target", text("mine"))]), ["composition"]);
    assert_eq!(faults(&[("cut", text("random")), ("max_tokens", Value::Int(11))]), ["max_tokens"]);
    assert_eq!(faults(&[("family", text("elman"))]), ["family"]);
}
