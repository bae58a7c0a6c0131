//! The same training on the CPU's path and with everything on the device, of every family.

use std::collections::BTreeMap;

use super::*;
use crate::optimiser::{clip_factor, norm};
use crate::testing::{assert_close, devices, random, values};
use cwm_models::counter_rng::CounterRng;
use cwm_models::families::FAMILIES;
use cwm_models::gradient::{GradientSum, SparseRowGradients};
use cwm_models::heads::labels::{self, LABELS, SPANS, Targets, loss};
use cwm_models::ops::decomposed;
use cwm_models::parameters::Role;
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

    fn on_device(&self, device: &Device) -> DeviceTrainer {
        DeviceTrainer::new(&self.weights, &self.adamw, &self.snapshot, device)
    }

    fn sync_to_host(&mut self, trainer: &DeviceTrainer) {
        trainer.sync_to_host(&mut self.weights, &mut self.adamw, &mut self.snapshot);
    }
}

/// Loss and gradient norm of one step on the CPU's path.
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

fn end_step(trainer: &mut DeviceTrainer, losses: &[Loss], clip: f64, rate: f64) -> StepEnd {
    let end = trainer.end_step(losses, clip, rate);
    trainer.finish_step(end)
}

/// The same with everything on the device.
fn device_step(network: &Network, trainer: &mut DeviceTrainer, step: usize) -> (f64, f64) {
    let (micro_batches, steps) = batch(step);
    let device_weights = trainer.weights();
    let mut losses = Vec::new();
    for (index, (tokens, targets)) in micro_batches.iter().enumerate() {
        let pass = ForwardPass::training(&device_weights, Some(CounterRng::new(1, step as u64, index as u64)));
        // On the CPU the decomposed implementation: the other has been tested.
        let loss = || loss(network.flat_logits(&pass, tokens), targets, steps);
        let loss = if device::is_cpu(trainer.device()) { decomposed(loss) } else { loss() };
        trainer.add(pass.device_gradients(&loss.share));
        losses.push(loss);
    }
    let StepEnd { loss_sum, gradient_norm, updated, is_finite } = end_step(trainer, &losses, CLIP, RATE);
    assert!(updated && is_finite);
    (loss_sum, gradient_norm)
}

fn distance(found: &[f32], truth: &[f32]) -> f64 {
    let square = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let mut apart = found.iter().zip(truth).map(|(a, b)| f64::from(a - b));
    square(&mut apart) / square(&mut truth.iter().map(|&value| f64::from(value)))
}

#[test]
fn steps_are_those_of_the_processor_and_resumed_ones_the_same_to_the_bit() {
    for device in &devices() {
        // A GPU may be a CPU that acts as one.
        let steps = if device::is_cpu(device) { 20 } else { 4 };
        networks().for_each(|network| follow(&network, device, steps));
    }
}

fn follow(network: &Network, device: &Device, steps: usize) {
    let family = &network.architecture().family;
    let (mut host, mut whole) = (Arrays::new(network), Arrays::new(network));
    let mut trainer = whole.on_device(device);
    let mut halves = Arrays::new(network);
    let mut half = halves.on_device(device);
    for step in 0..steps {
        if step == steps / 2 {
            halves.sync_to_host(&half);
            half = halves.clone().on_device(device);
        }
        let expected = host_step(network, &mut host, step);
        let found = device_step(network, &mut trainer, step);
        assert_eq!(found, device_step(network, &mut half, step), "{family}, step {step}: resumed");
        assert!((found.0 / expected.0 - 1.0).abs() < 1e-5, "{family}, step {step}: loss {found:?} {expected:?}");
        assert!((found.1 / expected.1 - 1.0).abs() < 1e-3, "{family}, step {step}: norm {found:?} {expected:?}");
    }
    whole.sync_to_host(&trainer);
    halves.sync_to_host(&half);
    assert_eq!(whole.weights.values(), halves.weights.values(), "{family}");
    assert_eq!(whole.adamw.second.values(), halves.adamw.second.values(), "{family}");
    assert_eq!((whole.adamw.updates, host.adamw.updates), (steps as u64, steps as u64));
    for (found, expected, allowed) in [
        (&whole.weights, &host.weights, 1e-3),
        (&whole.adamw.first, &host.adamw.first, 1e-3),
        (&whole.adamw.second, &host.adamw.second, 1e-3),
    ] {
        let far = distance(found.values(), expected.values());
        assert!(far < allowed, "{family}: {far:e} apart");
    }
}

