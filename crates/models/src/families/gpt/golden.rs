//! Fixtures of the paper on boards and moves, which nanoGPT in PyTorch computed: logits, loss, gradients, updates.

mod inside_models;

use std::collections::BTreeMap;

use cwm_contract::testing::shared;
use safetensors::SafeTensors;
use serde_json::Value;

use crate::gradient::GradientSum;
use crate::heads::choice::{self, NONE, Targets};
use crate::parameters::Weights;
use crate::testing::{both_implementations, values};
use crate::{Architecture, DeviceWeights, ForwardPass, Network, Tokens, device};

const FOLDER: &str = "systems/board-vs-moves-golden";

fn models() -> Option<Value> {
    let file = shared(&format!("{FOLDER}/models.json"))?;
    Some(serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap())
}

/// The model that an entry of the list describes.
fn network(entry: &Value) -> Network {
    let number = |key: &str| entry[key].as_u64().unwrap();
    let (outputs, positions) = (number("vocabulary") as usize, number("context"));
    let mut options = BTreeMap::from([("tied", "true".to_owned()), ("positions", positions.to_string())]);
    if entry["heads"].is_u64() {
        options.insert("heads", number("heads").to_string());
    }
    if entry["mask"] == "bidirectional" {
        options.insert("mask", "none".to_owned());
    }
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: entry["size"].as_str().unwrap().parse().unwrap(),
        vocabulary: outputs,
        dropout: 0.0,
        options: options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    };
    Network::build(architecture, outputs).unwrap()
}

#[test]
fn parameters_are_as_many_as_the_paper_s_table_has() {
    let Some(models) = models() else { return };
    for list in ["fixtures", "parameter_counts"] {
        for entry in models[list].as_array().unwrap() {
            assert_eq!(network(entry).layout().total() as u64, entry["parameters"].as_u64().unwrap(), "{entry}");
        }
    }
}

#[test]
fn parameters_are_as_many_as_gpt_2_has() {
    for (size, positions, parameters) in [
        ("d768/l12", 512, 85_504_512),
        ("d768/l12", 1024, 85_897_728),
        ("d512/l8", 512, 25_519_104),
        ("d256/l4", 512, 3_309_056),
        ("d128/l4", 512, 868_096),
        ("d64/l4", 512, 237_440),
    ] {
        let positions = positions.to_string();
        let options = [("bias", "true"), ("gelu", "tanh"), ("tied", "true"), ("positions", &positions)];
        let architecture = Architecture {
            family: "gpt".to_owned(),
            size: size.parse().unwrap(),
            vocabulary: 72,
            dropout: 0.1,
            options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        assert_eq!(Network::build(architecture, 72).unwrap().layout().total(), parameters, "{size} {positions}");
    }
}

/// A fixture's batch and its tensors.
struct Fixture<'f> {
    tensors: SafeTensors<'f>,
    tokens: Tokens,
    targets: Targets,
    /// Rows that have a target.
    rows: Vec<usize>,
    /// The prefix of the names of parameters.
    prefix: &'static str,
}

impl<'f> Fixture<'f> {
    fn read(bytes: &'f [u8], padding: u32) -> Self {
        let tensors = SafeTensors::deserialize(bytes).unwrap();
        let tokens = Tokens::padded(games(&tensors, "input.ids").iter().map(Vec::as_slice), padding);
        let targets =
            whole(&tensors, "input.targets").into_iter().map(|class| u16::try_from(class).unwrap_or(NONE)).collect();
        Fixture::new(tensors, tokens, targets, "transformer.")
    }

