//! Fixtures of the paper on the inside of models, which PyTorch computed: GPT-2 on moves as words, its stream at each
//! site, edits of the stream, and updates.

use std::collections::BTreeMap;

use burn::tensor::{Tensor, TensorData};
use cwm_contract::testing::shared;
use safetensors::SafeTensors;
use serde_json::Value;

use super::{AdamW, Fixture, apart, games, norm, whole};
use crate::heads::choice::NONE;
use crate::testing::{both_implementations, values};
use crate::{Architecture, Change, DeviceWeights, Edit, ForwardPass, Network, Sites, Tokens, device};

const FOLDER: &str = "systems/inside-models-golden";
const WORDS: usize = 72;
/// The word that begins a game, which is also the target of a game's last token.
const BEGIN: u16 = 1;

fn network(entry: &Value) -> Network {
    let config = |key: &str| entry["config"][key].as_u64().unwrap().to_string();
    let options = [
        ("bias", "true".to_owned()),
        ("gelu", "tanh".to_owned()),
        ("tied", "true".to_owned()),
        ("heads", config("heads")),
        ("positions", config("positions")),
    ];
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: format!("d{}/l{}", config("width"), config("layers")).parse().unwrap(),
        vocabulary: WORDS,
        dropout: 0.0,
        options: options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    };
    Network::build(architecture, WORDS).unwrap()
}

fn read(bytes: &[u8]) -> Fixture<'_> {
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let games = games(&tensors, "input.tokens");
    let tokens = Tokens::padded(games.iter().map(Vec::as_slice), 0);
    let mut targets = vec![NONE; tokens.rows()];
    for (game, targets) in games.iter().zip(targets.chunks_exact_mut(tokens.time())) {
        let next = game[1..].iter().copied().chain([BEGIN]);
        targets.iter_mut().zip(next).for_each(|(target, next)| *target = next);
    }
    Fixture::new(tensors, tokens, targets, "")
}

