//! Gradients of every recurrent family against finite differences of its step-by-step form in f64: a check that shares
//! no code with any backward pass.

use std::collections::BTreeMap;

use crate::families::FAMILIES;
use crate::gradient::GradientSum;
use crate::heads::labels::{self, LABELS, SPANS, Targets, loss};
use crate::parameters::{InitRng, Weights};
use crate::testing::both_implementations;
use crate::{Architecture, DeviceWeights, ForwardPass, Network, Tokens, device};

const VOCABULARY: usize = 40;

/// Mean cross-entropy of a game's labels, read token after token.
fn exact_loss(network: &Network, weights: &Weights, game: &[u16], labels: &[u8]) -> f64 {
    let model = network.recurrent_f64().unwrap();
    let mut memory = model.start(weights);
    let mut total = 0.0;
    for (&token, labels) in game.iter().zip(labels.chunks_exact(LABELS)) {
        let logits = model.step(weights, &mut memory, token.into());
        for (&(start, classes), &label) in SPANS.iter().zip(labels) {
            let logits = &logits[start..start + classes];
            total += logits.iter().map(|logit| logit.exp()).sum::<f64>().ln() - logits[usize::from(label)];
        }
    }
    total / labels.len() as f64
}

fn gradient(network: &Network, weights: &Weights, game: &[u16], labels: &[u8]) -> Weights {
    let tokens = Tokens::padded([game], VOCABULARY as u32 - 1);
    let targets = Targets { labels: labels.into(), valid: tokens.is_valid().collect() };
    let device_weights = DeviceWeights::new(weights, &device::cpu());
    let pass = ForwardPass::training(&device_weights, None);
    let loss = loss(network.flat_logits(&pass, &tokens), &targets, tokens.valid());
    let mut sum = GradientSum::new(network.layout().clone());
    sum.add(0, pass.gradient(&loss.share));
    sum.with(|sum| sum.clone())
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[test]
fn gradients_are_the_slopes_of_the_form_that_reads_token_after_token() {
    let game: Vec<u16> = (0..75).map(|t| (t * t + 5 * t + 3) % 39).collect();
    let labels: Vec<u8> = (0..game.len() * LABELS).map(|i| ((i * 7 + i / 11) % SPANS[i % LABELS].1) as u8).collect();
    for family in FAMILIES {
        let network = labels::network(Architecture {
            family: family.name.to_owned(),
            size: "d64/l2".parse().unwrap(),
            vocabulary: VOCABULARY,
            dropout: 0.0,
            options: BTreeMap::new(),
        })
        .unwrap();
        if network.recurrent_f64().is_none() {
            continue;
        }
        let weights = network.initial_weights(5);
        let gradients = both_implementations(|| gradient(&network, &weights, &game, &labels));
        let mut draw = InitRng::seeded(1);
        for (index, declared) in network.layout().parameters().iter().enumerate() {
            let forms = gradients
                .each_ref()
                .map(|gradient| -> Vec<f64> { gradient.get(index).iter().map(|&grad| f64::from(grad)).collect() });
            let [grads, _] = &forms;
            let steepness = length(grads);
            // Along the gradient, so that the gradient is not small by chance, and somewhere else.
            let other: Vec<f64> = grads.iter().map(|_| draw.normal()).collect();
            let away = length(&other);
            let directions =
                grads.iter().zip(&other).map(|(grad, other)| grad / steepness.max(1e-30) + 0.5 * other / away);
            let directions: Vec<f64> = directions.collect();
            let moved = |step: f64| {
                let mut moved = weights.clone();
                for (weight, direction) in moved.get_mut(index).iter_mut().zip(&directions) {
                    *weight += (step * direction) as f32;
                }
                moved
            };
            let (up, down) = (moved(1e-3), moved(-1e-3));
            // What it was moved by after rounding to f32.
            let apart: Vec<f64> =
                up.get(index).iter().zip(down.get(index)).map(|(a, b)| f64::from(*a) - f64::from(*b)).collect();
            let exact = exact_loss(&network, &up, &game, &labels) - exact_loss(&network, &down, &game, &labels);
            for grads in &forms {
                let found: f64 = grads.iter().zip(&apart).map(|(grad, apart)| grad * apart).sum();
                let error = (found - exact).abs() / length(&apart);
                assert!(
                    error <= 3e-4 * steepness + 1e-9,
                    "{}: {}: {found} for {exact}, gradient {steepness}",
                    family.name,
                    declared.name
                );
            }
        }
    }
}
