//! Whole runs.

use std::path::Path;

use cwm_chess::sample;
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Value};
use cwm_findings::{Finding, Kind};
use cwm_inside::ModelTask;
use cwm_inside::linear_probe::LinearProbes;
use cwm_inside::sample::write_checkpoint;

use crate::LinearProbe;

/// A run on a fresh model of this family, in a folder of its own.
pub fn run(folder: &Path, task: ModelTask, family: &str, given: &[(&str, Value)]) -> Result<Outcome, Failure> {
    let [checkpoint, train, test] = ["checkpoint", "train", "test"].map(|name| folder.join(name));
    write_checkpoint(&checkpoint, task, family, "d32/l2", 4)?;
    sample::write_train_and_test(&train, &test)?;
    let trial = Trial::new(folder.join("trial")).with("epochs", Value::Int(2)).with("resamples", Value::Int(16));
    let trial = trial.with("max_tokens", Value::Int(60)).with("last", Value::Int(0));
    let trial = given.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone()));
    trial.input("checkpoint", checkpoint).input("train", train).input("test", test).run(&LinearProbe)
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn findings(outcome: &Outcome) -> Vec<Finding> {
    cwm_findings::read(&outcome.outputs["findings"]).unwrap()
}

fn bytes(outcome: &Outcome) -> Vec<Vec<u8>> {
    let probes = &outcome.outputs["probes"];
    [probes.join("probes.safetensors"), probes.join("probes.json"), outcome.outputs["findings"].clone()]
        .map(|file| std::fs::read(file).unwrap())
        .to_vec()
}

#[test]
fn every_layer_gets_a_linear_probe_and_findings() {
    for (task, family) in [(ModelTask::Moves, "gpt"), (ModelTask::State, "gated_deltanet")] {
        let folder = tempfile::tempdir().unwrap();
        let outcome = run(folder.path(), task, family, &[("composition", Value::Bool(true))]).unwrap();
        let found = findings(&outcome);
        let whole: Vec<&Finding> =
            found.iter().filter(|it| it.kind == Kind::Probe && it.named("square").is_empty()).collect();
        let layers: Vec<Option<u32>> = whole.iter().map(|finding| finding.layer).collect();
        assert_eq!(layers, [Some(0), Some(1), Some(2), None]);
        assert_eq!(
            whole.iter().map(|it| it.named("method")).collect::<Vec<_>>(),
            ["linear", "linear", "linear", "majority"]
        );
        for finding in &whole {
            let (low, high) = finding.interval("accuracy").unwrap();
            let accuracy = finding.get("accuracy").unwrap();
            assert!(low <= accuracy && accuracy <= high && finding.network == "trained", "{finding:?}");
            assert_eq!(finding.get("recall"), Some(accuracy));
            assert_eq!(finding.get("loss").is_some(), finding.named("method") == "linear");
            // Means of the squares are the whole.
            let of = |it: &&Finding| it.named("method") == finding.named("method") && it.layer == finding.layer;
            let squares = found.iter().filter(|it| it.kind == Kind::Probe && !it.named("square").is_empty()).filter(of);
            let squares: Vec<f64> = squares.filter_map(|it| it.get("accuracy")).collect();
            assert!(squares.len() == 64 && (squares.iter().sum::<f64>() / 64.0 - accuracy).abs() < 1e-9);
        }
        assert_eq!(found.iter().filter(|finding| finding.kind == Kind::Composition).count(), 3 * 14);
        let probes = LinearProbes::read(&outcome.outputs["probes"]).unwrap();
        assert_eq!(probes.description.layers, [0, 1, 2]);
        assert!(
            probes.layers.values().all(|layer| layer.latent.is_none() && (layer.scale == 1.0) == (family == "gpt"))
        );
        // Two games, one of which is cut after 60 tokens and one of which has 20 plies.
        assert!(if task == ModelTask::State { whole[0].n == 81 } else { whole[0].n >= 101 }, "{}", whole[0].n);
    }
}

#[test]
fn the_same_bytes_come_with_other_cores_and_others_with_other_controls() {
    let of = |cores: usize, given: &[(&str, Value)]| {
        let folder = tempfile::tempdir().unwrap();
        let [checkpoint, train, test] = ["checkpoint", "train", "test"].map(|name| folder.path().join(name));
        write_checkpoint(&checkpoint, ModelTask::Moves, "gpt", "d32/l1", 4).unwrap();
        sample::write_train_and_test(&train, &test).unwrap();
        let trial =
            Trial::new(folder.path().join("trial")).with("epochs", Value::Int(1)).with("resamples", Value::Int(9));
        let trial = trial
            .cores(cores)
            .with("cut", text("random"))
            .with("last", Value::Int(0))
            .with("max_tokens", Value::Int(60));
        let trial = given.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone()));
        let inputs = trial.input("checkpoint", checkpoint).input("train", train).input("test", test);
        bytes(&inputs.run(&LinearProbe).unwrap())
    };
    let one = of(1, &[]);
    assert!(one == of(2, &[]), "the number of cores changes nothing");
    let controls = [
        ("network", "untrained"),
        ("labels", "shuffled"),
        ("board", "before"),
        ("target", "mine"),
        ("method", "difference"),
    ];
    for (name, value) in controls {
        assert!(of(2, &[(name, text(value))])[0] != one[0], "{name}: {value}");
    }
    assert!(of(2, &[("normed", Value::Bool(true))])[0] != one[0]);
}
