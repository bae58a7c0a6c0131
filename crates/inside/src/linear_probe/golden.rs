//! The golden file of an independent program (PyTorch, scikit-learn, numpy).

use super::*;
use crate::golden::Golden;
use crate::testing::{assert_close, assert_near};

const CLASSES: usize = 13;
const WIDTH: usize = 24;

#[test]
fn loss_and_gradient_are_those_of_pytorch() {
    let Some(golden) = Golden::open("linear-probe.safetensors") else { return };
    let (x, labels, weight) = (golden.floats("input.x"), golden.bytes("input.labels"), golden.floats("param.weight"));
    let mut gradient = vec![0.0; weight.len()];
    let (mut loss, mut logits) = (0.0, Vec::new());
    for block in Block::all(CLASSES, WIDTH) {
        let part = block.gather(&weight);
        let mut grads = vec![0.0; block.weights()];
        loss += block.loss(&part, &x, &labels, &mut logits, &mut grads);
        block.scatter(&grads, &mut gradient);
    }
    loss /= labels.len() as f64;
    let expected = f64::from(golden.floats("output.loss")[0]);
    assert!((loss - expected).abs() < 3e-6 * expected, "{loss} where {expected} was expected");
    assert_near(&gradient, &golden.floats("grad.weight"), 1e-4);
}

#[test]
fn predictions_and_metrics_are_those_of_scikit_learn() {
    let Some(golden) = Golden::open("linear-probe.safetensors") else { return };
    let (x, labels) = (golden.floats("input.x"), golden.bytes("input.labels"));
    let probe = LinearProbe::new(CLASSES, WIDTH, golden.floats("final.weight"));
    let found = probe.predict(&x, &labels);
    assert_eq!(found.classes, golden.bytes("final.predicted"));
    check_metrics(&golden, "metrics", &labels, &found.classes);
}

#[test]
fn the_majority_class_has_the_golden_metrics() {
    let Some(golden) = Golden::open("linear-probe.safetensors") else { return };
    let labels = golden.bytes("input.labels");
    let board = Majority::of(CLASSES, &labels).board();
    let predicted = board.repeat(labels.len() / SQUARES);
    check_metrics(&golden, "majority", &labels, &predicted);
}

#[test]
fn differences_and_their_predictions_are_those_of_numpy() {
    let Some(golden) = Golden::open("linear-probe.safetensors") else { return };
    let (x, labels) = (golden.floats("cd.latents"), golden.bytes("input.labels"));
    let mut sums = DifferenceSums::new(CLASSES, 40);
    // In two parts, as rows come.
    let (first, second) = (100 * 40, 100 * SQUARES);
    sums.add(&x[..first], &labels[..second]);
    sums.add(&x[first..], &labels[second..]);
    let probe = sums.probe();
    assert_close(probe.weight(), &golden.floats("cd.difference"), 2e-5);
    let found = probe.predict(&x, &labels);
    assert_eq!(found.classes, golden.bytes("cd.predicted"));
    check_metrics(&golden, "cd_metrics", &labels, &found.classes);
}

fn check_metrics(golden: &Golden, name: &str, labels: &[u8], predicted: &[u8]) {
    let mut counts = Counts::default();
    for (labels, predicted) in labels.chunks_exact(SQUARES).zip(predicted.chunks_exact(SQUARES)) {
        counts.add_row(labels, predicted, 0.0);
    }
    let expected = golden.manifest[name].clone();
    let expected = expected.as_object().expect("metrics by name");
    let found = Metrics::of(&counts).named();
    assert_eq!(expected.len(), 7);
    for (name, expected) in expected {
        let name = match name.as_str() {
            "f1_macro" => "macro_f1",
            "accuracy_occupied" => "occupied",
            other => other,
        };
        let (_, value) = found.iter().find(|(found, _)| *found == name).expect("a metric of ours");
        let expected = expected.as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-6, "{name}: {value} where {expected} was expected");
    }
}
