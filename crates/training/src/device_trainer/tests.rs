//! The same training on the processor's path and with everything on the device, of every family.

use std::collections::BTreeMap;

use super::*;
use crate::optimiser::{clip_factor, norm};
use cwm_models::counter_rng::CounterRng;
use cwm_models::families::FAMILIES;
use cwm_models::gradient::GradientSum;
use cwm_models::heads::labels::{self, LABELS, SPANS, Targets, loss};
use cwm_models::ops::decomposed;
use cwm_models::{Architecture, ForwardPass, Network, Precision, Tokens, device};

const VOCABULARY: usize = 40;
const RATE: f64 = 1e-3;
const CLIP: f64 = 1.0;

fn networks() -> impl Iterator<Item = Network> {
    FAMILIES.iter().map(|family| {
        labels::network(Architecture {
            family: family.name.to_owned(),
            size: "d64/l1".parse().unwrap(),
            vocabulary: VOCABULARY,
            dropout: 0.1,
            options: BTreeMap::new(),
        })
        .unwrap()
    })
}

/// The micro-batches of a step, with their targets and the number of real steps in all.
fn batch(step: usize) -> (Vec<(Tokens, Targets)>, usize) {
    let game = |game: usize| (0..6 + game * 3).map(|t| ((t * 5 + game * 7 + step * 3) % 39) as u16).collect::<Vec<_>>();
    let games: Vec<Vec<u16>> = (0..4).map(game).collect();
    let micro_batches = games.chunks(2).map(|games| {
        let tokens = Tokens::padded(games.iter().map(Vec::as_slice), VOCABULARY as u32 - 1);
        let label = |i: usize| ((i * 7 + step) % SPANS[i % LABELS].1) as u8;
        let targets =
            Targets { labels: (0..tokens.rows() * LABELS).map(label).collect(), valid: tokens.is_valid().collect() };
        (tokens, targets)
    });
    (micro_batches.collect(), games.iter().map(Vec::len).sum())
}

#[derive(Clone)]
struct Arrays {
    weights: Weights,
    adamw: AdamW,
    snapshot: Weights,
}

impl Arrays {
    fn new(network: &Network) -> Self {
        let weights = network.initial_weights(3);
        let options = AdamWOptions { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.1 };
        Arrays { adamw: AdamW::new(network.layout().clone(), options), snapshot: weights.clone(), weights }
    }

    fn on_device(&self) -> DeviceTrainer {
        DeviceTrainer::new(&self.weights, &self.adamw, &self.snapshot, &device::cpu())
    }

    fn sync_to_host(&mut self, trainer: &DeviceTrainer) {
        trainer.sync_to_host(&mut self.weights, &mut self.adamw, &mut self.snapshot);
    }
}

/// Loss and gradient norm of one step on the processor's path.
fn host_step(network: &Network, arrays: &mut Arrays, step: usize) -> (f64, f64) {
    let (micro_batches, steps) = batch(step);
    let mut sum = GradientSum::new(network.layout().clone());
    let device_weights = DeviceWeights::new(&arrays.weights, &device::cpu());
    let mut total = 0.0;
    for (index, (tokens, targets)) in micro_batches.iter().enumerate() {
        let pass = ForwardPass::training(&device_weights, Some(CounterRng::new(1, step as u64, index as u64)));
        let loss = loss(network.flat_logits(&pass, tokens), targets, steps);
        sum.add(index, pass.gradient(&loss.share));
        total += loss.sum();
    }
    let norm = sum.with(|gradient| {
        let norm = norm(gradient.values());
        arrays.adamw.update(&mut arrays.weights, gradient, clip_factor(norm, CLIP), RATE);
        norm
    });
    (total, norm)
}

/// The same with everything on the device.
fn device_step(network: &Network, trainer: &mut DeviceTrainer, step: usize) -> (f64, f64) {
    let (micro_batches, steps) = batch(step);
    let device_weights = trainer.weights();
    let mut total = 0.0;
    for (index, (tokens, targets)) in micro_batches.iter().enumerate() {
        let pass = ForwardPass::training(&device_weights, Some(CounterRng::new(1, step as u64, index as u64)));
        let loss = decomposed(|| loss(network.flat_logits(&pass, tokens), targets, steps));
        trainer.add(pass.device_gradients(&loss.share));
        total += loss.sum();
    }
    let norm = trainer.gradient_norm();
    trainer.update(clip_factor(norm, CLIP), RATE);
    (total, norm)
}

fn distance(found: &[f32], truth: &[f32]) -> f64 {
    let square = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let mut apart = found.iter().zip(truth).map(|(a, b)| f64::from(a - b));
    square(&mut apart) / square(&mut truth.iter().map(|&value| f64::from(value)))
}

