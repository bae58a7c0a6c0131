//! Laws that hold for every family, whatever it computes: tests over the whole registry.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use crate::counter_rng::CounterRng;
use crate::families::FAMILIES;
use crate::gradient::GradientSum;
use crate::heads::labels::{self, LABELS, LOGITS, SPANS, Targets, loss};
use crate::parameters::Weights;
use crate::testing::{both_implementations, values};
use crate::worker_pool::WorkerPool;
use crate::{Architecture, DeviceWeights, ForwardPass, Network, Tokens, device};

const VOCABULARY: usize = 40;
const PADDING: u32 = VOCABULARY as u32 - 1;

fn networks() -> impl Iterator<Item = Network> {
    FAMILIES.iter().map(|family| {
        labels::network(Architecture {
            family: family.name.to_owned(),
            size: "d64/l2".parse().unwrap(),
            vocabulary: VOCABULARY,
            dropout: 0.2,
            options: BTreeMap::new(),
        })
        .unwrap()
    })
}

fn logits(network: &Network, weights: &Weights, games: &[Vec<u16>]) -> Vec<Vec<f32>> {
    let tokens = Tokens::padded(games.iter().map(Vec::as_slice), PADDING);
    let device_weights = DeviceWeights::new(weights, &device::cpu());
    let logits = values(&network.logits(&ForwardPass::evaluation(&device_weights), &tokens));
    let of_game = |(game, logits): (&Vec<u16>, &[f32])| logits[..game.len() * LOGITS].to_vec();
    games.iter().zip(logits.chunks_exact(tokens.time() * LOGITS)).map(of_game).collect()
}

fn far(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn padding_changes_no_real_step(
        games in prop::collection::vec(prop::collection::vec(0u16..39, 1..40), 1..5),
        seed in 0u64..100,
    ) {
        for network in networks() {
            let weights = network.initial_weights(seed);
            let of = |games: &[Vec<u16>]| both_implementations(|| logits(&network, &weights, games));
            let alone: Vec<_> = games.iter().map(|game| of(std::slice::from_ref(game))).collect();
            for (form, together) in of(&games).iter().enumerate() {
                for (alone, together) in alone.iter().zip(together) {
                    prop_assert!(far(&alone[form][0], together) < 1e-4, "{}", network.architecture().family);
                }
            }
        }
    }

    #[test]
    fn a_later_token_changes_no_earlier_step(
        game in prop::collection::vec(0u16..39, 2..40),
        at in any::<prop::sample::Index>(),
        seed in 0u64..100,
    ) {
        let at = at.index(game.len());
        let mut other = game.clone();
        other[at] = (other[at] + 1) % 39;
        for network in networks() {
            let weights = network.initial_weights(seed);
            for both in both_implementations(|| logits(&network, &weights, &[game.clone(), other.clone()])) {
                let family = &network.architecture().family;
                prop_assert_eq!(&both[0][..at * LOGITS], &both[1][..at * LOGITS], "{}", family);
                prop_assert!(far(&both[0][at * LOGITS..], &both[1][at * LOGITS..]) > 1e-4, "{}", family);
            }
        }
    }
}

/// Gradient of four games in two micro-batches, on so many workers, with dropout.
fn gradient(network: &Network, weights: &Weights, workers: usize, dropout: bool) -> (f64, Weights) {
    gradient_in(|step| step(), network, weights, workers, dropout)
}

/// The same, each micro-batch in the form that `form` takes.
fn gradient_in(
    form: fn(&dyn Fn() -> f64) -> f64,
    network: &Network,
    weights: &Weights,
    workers: usize,
    dropout: bool,
) -> (f64, Weights) {
    let games: Vec<Vec<u16>> =
        (0..4u16).map(|game| (0..10 + game * 7).map(|t| (t * 5 + game) % 39).collect()).collect();
    let steps = games.iter().map(Vec::len).sum();
    let device_weights = DeviceWeights::new(weights, &device::cpu());
    let mut sum = GradientSum::new(network.layout().clone());
    let losses = WorkerPool::new(workers).unwrap().map(2, |cut| {
        let games = &games[cut * 2..cut * 2 + 2];
        let tokens = Tokens::padded(games.iter().map(Vec::as_slice), PADDING);
        let label = |i: usize| ((i * 7 + cut) % SPANS[i % LABELS].1) as u8;
        let targets = Targets {
            labels: (0..tokens.rows() * LABELS).map(label).collect(),
            valid: tokens.is_valid().collect::<Arc<[bool]>>(),
        };
        form(&|| {
            let pass = ForwardPass::training(&device_weights, dropout.then(|| CounterRng::new(5, 1, cut as u64)));
            let loss = loss(network.flat_logits(&pass, &tokens), &targets, steps);
            sum.add(cut, pass.gradient(&loss.share));
            loss.sum()
        })
    });
    (losses.iter().sum(), sum.with(|sum| sum.clone()))
}

