//! A pass that goes on from others is the whole pass: on the CPU to the bit, decomposed but for rounding.

use std::collections::BTreeMap;

use burn::tensor::Tensor;
use proptest::prelude::*;

use super::{Cache, ContinuationPoint};
use crate::families::FAMILIES;
use crate::parameters::{InitRng, Weights};
use crate::testing::{assert_close, values};
use crate::{Architecture, DeviceWeights, ForwardPass, Network, Precision, Sites, Tokens, device};

const VOCABULARY: usize = 40;
const OUTPUTS: usize = 37;
const WIDTH: usize = 64;
const LAYERS: usize = 3;

fn build(family: &str, options: &[(&str, &str)]) -> Network {
    let architecture = Architecture {
        family: family.to_owned(),
        size: format!("d{WIDTH}/l{LAYERS}").parse().unwrap(),
        vocabulary: VOCABULARY,
        dropout: 0.2,
        options: options
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<BTreeMap<_, _>>(),
    };
    Network::build(architecture, OUTPUTS).unwrap()
}

/// Models of four heads: a causal `gpt`, and Transformers with either rotation.
fn networks() -> [Network; 3] {
    let rope = |layout| build("transformer", &[("heads", "4"), ("rope", layout)]);
    [build("gpt", &[("bias", "true"), ("heads", "4"), ("positions", "64")]), rope("upstream"), rope("standard")]
}

/// Weights larger than initial ones, so that every parameter shows.
fn weights(network: &Network) -> Weights {
    let mut weights = network.initial_weights(3);
    let mut draw = InitRng::seeded(4);
    weights.values_mut().iter_mut().for_each(|weight| *weight += (0.1 * draw.normal()) as f32);
    weights
}

fn batch<'a>(games: impl IntoIterator<Item = &'a [u16]>) -> Tokens {
    Tokens::padded(games, VOCABULARY as u32 - 1)
}

/// The logits of the real steps of each sequence.
fn logits(network: &Network, pass: &ForwardPass, tokens: &Tokens, x: Tensor<2>) -> Vec<Vec<f32>> {
    let all = values(&network.logits_from(pass, x));
    let of_sequence = all.chunks_exact(tokens.time() * OUTPUTS);
    of_sequence.zip(tokens.lengths().iter()).map(|(all, &length)| all[..length * OUTPUTS].to_vec()).collect()
}

