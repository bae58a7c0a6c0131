//! Laws of the sites, which hold of every family: who looks changes no bit, and an edit changes what it names and what
//! follows from it.

use std::collections::BTreeMap;

use burn::tensor::{Tensor, TensorData};
use proptest::prelude::*;

use super::{Change, Edit, Sites};
use crate::counter_rng::CounterRng;
use crate::families::FAMILIES;
use crate::gradient::GradientSum;
use crate::heads::labels::{self, LOGITS};
use crate::testing::{both_implementations, random, values};
use crate::{Architecture, DeviceWeights, ForwardPass, Network, Tokens, device};

const VOCABULARY: usize = 40;
const WIDTH: usize = 64;

fn networks() -> impl Iterator<Item = Network> {
    FAMILIES.iter().map(|family| {
        labels::network(Architecture {
            family: family.name.to_owned(),
            size: format!("d{WIDTH}/l2").parse().unwrap(),
            vocabulary: VOCABULARY,
            dropout: 0.2,
            options: BTreeMap::new(),
        })
        .unwrap()
    })
}

fn batch(games: &[Vec<u16>]) -> Tokens {
    Tokens::padded(games.iter().map(Vec::as_slice), VOCABULARY as u32 - 1)
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The bits of a pass.
#[derive(Debug, PartialEq)]
struct Outcome {
    logits: Vec<u32>,
    /// The stream at every site, from 0.
    streams: Vec<Vec<u32>>,
}

/// A pass that keeps all sites.
fn pass(network: &Network, weights: &DeviceWeights<'_>, tokens: &Tokens, edit: Option<Edit>) -> Outcome {
    let pass = ForwardPass::evaluation(weights).with_sites(Sites { keep: (0..network.sites()).collect(), edit });
    let logits = bits(&values(&network.flat_logits(&pass, tokens)));
    let kept = pass.kept();
    let sites: Vec<usize> = kept.iter().map(|(site, _)| *site).collect();
    assert_eq!(sites, (0..network.sites()).collect::<Vec<_>>(), "each site once, in order");
    Outcome { logits, streams: kept.iter().map(|(_, stream)| bits(&values(stream))).collect() }
}

fn add(site: usize, rows: &[usize], vectors: &[f32]) -> Option<Edit> {
    let vectors = Tensor::from_data(TensorData::new(vectors.to_vec(), [rows.len(), WIDTH]), &device::cpu());
    Some(Edit { site, change: Change::Add { rows: rows.to_vec(), vectors } })
}

fn replace(site: usize, function: impl Fn(Tensor<2>) -> Tensor<2> + Send + Sync + 'static) -> Option<Edit> {
    Some(Edit { site, change: Change::Replace(Box::new(function)) })
}

/// The sum of two arrays of bits of f32, element by element.
fn sum(stream: &[u32], vector: &[f32]) -> Vec<u32> {
    stream.iter().zip(vector).map(|(&bits, value)| (f32::from_bits(bits) + value).to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn keeping_and_edits_of_nothing_change_no_bit(
        games in prop::collection::vec(prop::collection::vec(0u16..39, 1..30), 1..4),
        seed in 0u64..100,
    ) {
        let tokens = batch(&games);
        for network in networks() {
            let family = &network.architecture().family;
            let weights = network.initial_weights(seed);
            let weights = DeviceWeights::new(&weights, &device::cpu());
            for [plain, kept] in both_implementations(|| {
                let unobserved = ForwardPass::evaluation(&weights);
                let plain = bits(&values(&network.flat_logits(&unobserved, &tokens)));
                assert!(unobserved.kept().is_empty());
                let kept = pass(&network, &weights, &tokens, None);
                let rows: Vec<usize> = (0..tokens.rows()).collect();
                for site in 0..network.sites() {
                    let zeros = vec![0.0; tokens.rows() * WIDTH];
                    assert_eq!(pass(&network, &weights, &tokens, add(site, &rows, &zeros)), kept, "{family} {site}");
                    assert_eq!(pass(&network, &weights, &tokens, replace(site, |x| x)), kept, "{family} {site}");
                }
                // The last site and the final norm are what the head reads.
                let evaluation = ForwardPass::evaluation(&weights).with_sites(Sites { keep: vec![2], edit: None });
                network.flat_logits(&evaluation, &tokens);
                let (_, last) = evaluation.kept().pop().unwrap();
                assert_eq!(bits(&values(&network.logits_from(&evaluation, last))), kept.logits, "{family}");
                [plain, kept.logits]
            }) {
                prop_assert_eq!(plain, kept, "{}", family);
            }
        }
    }

    #[test]
    fn an_edit_changes_its_row_and_what_follows_in_its_game_alone(
        games in prop::collection::vec(prop::collection::vec(0u16..39, 1..30), 1..4),
        game in any::<prop::sample::Index>(),
        step in any::<prop::sample::Index>(),
        seed in 0u64..100,
    ) {
        let tokens = batch(&games);
        let game = game.index(games.len());
        let row = game * tokens.time() + step.index(games[game].len());
        // Rows that an edit of `row` may change.
        let reach = row..(game + 1) * tokens.time();
        let vector = values(&random::<1>([WIDTH], seed + 1, 1.0));
        for network in networks() {
            let family = &network.architecture().family;
            let weights = network.initial_weights(seed);
            let weights = DeviceWeights::new(&weights, &device::cpu());
            both_implementations(|| {
                let plain = pass(&network, &weights, &tokens, None);
                for site in 0..network.sites() {
                    let edited = pass(&network, &weights, &tokens, add(site, &[row], &vector));
                    assert_eq!(edited.streams[..site], plain.streams[..site], "{family} {site}");
                    let own = row * WIDTH..(row + 1) * WIDTH;
                    let mut expected = plain.streams[site].clone();
                    expected.splice(own.clone(), sum(&plain.streams[site][own], &vector));
                    assert_eq!(edited.streams[site], expected, "{family} {site}");
                    for (width, found, plain) in edited.streams[site..]
                        .iter()
                        .zip(&plain.streams[site..])
                        .map(|(found, plain)| (WIDTH, found, plain))
                        .chain([(LOGITS, &edited.logits, &plain.logits)])
                    {
                        let (first, end) = (reach.start * width, reach.end * width);
                        assert_eq!(found[..first], plain[..first], "{family} {site}");
                        assert_eq!(found[end..], plain[end..], "{family} {site}");
                        assert_ne!(found[first..first + width], plain[first..first + width], "{family} {site}");
                    }
                    // Everything after a site reads what it was replaced by.
                    let halved = pass(&network, &weights, &tokens, replace(site, |x| x * 0.5));
                    let half = |bits: &u32| (f32::from_bits(*bits) * 0.5).to_bits();
                    assert_eq!(halved.streams[site], plain.streams[site].iter().map(half).collect::<Vec<_>>());
                    assert_ne!(halved.logits, plain.logits, "{family} {site}");
                }
            });
        }
    }
}

#[test]
fn keeping_changes_no_bit_of_a_gradient() {
    let tokens = batch(&[(0..21).map(|t| t * 5 % 39).collect(), vec![3; 8]]);
    for network in networks() {
        let weights = network.initial_weights(1);
        let device_weights = DeviceWeights::new(&weights, &device::cpu());
        let gradient = |sites: Option<Sites>| {
            let pass = ForwardPass::training(&device_weights, Some(CounterRng::new(1, 2, 3)));
            let pass = match sites {
                Some(sites) => pass.with_sites(sites),
                None => pass,
            };
            let loss = network.flat_logits(&pass, &tokens).powi_scalar(2).sum();
            let mut sum = GradientSum::new(network.layout().clone());
            sum.add(0, pass.gradient(&loss));
            sum.with(|sum| bits(sum.values()))
        };
        let keep = (0..network.sites()).collect();
        for [plain, kept] in
            both_implementations(|| [gradient(None), gradient(Some(Sites { keep: Vec::clone(&keep), edit: None }))])
        {
            assert_eq!(plain, kept, "{}", network.architecture().family);
        }
    }
}

#[test]
#[should_panic(expected = "site")]
fn a_site_that_is_not_there_is_no_site_that_stays_unchanged() {
    let network = networks().next().unwrap();
    let weights = network.initial_weights(1);
    let weights = DeviceWeights::new(&weights, &device::cpu());
    let pass = ForwardPass::evaluation(&weights).with_sites(Sites { keep: vec![network.sites()], edit: None });
    network.flat_logits(&pass, &batch(&[vec![1, 2]]));
}
