//! Laws of the family beyond those of all: both masks, both heads, options in every combination.

use crate::counter_rng::CounterRng;
use crate::heads::choice::{self, NONE, Targets};
use crate::parameters::{InitRng, Weights};
use crate::testing::{assert_close, both_implementations, values};
use crate::{Architecture, DeviceWeights, ForwardPass, ModelError, Network, Tokens, device};

const VOCABULARY: usize = 23;
const OUTPUTS: usize = 19;

/// Every pair of words of these options.
fn variants() -> Vec<Vec<(&'static str, &'static str)>> {
    let mut all = vec![vec![]];
    for (name, words) in [
        ("mask", ["causal", "none"]),
        ("bias", ["false", "true"]),
        ("gelu", ["erf", "tanh"]),
        ("tied", ["false", "true"]),
    ] {
        all = all
            .into_iter()
            .flat_map(|options| words.map(|word| [options.clone(), vec![(name, word)]].concat()))
            .collect();
    }
    all
}

fn build(size: &str, outputs: usize, options: &[(&str, &str)]) -> Result<Network, ModelError> {
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: size.parse().unwrap(),
        vocabulary: VOCABULARY,
        dropout: 0.2,
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    };
    Network::build(architecture, outputs)
}

fn network(options: &[(&str, &str)]) -> Network {
    build("d24/l2", OUTPUTS, &[options, &[("heads", "2"), ("positions", "40")]].concat()).unwrap()
}

/// Weights larger than initial ones, so that every parameter shows.
fn weights(network: &Network) -> Weights {
    let mut weights = network.initial_weights(3);
    let mut draw = InitRng::seeded(4);
    weights.values_mut().iter_mut().for_each(|weight| *weight += (0.15 * draw.normal()) as f32);
    weights
}

/// Logits of the real steps of each game.
fn logits(network: &Network, weights: &Weights, games: &[Vec<u16>]) -> Vec<Vec<f32>> {
    let tokens = Tokens::padded(games.iter().map(Vec::as_slice), VOCABULARY as u32 - 1);
    let device_weights = DeviceWeights::new(weights, &device::cpu());
    let logits = values(&network.logits(&ForwardPass::evaluation(&device_weights), &tokens));
    let of_game = |(game, logits): (&Vec<u16>, &[f32])| logits[..game.len() * OUTPUTS].to_vec();
    games.iter().zip(logits.chunks_exact(tokens.time() * OUTPUTS)).map(of_game).collect()
}

fn game(length: u16) -> Vec<u16> {
    (0..length).map(|t| (t * t + 3 * t + length) % (VOCABULARY as u16 - 1)).collect()
}

#[test]
fn both_implementations_agree_and_padding_changes_nothing() {
    let games = [game(33), game(1), game(7), game(16)];
    for options in variants() {
        let network = network(&options);
        let weights = weights(&network);
        let [kernels, decomposed] = both_implementations(|| logits(&network, &weights, &games));
        for ((kernels, decomposed), game) in kernels.iter().zip(&decomposed).zip(&games) {
            assert_close(decomposed, kernels, 2e-5);
            for alone in both_implementations(|| logits(&network, &weights, std::slice::from_ref(game))) {
                assert_close(&alone[0], kernels, 2e-5);
            }
        }
    }
}

#[test]
fn a_later_token_changes_an_earlier_step_without_a_mask_alone() {
    let (whole, mut other) = (game(21), game(21));
    other[20] = (other[20] + 1) % 20;
    for options in variants() {
        let network = network(&options);
        let weights = weights(&network);
        for both in both_implementations(|| logits(&network, &weights, &[whole.clone(), other.clone()])) {
            let earlier = 20 * OUTPUTS;
            let far = |steps: std::ops::Range<usize>| {
                let pairs = both[0][steps.clone()].iter().zip(&both[1][steps]);
                pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
            };
            assert!(far(earlier..earlier + OUTPUTS) > 1e-2, "{options:?}");
            match options[0].1 {
                "none" => assert!(far(0..OUTPUTS) > 1e-4, "{options:?}: {}", far(0..OUTPUTS)),
                _ => assert_eq!(both[0][..earlier], both[1][..earlier], "{options:?}"),
            }
        }
    }
}