/// Does `check` with both implementations, in every precision; it gets the tolerance: none to the bit.
fn everywhere(network: &Network, check: impl Fn(&DeviceWeights<'_>, &dyn Fn(&[f32], &[f32]))) {
    let weights = weights(network);
    for precision in [Precision::Fp32, Precision::Tf32, Precision::Bf16] {
        let weights = DeviceWeights::new(&weights, &device::cpu()).with_precision(precision);
        check(&weights, &|found, expected| {
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(found), bits(expected), "{precision:?}");
        });
        // Where operands are rounded, what is near the middle of two may go either way.
        let tolerance = match precision {
            Precision::Fp32 => 1e-5,
            Precision::Tf32 => 1e-2,
            Precision::Bf16 => 1e-1,
        };
        crate::ops::decomposed(|| check(&weights, &|found, expected| assert_close(found, expected, tolerance)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn several_sequences_go_on_from_several(
        family in 0u8..3,
        games in prop::collection::vec(prop::collection::vec(0u16..39, 1..30), 1..5),
        tails in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::collection::vec(0u16..39, 0..12)), 1..7),
    ) {
        let network = &networks()[usize::from(family)];
        let model = network.incremental().unwrap();
        let after: Vec<ContinuationPoint> = tails.iter().map(|(sequence, steps, _)| {
            let sequence = sequence.index(games.len());
            ContinuationPoint { sequence, steps: steps.index(games[sequence].len() + 1) }
        }).collect();
        let wholes: Vec<Vec<u16>> = after.iter().zip(&tails).map(|(after, (_, _, tail))| {
            [&games[after.sequence][..after.steps], tail].concat()
        }).collect();
        everywhere(network, |weights, same| {
            let pass = ForwardPass::evaluation(weights);
            let first = batch(games.iter().map(Vec::as_slice));
            let (x, cache) = model.start(&pass, &first);
            let whole = network.flat_logits(&pass, &first);
            same(&values(&network.logits_from(&pass, x)), &values(&whole));
            let rest = batch(tails.iter().map(|(_, _, tail)| tail.as_slice()));
            if rest.time() == 0 {
                return;
            }
            let (x, later) = model.continue_from(&pass, &cache, &after, &rest);
            // With the steps before, all go on: here by one step.
            let both = cache.extended(&after, &later);
            let ends: Vec<ContinuationPoint> = (0..wholes.len()).map(|sequence| both.end_of(sequence)).collect();
            assert!(ends.iter().zip(&wholes).all(|(end, whole)| end.steps == whole.len()));
            let last = batch(wholes.iter().map(|_| &[7][..]));
            let (next, _) = model.continue_from(&pass, &both, &ends, &last);
            for (found, whole) in logits(network, &pass, &last, next).iter().zip(&wholes) {
                let whole = [&whole[..], &[7]].concat();
                let expected = values(&network.flat_logits(&pass, &batch([whole.as_slice()])));
                same(found, &expected[(whole.len() - 1) * OUTPUTS..]);
            }
            for ((found, whole), after) in logits(network, &pass, &rest, x).iter().zip(&wholes).zip(&after) {
                let whole = batch([whole.as_slice()]);
                if whole.time() > 0 {
                    let expected = values(&network.flat_logits(&pass, &whole));
                    same(found, &expected[after.steps * OUTPUTS..]);
                }
            }
        });
    }

    #[test]
    fn a_sequence_goes_on_part_by_part(
        family in 0u8..3,
        game in prop::collection::vec(0u16..39, 2..60),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        kept in any::<prop::sample::Index>(),
    ) {
        let network = &networks()[usize::from(family)];
        let model = network.incremental().unwrap();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| 1 + cut.index(game.len() - 1)).chain([game.len()]).collect();
        ends.sort_unstable();
        ends.dedup();
        everywhere(network, |weights, same| {
            let pass = ForwardPass::evaluation(weights);
            let expected = values(&network.flat_logits(&pass, &batch([game.as_slice()])));
            let (mut cache, mut begin) = (None::<Cache>, 0);
            for &end in &ends {
                let part = batch([&game[begin..end]]);
                let (x, later) = match &cache {
                    None => model.start(&pass, &part),
                    Some(cache) => model.continue_from(&pass, cache, &[ContinuationPoint { sequence: 0, steps: begin }], &part),
                };
                same(&values(&network.logits_from(&pass, x)), &expected[begin * OUTPUTS..end * OUTPUTS]);
                cache = Some(cache.map_or(later.clone(), |cache| cache.followed_by(&later)));
                begin = end;
            }
            // A shorter one of the same.
            let steps = 1 + kept.index(game.len() - 1);
            let cache = cache.unwrap().first(steps);
            assert_eq!(cache.steps(), steps);
            let rest = batch([&game[steps..]]);
            if rest.time() > 0 {
                let (x, _) = model.continue_from(&pass, &cache, &[ContinuationPoint { sequence: 0, steps }], &rest);
                same(&values(&network.logits_from(&pass, x)), &expected[steps * OUTPUTS..]);
            }
        });
    }

    #[test]
    fn from_a_site_on_a_step_is_that_of_the_whole_pass(
        family in 0u8..3,
        games in prop::collection::vec(prop::collection::vec(0u16..39, 1..30), 1..4),
        steps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..9),
    ) {
        let network = &networks()[usize::from(family)];
        let model = network.incremental().unwrap();
        let after: Vec<ContinuationPoint> = steps.iter().map(|(sequence, steps)| {
            let sequence = sequence.index(games.len());
            ContinuationPoint { sequence, steps: steps.index(games[sequence].len()) }
        }).collect();
        let tokens = batch(games.iter().map(Vec::as_slice));
        let rows: Vec<usize> = after.iter().map(|after| after.sequence * tokens.time() + after.steps).collect();
        everywhere(network, |weights, same| {
            let of = |values: &[f32], width: usize| -> Vec<f32> {
                rows.iter().flat_map(|row| values[row * width..(row + 1) * width].to_vec()).collect()
            };
            let keep = (0..network.sites()).collect();
            let pass = ForwardPass::evaluation(weights).with_sites(Sites { keep, edit: None });
            let (_, cache) = model.start(&pass, &tokens);
            let expected = of(&values(&network.flat_logits(&ForwardPass::evaluation(weights), &tokens)), OUTPUTS);
            for (site, stream) in pass.kept() {
                let x = of(&values(&stream), WIDTH);
                let x = Tensor::from_data(burn::tensor::TensorData::new(x, [rows.len(), WIDTH]), &device::cpu());
                let plain = ForwardPass::evaluation(weights);
                let x = model.continue_from_site(&plain, &cache, &after, site, x);
                same(&values(&network.logits_from(&plain, x)), &expected);
            }
        });
    }
}

#[test]
fn models_whose_earlier_steps_see_later_ones_or_that_have_no_keys_make_whole_passes() {
    for family in FAMILIES {
        let network = build(family.name, &[]);
        assert_eq!(network.incremental().is_some(), ["gpt", "transformer"].contains(&family.name), "{}", family.name);
    }
    assert!(build("gpt", &[("mask", "none")]).incremental().is_none());
}

#[test]
#[should_panic(expected = "one too many")]
fn a_step_behind_the_last_position_is_refused() {
    let network = build("gpt", &[("positions", "8")]);
    let weights = network.initial_weights(1);
    let weights = DeviceWeights::new(&weights, &device::cpu());
    let (pass, model) = (ForwardPass::evaluation(&weights), network.incremental().unwrap());
    let (_, cache) = model.start(&pass, &batch([&[1; 6][..]]));
    model.continue_from(&pass, &cache, &[ContinuationPoint { sequence: 0, steps: 6 }], &batch([&[1; 3][..]]));
}

/// The same bits alone and among others: what the laws above rest on.
#[test]
fn a_row_of_a_product_has_the_same_bits_among_however_many_rows() {
    for (inputs, outputs) in [(48, 144), (64, 64), (16, 16), (256, 64), (700, 128), (48, 5), (64, 1)] {
        let weight = crate::testing::random::<2>([outputs, inputs], 1, 1.0);
        let x = crate::testing::random::<2>([300, inputs], 2, 1.0);
        let product = |rows: usize| {
            let y = crate::ops::linear(x.clone().slice([0..rows]), weight.clone(), None, Precision::Fp32);
            values(&y)[..outputs].iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        };
        let among_all = product(300);
        for rows in [1, 2, 3, 5, 8, 16, 17, 33, 64, 65, 129] {
            assert_eq!(product(rows), among_all, "{rows} rows, {inputs} to {outputs}");
        }
    }
}