/// Does `check` with the entry of each fixture in the manifest, the fixture and its model, in both implementations.
fn each_fixture(check: impl Fn(&Value, &Fixture<'_>, &Network)) {
    let Some(manifest) = shared(&format!("{FOLDER}/manifest.json")) else { return };
    let manifest: Value = serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap();
    let fixtures: Vec<&Value> =
        manifest["fixtures"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "gpt2").collect();
    assert_eq!(fixtures.len(), 2);
    for entry in fixtures {
        let file = shared(&format!("{FOLDER}/{}", entry["file"].as_str().unwrap())).unwrap();
        let (bytes, network) = (std::fs::read(file).unwrap(), network(entry));
        assert_eq!(network.layout().total() as u64, entry["parameters"].as_u64().unwrap());
        let fixture = read(&bytes);
        both_implementations(|| check(entry, &fixture, &network));
    }
}

/// Asserts that the rows of real steps are those of the tensor `name`, within 5e-5.
fn assert_rows(fixture: &Fixture<'_>, name: &str, found: &Tensor<2>) {
    let (found, expected) = (values(found), fixture.floats(name));
    let width = found.len() / fixture.tokens.rows();
    let rows = found.chunks_exact(width).zip(expected.chunks_exact(width)).zip(fixture.tokens.is_valid());
    for ((found, expected), _) in rows.filter(|(_, is_valid)| *is_valid) {
        let far = apart(found, expected, |_| 5e-5);
        assert!(far <= 1.0, "{name}: {far}");
    }
}

fn has(fixture: &Fixture<'_>, prefix: &str) -> bool {
    fixture.tensors.names().iter().any(|name| name.starts_with(prefix))
}

#[test]
fn logits_and_the_stream_at_every_site_are_those_of_the_fixtures() {
    let whole_streams = std::cell::Cell::new(0);
    each_fixture(|_, fixture, network| {
        let weights = fixture.weights(network);
        let device_weights = DeviceWeights::new(&weights, &device::cpu());
        let sites = Sites { keep: (0..network.sites()).collect(), edit: None };
        let pass = ForwardPass::evaluation(&device_weights).with_sites(sites);
        assert_rows(fixture, "output.logits", &network.flat_logits(&pass, &fixture.tokens));
        if has(fixture, "mid.") {
            for (site, stream) in pass.kept() {
                assert_rows(fixture, &format!("mid.stream.{site}"), &stream);
            }
            let (_, last) = pass.kept().pop().unwrap();
            assert_rows(fixture, "mid.ln_f", &network.final_norm(&pass, last));
            whole_streams.set(whole_streams.get() + 1);
        }
    });
    assert!(whole_streams.get() == 2 || shared(FOLDER).is_none(), "one fixture, in both implementations");
}

#[test]
fn losses_and_gradients_are_those_of_the_fixtures() {
    each_fixture(|entry, fixture, network| {
        let weights = fixture.weights(network);
        let (loss, gradient) = fixture.gradient(network, &weights);
        for expected in [entry["loss"].as_f64().unwrap(), f64::from(fixture.floats("output.loss")[0])] {
            assert!((loss - expected).abs() <= 3e-6 * expected, "{}: {loss}", entry["file"]);
        }
        assert_eq!(fixture.floats("output.denom")[0], fixture.rows.len() as f32);
        for (index, declared) in network.layout().parameters().iter().enumerate() {
            let (name, found) = (&declared.name, gradient.get(index));
            let length = f64::from(fixture.floats(&format!("grad_norm.{name}"))[0]);
            assert!((norm(found) - length).abs() <= 1e-4 * length, "{name}");
            let product = f64::from(fixture.floats(&format!("grad_dot_param.{name}"))[0]);
            let pairs = found.iter().zip(weights.get(index));
            let dot = pairs.map(|(grad, weight)| f64::from(*grad) * f64::from(*weight)).sum::<f64>();
            assert!((dot - product).abs() <= 1e-4 * length * norm(weights.get(index)), "{name}");
            if has(fixture, "grad.") {
                let expected = fixture.floats(&format!("grad.{name}"));
                let apart: Vec<f32> = found.iter().zip(&expected).map(|(a, b)| a - b).collect();
                assert!(norm(&apart) <= 1e-4 * length, "{name}: {}", norm(&apart));
            }
        }
    });
}

/// The stream of one row at a site plus a vector of the length of the normed row times `eta`, as the paper edits it.
#[test]
fn logits_of_edited_streams_are_those_of_the_fixtures() {
    each_fixture(|_, fixture, network| {
        let weights = fixture.weights(network);
        let device_weights = DeviceWeights::new(&weights, &device::cpu());
        let width = network.architecture().size.width;
        let row = whole(&fixture.tensors, "edit.position")[0] as usize;
        let vectors = fixture.floats("edit.vectors");
        let sites = Sites { keep: (0..network.sites()).collect(), edit: None };
        let pass = ForwardPass::evaluation(&device_weights).with_sites(sites);
        network.flat_logits(&pass, &fixture.tokens);
        for ((site, stream), vector) in pass.kept().into_iter().zip(vectors.chunks_exact(width)) {
            let normed = network.final_norm(&pass, stream.slice([row..row + 1, 0..width]));
            let scale = norm(&values(&normed));
            let expected = f64::from(fixture.floats("edit.scale")[site]);
            assert!((scale - expected).abs() <= 5e-5, "{site}: {scale} where {expected} was expected");
            for (eta, name) in [(0.5, "edit.logits_eta_0.5"), (2.0, "edit.logits_eta_2")] {
                let factor = eta * scale / norm(vector);
                let added = vector.iter().map(|&value| (f64::from(value) * factor) as f32).collect::<Vec<_>>();
                let vectors = Tensor::from_data(TensorData::new(added, [1, width]), &device::cpu());
                let edit = Some(Edit { site, change: Change::Add { rows: vec![row], vectors } });
                let pass = ForwardPass::evaluation(&device_weights).with_sites(Sites { keep: Vec::new(), edit });
                let found = values(&network.logits_at(&pass, &fixture.tokens, &[row]));
                let far = apart(&found, &fixture.floats(name)[site * WORDS..(site + 1) * WORDS], |_| 5e-5);
                assert!(far <= 1.0, "{name} {site}: {far}");
            }
        }
    });
}

#[test]
fn the_loss_with_a_replaced_stream_is_that_of_the_fixtures() {
    each_fixture(|entry, fixture, network| {
        let weights = fixture.weights(network);
        let device_weights = DeviceWeights::new(&weights, &device::cpu());
        let width = network.architecture().size.width;
        let stream = TensorData::new(fixture.floats("replace.stream.1"), [fixture.tokens.rows(), width]);
        let stream = Tensor::<2>::from_data(stream, &device::cpu());
        let edit = Some(Edit { site: 1, change: Change::Replace(Box::new(move |_| stream.clone())) });
        let pass = ForwardPass::evaluation(&device_weights).with_sites(Sites { keep: Vec::new(), edit });
        let logits = network.flat_logits(&pass, &fixture.tokens);
        let loss = super::choice::loss(logits, &fixture.targets, fixture.rows.len()).sum() / fixture.rows.len() as f64;
        let expected = f64::from(fixture.floats("replace.loss")[0]);
        assert!((loss - expected).abs() <= 3e-6 * expected, "{}: {loss}, {expected}", entry["file"]);
    });
}

#[test]
fn five_updates_are_those_of_the_fixtures() {
    each_fixture(|entry, fixture, network| {
        let trace = &entry["train_trace"];
        let number = |key: &str| trace[key].as_f64().unwrap();
        assert_eq!((number("clip"), number("epsilon")), (1.0, 1e-8));
        let of_parameter = |key: &str| -> BTreeMap<String, f64> { serde_json::from_value(trace[key].clone()).unwrap() };
        for declared in network.layout().parameters() {
            let is_exempt = trace["not_decayed"].as_array().unwrap().iter().any(|name| *name == declared.name.as_str());
            assert_eq!(declared.decays, !is_exempt, "{}", declared.name);
        }
        let first = fixture.weights(network);
        let mut weights = first.clone();
        let (rate, betas, decay) = (number("lr"), [number("beta1"), number("beta2")], number("weight_decay"));
        let mut adamw = AdamW { moments: Vec::new(), updates: 0, rate, betas, decay };
        let list = |key: &str| trace[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap());
        let steps = list("losses").zip(list("grad_norms"));
        assert_eq!(steps.len(), 5);
        for (step, (loss, length)) in steps.enumerate() {
            let (found, gradient) = fixture.gradient(network, &weights);
            assert!((found - loss).abs() <= 5e-6 * loss, "{step}: {found} where {loss} was expected");
            let found = norm(gradient.values());
            assert!((found - length).abs() <= 1e-4 * length, "{step}: {found} where {length} was expected");
            adamw.update(&mut weights, &gradient, found);
        }
        let (found, _) = fixture.gradient(network, &weights);
        let expected = number("loss_after_5");
        assert!((found - expected).abs() <= 5e-6 * expected, "{found} where {expected} was expected");
        let (lengths, products) = (of_parameter("param_norm_after_5"), of_parameter("param_dot_init_after_5"));
        for (index, declared) in network.layout().parameters().iter().enumerate() {
            let (name, found, first) = (&declared.name, weights.get(index), first.get(index));
            let (length, product) = (lengths[name], products[name]);
            // Biases of keys shift all scores of a query alike: of their gradient there is only rounding, which Adam
            // makes updates of. PyTorch's own float32 and float64 end 4e-5 apart.
            let allowed = if name.ends_with("c_attn.bias") { 1e-4 } else { 1e-6 };
            assert!((norm(found) - length).abs() <= allowed * length, "{name}: {} and {length}", norm(found));
            let dot = found.iter().zip(first).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
            assert!((dot - product).abs() <= allowed * norm(first) * length, "{name}: {dot} and {product}");
        }
    });
}