#[test]
fn twenty_steps_are_those_of_the_processor_and_resumed_ones_the_same_to_the_bit() {
    for network in networks() {
        let family = &network.architecture().family;
        let (mut host, mut whole) = (Arrays::new(&network), Arrays::new(&network));
        let mut trainer = whole.on_device();
        let mut halves = Arrays::new(&network);
        let mut half = halves.on_device();
        for step in 0..20 {
            if step == 10 {
                halves.sync_to_host(&half);
                half = halves.clone().on_device();
            }
            let expected = host_step(&network, &mut host, step);
            let found = device_step(&network, &mut trainer, step);
            assert_eq!(found, device_step(&network, &mut half, step), "{family}, step {step}: resumed");
            assert!((found.0 / expected.0 - 1.0).abs() < 1e-5, "{family}, step {step}: loss {found:?} {expected:?}");
            assert!((found.1 / expected.1 - 1.0).abs() < 1e-3, "{family}, step {step}: norm {found:?} {expected:?}");
        }
        whole.sync_to_host(&trainer);
        halves.sync_to_host(&half);
        assert_eq!(whole.weights.values(), halves.weights.values(), "{family}");
        assert_eq!(whole.adamw.second.values(), halves.adamw.second.values(), "{family}");
        assert_eq!((whole.adamw.updates, host.adamw.updates), (20, 20));
        for (found, expected, allowed) in [
            (&whole.weights, &host.weights, 1e-3),
            (&whole.adamw.first, &host.adamw.first, 1e-3),
            (&whole.adamw.second, &host.adamw.second, 1e-3),
        ] {
            let far = distance(found.values(), expected.values());
            assert!(far < allowed, "{family}: {far:e} apart");
        }
    }
}

#[test]
fn one_update_is_that_of_the_processor_and_unmarked_parameters_decay() {
    let network = networks().find(|network| network.architecture().family == "gated_deltanet").unwrap();
    assert!(network.layout().parameters().iter().any(|declared| !declared.decays), "nothing would be shown");
    let (mut host, mut device) = (Arrays::new(&network), Arrays::new(&network));
    let mut trainer = device.on_device();
    let mut gradient = Weights::zeros(network.layout().clone());
    for (i, value) in gradient.values_mut().iter_mut().enumerate() {
        *value = ((i * 37 % 101) as f32 - 50.0) * 1e-3;
    }
    for rate in [0.1, 0.05] {
        host.adamw.update(&mut host.weights, &gradient, 0.5, rate);
        let values = TensorData::new(gradient.values().to_vec(), [network.layout().total()]);
        trainer.gradient = Some(Tensor::from_data(values, &device::cpu()));
        assert!((trainer.gradient_norm() / norm(gradient.values()) - 1.0).abs() < 1e-4);
        trainer.update(0.5, rate);
    }
    // So is one without any gradient.
    gradient.values_mut().fill(0.0);
    host.adamw.update(&mut host.weights, &gradient, 1.0, 0.05);
    trainer.clear_gradient();
    trainer.update(1.0, 0.05);
    device.sync_to_host(&trainer);
    for (found, expected) in device.weights.values().iter().zip(host.weights.values()) {
        assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{found} {expected}");
    }
    assert_eq!((device.adamw.updates, host.adamw.updates), (3, 3));
}

#[test]
fn norms_reach_as_far_as_the_gradients_and_what_is_not_finite_shows() {
    let network = networks().next().unwrap();
    let mut trainer = Arrays::new(&network).on_device();
    assert_eq!(trainer.gradient_norm(), 0.0);
    let mut with = |values: [f32; 3]| {
        trainer.gradient = Some(Tensor::from_floats(values, &device::cpu()));
        trainer.gradient_norm()
    };
    assert!((with([3e30, 0.0, 4e30]) / 5e30 - 1.0).abs() < 1e-6);
    assert!((with([3e-30, 0.0, 4e-30]) / 5e-30 - 1.0).abs() < 1e-6);
    assert_eq!(with([0.0; 3]), 0.0);
    assert!(!with([1.0, f32::NAN, 0.0]).is_finite());
    assert!(!with([1.0, f32::INFINITY, 0.0]).is_finite());
    assert!(!with([f32::NAN; 3]).is_finite());
}

#[test]
fn weights_that_are_not_finite_show_and_restore_snapshot_to_the_snapshot() {
    let network = networks().next().unwrap();
    let mut arrays = Arrays::new(&network);
    let before = arrays.weights.clone();
    arrays.weights.values_mut()[7] = f32::NAN;
    let mut trainer = arrays.on_device();
    assert!(!trainer.is_finite());
    trainer.restore_snapshot();
    assert!(trainer.is_finite());
    device_step(&network, &mut trainer, 0);
    trainer.take_snapshot();
    arrays.sync_to_host(&trainer);
    assert_ne!(arrays.weights.values(), before.values());
    assert_eq!(arrays.weights.values(), arrays.snapshot.values());
}

#[test]
fn a_precision_holds_on_the_device_as_on_the_processor() {
    let network = networks().next().unwrap();
    let weights = network.initial_weights(3);
    let (micro_batches, steps) = batch(0);
    let arrays = Arrays { weights: weights.clone(), ..Arrays::new(&network) };
    for precision in [Precision::Tf32, Precision::Bf16] {
        let of = |device_weights: DeviceWeights<'_>, form: bool| {
            let device_weights = device_weights.with_precision(precision);
            let pass = ForwardPass::training(&device_weights, None);
            let (tokens, targets) = &micro_batches[1];
            let work = || loss(network.flat_logits(&pass, tokens), targets, steps).sum();
            if form { decomposed(work) } else { work() }
        };
        let (found, expected) =
            (of(arrays.on_device().weights(), true), of(DeviceWeights::new(&weights, &device::cpu()), false));
        assert!((found / expected - 1.0).abs() < 1e-4, "{precision}: {found} where {expected} was expected");
    }
}