/// Loss and gradient, with or without dropout.
fn gradient(network: &Network, weights: &Weights, dropout: bool) -> (f64, Weights) {
    let games = [game(17), game(5)];
    let tokens = Tokens::padded(games.iter().map(Vec::as_slice), VOCABULARY as u32 - 1);
    let is_target = |(row, is_valid): (usize, bool)| is_valid && row % 3 != 1;
    let classes = tokens.is_valid().enumerate().map(is_target).enumerate();
    let classes: Vec<u16> =
        classes.map(|(row, wanted)| if wanted { (row * 7 % OUTPUTS) as u16 } else { NONE }).collect();
    let targets = Targets::new(classes);
    let device_weights = DeviceWeights::new(weights, &device::cpu());
    let pass = ForwardPass::training(&device_weights, dropout.then(|| CounterRng::new(1, 2, 3)));
    let loss = choice::loss(network.flat_logits(&pass, &tokens), &targets, targets.count());
    let mut sum = crate::gradient::GradientSum::new(network.layout().clone());
    sum.add(0, pass.gradient(&loss.share));
    (loss.sum() / targets.count() as f64, sum.with(|sum| sum.clone()))
}

#[test]
fn gradients_are_slopes_in_both_implementations() {
    for (index, options) in variants().into_iter().enumerate() {
        let options = [&options[..], &[("heads", "2"), ("positions", "20")]].concat();
        let network = build("d12/l1", OUTPUTS, &options).unwrap();
        let weights = weights(&network);
        // Every option with and without dropout.
        let dropout = index.count_ones() % 2 == 1;
        let both = both_implementations(|| gradient(&network, &weights, dropout));
        assert!((both[0].0 - both[1].0).abs() < 1e-5, "{options:?}");
        for (index, declared) in network.layout().parameters().iter().enumerate() {
            let grads = both[0].1.get(index);
            assert_close(both[1].1.get(index), grads, 2e-5);
            // Along the gradient; a bias of keys has none, since it shifts all scores of a query alike.
            let steepness = grads.iter().map(|&grad| f64::from(grad).powi(2)).sum::<f64>().sqrt();
            let at = |step: f64| {
                let mut moved = weights.clone();
                for (weight, grad) in moved.get_mut(index).iter_mut().zip(grads) {
                    *weight += (step * f64::from(*grad) / steepness) as f32;
                }
                gradient(&network, &moved, dropout).0
            };
            let grad = (at(1e-2) - at(-1e-2)) / 2e-2;
            let name = &declared.name;
            assert!((grad - steepness).abs() < 1e-3 + 1e-2 * steepness, "{options:?} {name}: {grad}, {steepness}");
        }
    }
}

#[test]
fn initial_weights_have_the_spreads_of_nanogpt() {
    let network = build("d96/l3", OUTPUTS, &[("bias", "true")]).unwrap();
    let weights = network.initial_weights(1);
    for (index, declared) in network.layout().parameters().iter().enumerate() {
        let (name, values) = (&declared.name, weights.get(index));
        let spread = (values.iter().map(|value| value * value).sum::<f32>() / values.len() as f32).sqrt();
        let expected = match name {
            name if name.ends_with("bias") => 0.0,
            name if name.contains("ln_") => 1.0,
            name if name.ends_with("c_proj.weight") => 0.02 / 6f32.sqrt(),
            _ => 0.02,
        };
        assert!((spread - expected).abs() <= 0.1 * expected, "{name}: {spread} where {expected} was expected");
        assert_eq!(declared.decays, !name.ends_with("bias") && !name.contains("ln_"), "{name}");
    }
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let error =
        |size: &str, outputs: usize, options: &[(&str, &str)]| build(size, outputs, options).unwrap_err().to_string();
    assert_eq!(
        error("d64/l1", 24, &[("tied", "true")]),
        "a table of 23 tokens has too few rows for a tied head of 24 outputs"
    );
    assert_eq!(error("d64/l1", 4, &[("heads", "3")]), "size d64/l1: a width of 64 does not divide among 3 heads");
    assert_eq!(error("d64/l1", 4, &[("mask", "x")]), "option `mask` must be one of causal, none, not `x`");
    let network = build("d64/l1", 4, &[("positions", "8")]).unwrap();
    assert!(network.check_length(8).is_ok());
    assert_eq!(
        network.check_length(9).unwrap_err().to_string(),
        "a sequence of 9 tokens is longer than the 8 positions of gpt d64/l1"
    );
}

#[test]
fn heads_are_of_32_channels_and_of_64_from_a_width_of_512_on() {
    for (size, heads) in [("d16/l1", 1), ("d64/l1", 2), ("d256/l1", 8), ("d512/l1", 8), ("d768/l1", 12)] {
        let network = build(size, 4, &[]).unwrap();
        let settings = super::options::Settings::read(network.architecture()).unwrap();
        assert_eq!(settings.heads, heads, "{size}");
    }
}
