//! A law of every family that reads token after token: it gives what the form that trains gives.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::families::FAMILIES;
use crate::heads::labels::{self, LOGITS};
use crate::parameters::Weights;
use crate::testing::{both_implementations, values};
use crate::{Architecture, DeviceWeights, ForwardPass, Network, Tokens, device};

const VOCABULARY: usize = 40;

fn networks() -> impl Iterator<Item = Network> {
    let built = FAMILIES.iter().map(|family| {
        labels::network(Architecture {
            family: family.name.to_owned(),
            size: "d64/l2".parse().unwrap(),
            vocabulary: VOCABULARY,
            dropout: 0.0,
            options: BTreeMap::new(),
        })
        .unwrap()
    });
    built.filter(|network| network.recurrent().is_some())
}

/// Runs the kernels, and the decomposed operations.
fn at_once(network: &Network, weights: &Weights, game: &[u16]) -> [Vec<f32>; 2] {
    let device_weights = DeviceWeights::new(weights, &device::cpu());
    let tokens = Tokens::padded([game], VOCABULARY as u32 - 1);
    both_implementations(|| values(&network.flat_logits(&ForwardPass::evaluation(&device_weights), &tokens)))
}

/// Largest difference from the same game read token after token in f64, and in f32; relative to the largest logit of the
/// step where that is above 1, since nothing bounds the states of some families.
fn apart(network: &Network, weights: &Weights, game: &[u16]) -> (f64, f64) {
    let (exact, usual) = (network.recurrent_f64().unwrap(), network.recurrent().unwrap());
    let (mut exact_memory, mut usual_memory) = (exact.start(weights), usual.start(weights));
    let sizes: Vec<usize> = usual_memory.0.iter().map(Vec::len).collect();
    let mut worst = (0.0f64, 0.0f64);
    let [kernels, decomposed] = at_once(network, weights, game);
    for ((kernels, decomposed), &token) in kernels.chunks_exact(LOGITS).zip(decomposed.chunks_exact(LOGITS)).zip(game) {
        let truth = exact.step(weights, &mut exact_memory, token.into());
        let read = usual.step(weights, &mut usual_memory, token.into());
        let largest = truth.iter().fold(1.0f64, |largest, logit| largest.max(logit.abs()));
        let far = |found: &[f32]| {
            let errors = found.iter().zip(&truth).map(|(&found, truth)| (f64::from(found) - truth).abs() / largest);
            errors.fold(0.0f64, |worst, error| if error.is_nan() { f64::INFINITY } else { worst.max(error) })
        };
        worst = (worst.0.max(far(kernels)).max(far(decomposed)), worst.1.max(far(&read)));
        assert!(usual_memory.0.iter().map(Vec::len).eq(sizes.iter().copied()), "the memory grows");
    }
    worst
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn token_after_token_gives_what_all_at_once_gives(
        game in prop::collection::vec(0u16..39, 1..160),
        seed in 0u64..100,
    ) {
        for network in networks() {
            let (all, one) = apart(&network, &network.initial_weights(seed), &game);
            prop_assert!(all < 3e-5 && one < 3e-5, "{}: {} {}", network.architecture().family, all, one);
        }
    }
}

#[test]
fn long_games_stay_equal_across_the_edges_of_chunks() {
    for network in networks() {
        let weights = network.initial_weights(7);
        for steps in [63, 64, 65, 127, 128, 129, 255, 256, 257, 513, 640u16] {
            let game: Vec<u16> = (0..steps).map(|t| (t * 7 + t / 5) % 39).collect();
            let (all, one) = apart(&network, &weights, &game);
            let family = &network.architecture().family;
            assert!(all < 5e-5 && one < 5e-5, "{family}, {steps} steps: {all} {one}");
        }
    }
}