    fn new(tensors: SafeTensors<'f>, tokens: Tokens, targets: Vec<u16>, prefix: &'static str) -> Self {
        assert_eq!(targets.len(), tokens.rows());
        let rows = (0..targets.len()).filter(|&row| targets[row] != NONE).collect();
        Fixture { tensors, tokens, targets: Targets::new(targets), rows, prefix }
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        let data = self.tensors.tensor(name).unwrap_or_else(|error| panic!("{name}: {error}")).data().chunks_exact(4);
        data.map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    /// Its parameters under our names, which lack the prefix.
    fn weights(&self, network: &Network) -> Weights {
        let mut weights = Weights::zeros(network.layout().clone());
        for (index, declared) in network.layout().parameters().iter().enumerate() {
            let name = format!("param.{}{}", self.prefix, declared.name);
            assert_eq!(self.tensors.tensor(&name).unwrap().shape(), declared.shape);
            weights.get_mut(index).copy_from_slice(&self.floats(&name));
        }
        let theirs = self.tensors.names().into_iter().filter(|name| name.starts_with("param.")).count();
        assert_eq!(theirs, network.layout().parameters().len());
        weights
    }

    /// Loss and gradient at these weights.
    fn gradient(&self, network: &Network, weights: &Weights) -> (f64, Weights) {
        let device_weights = DeviceWeights::new(weights, &device::cpu());
        let pass = ForwardPass::training(&device_weights, None);
        let loss = choice::loss(network.flat_logits(&pass, &self.tokens), &self.targets, self.rows.len());
        let mut sum = GradientSum::new(network.layout().clone());
        sum.add(0, pass.gradient(&loss.share));
        (loss.sum() / self.rows.len() as f64, sum.with(|sum| sum.clone()))
    }
}

/// A tensor of whole numbers.
fn whole(tensors: &SafeTensors<'_>, name: &str) -> Vec<i64> {
    let data = tensors.tensor(name).unwrap().data().chunks_exact(8);
    data.map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// The tokens of each game, without padding.
fn games(tensors: &SafeTensors<'_>, name: &str) -> Vec<Vec<u16>> {
    let (ids, lengths) = (whole(tensors, name), whole(tensors, "input.lengths"));
    let games = ids.chunks_exact(ids.len() / lengths.len()).zip(lengths);
    games.map(|(ids, length)| ids[..length as usize].iter().map(|&id| id as u16).collect()).collect()
}

/// AdamW, written down once more in f64.
struct AdamW {
    moments: Vec<[f64; 2]>,
    updates: i32,
    rate: f64,
    betas: [f64; 2],
    decay: f64,
}

impl AdamW {
    /// Updates `weights` by this gradient of norm `norm`, which is clipped to 1.
    fn update(&mut self, weights: &mut Weights, gradient: &Weights, norm: f64) {
        let decays: Vec<bool> =
            weights.layout().parameters().iter().flat_map(|declared| vec![declared.decays; declared.len()]).collect();
        self.moments.resize(decays.len(), [0.0; 2]);
        self.updates += 1;
        let clip = (1.0 / (norm + 1e-6)).min(1.0);
        let corrections = self.betas.map(|beta| 1.0 - beta.powi(self.updates));
        let values = weights.values_mut().iter_mut().zip(gradient.values()).zip(&mut self.moments).zip(&decays);
        for (((weight, grad), [first, second]), decays) in values {
            let grad = f64::from(*grad) * clip;
            *first = self.betas[0] * *first + (1.0 - self.betas[0]) * grad;
            *second = self.betas[1] * *second + (1.0 - self.betas[1]) * grad * grad;
            let kept = f64::from(*weight) * (1.0 - self.rate * if *decays { self.decay } else { 0.0 });
            let root = (*second / corrections[1]).sqrt() + 1e-8;
            *weight = (kept - self.rate * *first / corrections[0] / root) as f32;
        }
    }
}

/// The length of an array as a vector.
fn norm(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

/// The largest distance of `found` from `expected`, as a share of what is allowed.
fn apart(found: &[f32], expected: &[f32], allowed: impl Fn(f32) -> f32) -> f32 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| (a - b).abs() / allowed(b.abs())).fold(0.0, f32::max)
}

/// Does `check` with each fixture, its entry in the list and its model, in both implementations.
fn each_fixture(check: impl Fn(&Value, &Fixture<'_>, &Network)) {
    let Some(models) = models() else { return };
    let fixtures = models["fixtures"].as_array().unwrap();
    assert_eq!(fixtures.len(), 5);
    for entry in fixtures {
        let file = shared(&format!("{FOLDER}/{}", entry["file"].as_str().unwrap())).unwrap();
        let (bytes, network) = (std::fs::read(file).unwrap(), network(entry));
        let fixture = Fixture::read(&bytes, network.architecture().vocabulary as u32 - 1);
        both_implementations(|| check(entry, &fixture, &network));
    }
}

#[test]
fn logits_and_the_stream_are_those_of_the_fixtures() {
    each_fixture(|entry, fixture, network| {
        let weights = fixture.weights(network);
        let device_weights = DeviceWeights::new(&weights, &device::cpu());
        let pass = ForwardPass::evaluation(&device_weights).observing();
        let logits = values(&network.flat_logits(&pass, &fixture.tokens));
        let outputs = logits.len() / fixture.tokens.rows();
        let found: Vec<f32> =
            fixture.rows.iter().flat_map(|row| logits[row * outputs..(row + 1) * outputs].to_vec()).collect();
        let far = apart(&found, &fixture.floats("output.logits"), |x| 1e-5 + 1e-5 * x);
        assert!(far <= 1.0, "{}: {far}", entry["file"]);
        for (name, value) in pass.observed().into_iter().filter(|(name, _)| name.ends_with(".out")) {
            let (found, expected) = (values(&value), fixture.floats(&format!("mid.{name}")));
            let width = found.len() / fixture.tokens.rows();
            let rows = found.chunks_exact(width).zip(expected.chunks_exact(width)).zip(fixture.tokens.is_valid());
            for ((found, expected), _) in rows.filter(|(_, is_valid)| *is_valid) {
                let far = apart(found, expected, |x| 1e-5 + 1e-5 * x);
                assert!(far <= 1.0, "{} {name}: {far}", entry["file"]);
            }
        }
    });
}

#[test]
fn losses_and_gradients_are_those_of_the_fixtures() {
    each_fixture(|entry, fixture, network| {
        let (loss, gradient) = fixture.gradient(network, &fixture.weights(network));
        assert!((loss - entry["loss"].as_f64().unwrap()).abs() <= 1e-6, "{}: {loss}", entry["file"]);
        for (index, declared) in network.layout().parameters().iter().enumerate() {
            let expected = fixture.floats(&format!("grad.transformer.{}", declared.name));
            let largest = expected.iter().fold(0.0, |largest: f32, grad| largest.max(grad.abs()));
            let far = apart(gradient.get(index), &expected, |_| 1e-5 * largest);
            assert!(far <= 1.0, "{} {}: {far}", entry["file"], declared.name);
        }
    });
}

#[test]
fn three_updates_are_those_of_the_fixtures() {
    each_fixture(|entry, fixture, network| {
        let mut weights = fixture.weights(network);
        let mut adamw = AdamW { moments: Vec::new(), updates: 0, rate: 3e-4, betas: [0.9, 0.95], decay: 0.1 };
        for (step, expected) in entry["three_updates"].as_array().unwrap().iter().enumerate() {
            let (loss, gradient) = fixture.gradient(network, &weights);
            let norm = norm(gradient.values());
            for (found, expected) in [loss, norm].into_iter().zip(expected.as_array().unwrap()) {
                let expected = expected.as_f64().unwrap();
                assert!((found - expected).abs() <= 1e-5 * expected.max(1.0), "{} {step}: {found}", entry["file"]);
            }
            adamw.update(&mut weights, &gradient, norm);
        }
    });
}