#[test]
fn gradients_have_the_same_bits_on_any_number_of_workers() {
    for network in networks() {
        let weights = network.initial_weights(1);
        let (loss, one) = gradient(&network, &weights, 1, true);
        for workers in [2, 3] {
            let (other_loss, other) = gradient(&network, &weights, workers, true);
            assert_eq!(loss.to_bits(), other_loss.to_bits());
            assert!(one.values().iter().zip(other.values()).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
        let (plain, _) = gradient(&network, &weights, 1, false);
        // The authors' Gated DeltaNet takes a probability of dropout and makes nothing of it (models.md §1.6).
        let family = &network.architecture().family;
        assert_eq!(plain == loss, family.starts_with("gated_deltanet"), "{family}: dropout changes nothing");
    }
}

/// Decomposed operations must not fall back on a kernel: another device has none.
#[test]
fn no_kernel_runs_where_operations_are_composed() {
    let applied = || crate::ops::kernel::APPLIED.get();
    let games: Vec<Vec<u16>> = vec![(0..70).map(|t| t % 39).collect(), vec![3; 5]];
    let tokens = Tokens::padded(games.iter().map(Vec::as_slice), PADDING);
    let targets =
        Targets { labels: vec![0; tokens.rows() * LABELS].into(), valid: tokens.is_valid().collect::<Arc<[bool]>>() };
    for network in networks() {
        let (weights, family) = (network.initial_weights(1), &network.architecture().family);
        let device_weights = DeviceWeights::new(&weights, &device::cpu());
        let train = || {
            let pass = ForwardPass::training(&device_weights, Some(CounterRng::new(1, 2, 3)));
            let loss = loss(network.flat_logits(&pass, &tokens), &targets, tokens.valid());
            pass.gradient(&loss.share);
            applied()
        };
        let before = applied();
        assert_eq!(crate::ops::decomposed(train), before, "{family}");
        assert!(train() > before, "{family} has no kernels");
    }
}

/// Dropout takes the same elements in both forms, so losses and gradients are the same but for rounding.
#[test]
fn composed_gradients_with_dropout_are_those_of_the_kernels() {
    for network in networks() {
        let (weights, family) = (network.initial_weights(2), &network.architecture().family);
        let decomposed = gradient_in(|step| crate::ops::decomposed(step), &network, &weights, 1, true);
        let (loss, kernels) = gradient(&network, &weights, 1, true);
        assert!((decomposed.0 - loss).abs() < 1e-5 * loss, "{family}: {} and {loss}", decomposed.0);
        for (index, declared) in network.layout().parameters().iter().enumerate() {
            let (found, expected) = (decomposed.1.get(index), kernels.get(index));
            let length = expected.iter().map(|grad| grad * grad).sum::<f32>().sqrt();
            let apart = found.iter().zip(expected).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt();
            assert!(apart <= 1e-4 * length + 1e-9, "{family}: {}: {apart} of {length}", declared.name);
        }
    }
}

#[test]
fn unknown_names_are_refused_with_what_is_known() {
    let architecture = |family: &str, options: &[(&str, &str)]| Architecture {
        family: family.to_owned(),
        size: "d64/l1".parse().unwrap(),
        vocabulary: VOCABULARY,
        dropout: 0.1,
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    };
    let error = |architecture| labels::network(architecture).unwrap_err().to_string();
    assert!(error(architecture("lstm", &[])).starts_with("there is no family `lstm`; known are "));
    assert_eq!(
        error(architecture("transformer", &[("rope", "none")])),
        "option `rope` must be one of upstream, standard, not `none`"
    );
    assert_eq!(
        error(architecture("transformer", &[("depth", "3")])),
        "family `transformer` has no option `depth`; it has rope, heads"
    );
    assert_eq!(
        error(architecture("transformer", &[("heads", "5")])),
        "size d64/l1: a width of 64 does not divide among 5 heads"
    );
    let mut wet = architecture("transformer", &[]);
    wet.dropout = 1.0;
    assert_eq!(error(wet), "dropout must be from 0 to below 1, not 1");
}

#[test]
fn each_family_names_its_own_file_and_no_other_family() {
    let root = std::path::PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let (families, examples) = (root.join("src/families"), root.join("../../examples/new-family"));
    for family in FAMILIES {
        let file = format!("{}.rs", family.part);
        let is_there = families.join(&file).is_file() || families.join(family.part).is_dir();
        assert!(is_there != examples.join(&file).is_file(), "{} is nowhere, or in two places", family.part);
    }
}
