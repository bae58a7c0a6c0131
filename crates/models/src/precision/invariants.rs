//! The effect of a precision on whole models, of every family.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::families::FAMILIES;
use crate::gradient::GradientSum;
use crate::heads::labels::{self, LABELS, LOGITS, SPANS, Targets, loss};
use crate::testing::values;
use crate::{Architecture, DeviceWeights, ForwardPass, Precision, Tokens, device};

const VOCABULARY: usize = 40;

struct Outcome {
    logits: Vec<f32>,
    loss: f64,
    gradient: Vec<f32>,
    observed: Vec<(String, Vec<f32>)>,
}

fn targets(tokens: &Tokens) -> Targets {
    let label = |i: usize| ((i * 7) % SPANS[i % LABELS].1) as u8;
    Targets {
        labels: (0..tokens.rows() * LABELS).map(label).collect(),
        valid: tokens.is_valid().collect::<Arc<[bool]>>(),
    }
}

fn compute(family: &str, precision: Precision) -> (Outcome, Targets) {
    let network = labels::network(Architecture {
        family: family.to_owned(),
        size: "d64/l1".parse().unwrap(),
        vocabulary: VOCABULARY,
        dropout: 0.0,
        options: BTreeMap::new(),
    })
    .unwrap();
    let weights = network.initial_weights(1);
    let games: [Vec<u16>; 2] = [(0..21).map(|t| t * 5 % 39).collect(), (0..14).map(|t| t * 3 % 39).collect()];
    let tokens = Tokens::padded(games.iter().map(Vec::as_slice), VOCABULARY as u32 - 1);
    let targets = targets(&tokens);
    let device_weights = DeviceWeights::new(&weights, &device::cpu()).with_precision(precision);
    let pass = ForwardPass::training(&device_weights, None).observing();
    let logits = network.flat_logits(&pass, &tokens);
    let outcome = values(&logits);
    let loss = loss(logits, &targets, tokens.valid());
    let observed = pass.observed().into_iter().map(|(name, value)| (name, values(&value))).collect();
    let mut sum = GradientSum::new(network.layout().clone());
    sum.add(0, pass.gradient(&loss.share));
    let gradient = sum.with(|sum| sum.values().to_vec());
    (Outcome { logits: outcome, loss: loss.sum(), gradient, observed }, targets)
}

/// Distance over size, both L2.
fn distance(found: &[f32], truth: &[f32]) -> f64 {
    let square = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let mut apart = found.iter().zip(truth).map(|(a, b)| f64::from(a - b));
    square(&mut apart) / square(&mut truth.iter().map(|&value| f64::from(value)))
}

#[test]
fn errors_of_logits_and_gradients_are_those_of_the_roundings() {
    for family in FAMILIES {
        let (strict, _) = compute(family.name, Precision::Fp32);
        for (precision, logits, gradient) in [(Precision::Tf32, 2e-3, 4e-3), (Precision::Bf16, 2e-2, 4e-2)] {
            let (outcome, _) = compute(family.name, precision);
            let (of_logits, of_gradient) =
                (distance(&outcome.logits, &strict.logits), distance(&outcome.gradient, &strict.gradient));
            let name = family.name;
            assert!((logits / 50.0..logits).contains(&of_logits), "{name} {precision}: logits {of_logits:e}");
            assert!((gradient / 50.0..gradient).contains(&of_gradient), "{name} {precision}: {of_gradient:e}");
        }
    }
}

#[test]
fn the_loss_is_that_of_f32_whatever_the_logits_were_rounded_to() {
    for precision in [Precision::Tf32, Precision::Bf16] {
        let (outcome, targets) = compute("mamba3", precision);
        let mut sum = 0.0;
        for (row, logits) in outcome.logits.chunks_exact(LOGITS).enumerate().filter(|(row, _)| targets.valid[*row]) {
            for (&(start, classes), &label) in SPANS.iter().zip(&targets.labels[row * LABELS..(row + 1) * LABELS]) {
                let of: Vec<f64> = logits[start..start + classes].iter().map(|&logit| f64::from(logit)).collect();
                sum += of.iter().map(|logit| logit.exp()).sum::<f64>().ln() - of[usize::from(label)];
            }
        }
        assert!((sum / outcome.loss - 1.0).abs() < 1e-6, "{precision}: {} where {sum} was expected", outcome.loss);
    }
}

/// Results of linear layers are rounded to bfloat16, what recurrences make of them is not.
#[test]
fn bf16_rounds_products_and_no_recurrence() {
    let is_rounded = |values: &[f32]| values.iter().all(|&value| Precision::Bf16.rounded(value) == value);
    for (family, product, recurrence) in [
        ("transformer", "block0.mlp", "block0.out"),
        ("slice", "layer0.mlp", "layer0.slice"),
        ("slice_diag", "layer0.mlp", "layer0.slice"),
    ] {
        let (outcome, _) = compute(family, Precision::Bf16);
        let of = |name: &str| &outcome.observed.iter().find(|(other, _)| other == name).unwrap().1;
        assert!(is_rounded(&outcome.logits) && is_rounded(of(product)), "{family}");
        assert!(!is_rounded(of(recurrence)), "{family}");
    }
}