#[test]
fn one_update_is_that_of_the_processor_and_unmarked_parameters_decay() {
    let network = networks().find(|network| network.architecture().family == "gated_deltanet").unwrap();
    assert!(network.layout().parameters().iter().any(|declared| !declared.decays), "nothing would be shown");
    for of_device in &devices() {
        let (mut host, mut device) = (Arrays::new(&network), Arrays::new(&network));
        let mut trainer = device.on_device(of_device);
        let mut gradient = Weights::zeros(network.layout().clone());
        for (i, value) in gradient.values_mut().iter_mut().enumerate() {
            *value = ((i * 37 % 101) as f32 - 50.0) * 1e-3;
        }
        let true_norm = norm(gradient.values());
        // With a given factor, with one that the norm gives, and without clipping.
        for (clip, rate) in [(0.5, 0.1), (clip_factor(true_norm, 0.3), 0.05), (1.0, 0.05)] {
            host.adamw.update(&mut host.weights, &gradient, clip, rate);
            trainer.arrays.set_gradient(gradient.values());
            assert!((trainer.gradient_norm() / true_norm - 1.0).abs() < 1e-6);
            match clip {
                0.5 => trainer.update(clip, rate),
                1.0 => assert!(end_step(&mut trainer, &[], 1e9, rate).updated),
                _ => assert!(end_step(&mut trainer, &[], 0.3, rate).updated),
            }
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
        assert_eq!((device.adamw.updates, host.adamw.updates), (4, 4));
    }
}

#[test]
fn norms_reach_as_far_as_the_gradients_and_what_is_not_finite_shows() {
    let network = networks().next().unwrap();
    let total = network.layout().total();
    for device in &devices() {
        let mut trainer = Arrays::new(&network).on_device(device);
        assert_eq!(trainer.gradient_norm(), 0.0);
        let mut with = |first: &[f32], rest: f32| {
            let mut values = first.to_vec();
            values.resize(total, rest);
            trainer.arrays.set_gradient(&values);
            trainer.gradient_norm()
        };
        for far in [3e38f32, 1e30, 1.0, 1e-30] {
            let expected = 5.0 * f64::from(far / 4.0);
            assert!((with(&[far * 0.75, 0.0, far], 0.0) / expected - 1.0).abs() < 1e-6, "{far}");
        }
        assert_eq!(with(&[], 0.0), 0.0);
        // Added one by one in f32, the small ones are lost or rounded all to one side.
        let mut small = vec![2e-4; 40_000];
        small[0] = 1.0;
        let expected = (1.0 + 39_999.0 * 4e-8f64).sqrt();
        assert!((with(&small, 0.0) / expected - 1.0).abs() < 1e-6);
        small.swap(0, 39_999);
        assert!((with(&small, 0.0) / expected - 1.0).abs() < 1e-6);
        assert!((with(&[], 0.1) / norm(&vec![0.1; total]) - 1.0).abs() < 1e-6);
        for place in [0, 5, 1_023, 1_024, 70_000, total - 1] {
            let mut values = vec![1.0; total];
            values[place] = f32::INFINITY;
            assert_eq!(with(&values, 0.0), f64::INFINITY);
            values[place] = f32::NAN;
            assert!(with(&values, 0.0).is_nan());
            values[(place + 7) % total] = -f32::INFINITY;
            assert!(with(&values, 0.0).is_nan());
        }
        assert!(with(&[], f32::NAN).is_nan());
    }
}

#[test]
fn a_gradient_or_loss_that_is_not_finite_changes_nothing_and_is_gone_afterwards() {
    let network = networks().next().unwrap();
    for device in &devices() {
        let mut before = Arrays::new(&network);
        let mut trainer = before.on_device(device);
        device_step(&network, &mut trainer, 0);
        before.sync_to_host(&trainer);
        let total = network.layout().total();
        let loss = |rows: &[f32]| Loss::new(Tensor::from_floats(rows, device), 1.0);
        for (gradient, rows) in [(f32::NAN, [1.0, 2.0]), (1.0, [f32::NAN, 1.0]), (1.0, [1.0, f32::INFINITY])] {
            let mut values = vec![1.0; total];
            values[total / 2] = gradient;
            trainer.arrays.set_gradient(&values);
            let end = end_step(&mut trainer, &[loss(&[3.0]), loss(&rows)], CLIP, RATE);
            assert!(!end.updated && end.is_finite);
            assert_eq!(end.loss_sum.is_finite(), rows.iter().all(|row| row.is_finite()));
            let mut after = Arrays::new(&network);
            after.sync_to_host(&trainer);
            assert_eq!(after.weights.values(), before.weights.values());
            assert_eq!(after.adamw.first.values(), before.adamw.first.values());
            assert_eq!((after.adamw.updates, trainer.gradient_norm()), (1, 0.0));
        }
        // The largest gradients are clipped, whatever their norm is.
        trainer.arrays.set_gradient(&vec![3e38; total]);
        let end = end_step(&mut trainer, &[loss(&[3.0]), loss(&[0.5, 0.25])], CLIP, RATE);
        assert!(end.updated && end.is_finite && end.loss_sum == 3.75, "{end:?}");
        assert!((end.gradient_norm / (3e38 * (total as f64).sqrt()) - 1.0).abs() < 1e-6);
        let mut after = Arrays::new(&network);
        after.sync_to_host(&trainer);
        let moved = after.adamw.first.values()[7] - 0.9 * before.adamw.first.values()[7];
        assert!((f64::from(moved) * (total as f64).sqrt() / 0.1 - 1.0).abs() < 1e-3, "{moved}");
    }
}

/// Rows of tables are added to by many micro-batches and many times in one; a parameter without a gradient is zero.
#[test]
fn gradients_of_all_kinds_are_gathered_as_on_the_processor() {
    let network = networks().next().unwrap();
    let layout = network.layout();
    let table = layout.parameters().iter().position(|declared| declared.role != Role::Dense).unwrap();
    let [tokens, width] = [layout.parameters()[table].shape[0], layout.parameters()[table].shape[1]];
    let Role::Embedding { padding } = layout.parameters()[table].role else { unreachable!() };
    for device in &devices() {
        let mut trainer = Arrays::new(&network).on_device(device);
        // The sum of a batch is all that counts, whatever the last one left.
        for batch in 0..2u64 {
            let mut expected = vec![0.0f64; layout.total()];
            trainer.clear_gradient();
            for micro_batch in 0..2u64 {
                let seed = batch * 1_000 + micro_batch * 100;
                let mut dense = Vec::new();
                for (index, declared) in layout.parameters().iter().enumerate() {
                    // Of each, in some micro-batches; of the fourth never.
                    let there = index != table && index != 3 && !(index as u64 + micro_batch).is_multiple_of(5);
                    dense.push(there.then(|| {
                        let slope = random::<1>([declared.len()], seed + index as u64, 1.0);
                        let into = expected[layout.range(index)].iter_mut();
                        into.zip(values(&slope)).for_each(|(into, slope)| *into += f64::from(slope));
                        Tensor::from_data(slope.into_data(), device)
                    }));
                }
                let embedding_rows = [301, 5].map(|count| {
                    let ids: Arc<[u32]> =
                        (0..count).map(|row| (row * row % 7 + row % tokens as u32 / 3) % 40).collect();
                    let rows = random::<2>([count as usize, width], seed + u64::from(count), 1.0);
                    for (&id, row) in ids.iter().zip(values(&rows).chunks_exact(width)) {
                        if padding != Some(id as usize) {
                            let into = &mut expected[layout.range(table)][id as usize * width..][..width];
                            into.iter_mut().zip(row).for_each(|(into, &slope)| *into += f64::from(slope));
                        }
                    }
                    SparseRowGradients { parameter: table, ids, rows: Tensor::from_data(rows.into_data(), device) }
                });
                let embedding_rows = if batch == 1 && micro_batch == 0 { Vec::new() } else { embedding_rows.into() };
                if embedding_rows.is_empty() {
                    expected[layout.range(table)].fill(0.0);
                }
                trainer.add(DeviceGradients { dense, embedding_rows });
            }
            let found = trainer.arrays.gradient_to_host();
            let expected: Vec<f32> = expected.iter().map(|&value| value as f32).collect();
            assert_close(&found, &expected, 2e-6);
        }
    }
}

#[test]
fn weights_that_are_not_finite_show_and_restore_snapshot_to_the_snapshot() {
    let network = networks().next().unwrap();
    for device in &devices() {
        let mut arrays = Arrays::new(&network);
        let before = arrays.weights.clone();
        arrays.weights.values_mut()[7] = f32::NAN;
        let mut trainer = arrays.on_device(device);
        assert!(!trainer.is_finite());
        trainer.restore_snapshot();
        assert!(trainer.is_finite());
        device_step(&network, &mut trainer, 0);
        trainer.take_snapshot();
        arrays.sync_to_host(&trainer);
        assert_ne!(arrays.weights.values(), before.values());
        assert_eq!(arrays.weights.values(), arrays.snapshot.values());
        device_step(&network, &mut trainer, 1);
        let mut later = arrays.clone();
        later.sync_to_host(&trainer);
        assert_eq!(later.snapshot.values(), arrays.snapshot.values(), "a later update does not change it");
        assert_ne!(later.weights.values(), arrays.weights.values());
    }
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
        let (found, expected) = (
            of(arrays.on_device(&device::cpu()).weights(), true),
            of(DeviceWeights::new(&weights, &device::cpu()), false),
        );
        assert!((found / expected - 1.0).abs() < 1e-4, "{precision}: {found} where {expected} was expected");
    }
}
