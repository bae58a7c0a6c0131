//! Every family against what the authors' code computed (models.md §9).

use std::collections::BTreeMap;

use burn::tensor::Tensor;
use safetensors::tensor::{Dtype, SafeTensors};
use serde_json::Value;

use crate::gradient::GradientSum;
use crate::heads::{GROUPS, LABELS, LOGITS};
use crate::loss::loss;
use crate::ops::Targets;
use crate::optimiser::{AdamW, AdamWOptions, clip_factor, norm};
use crate::parameters::{Role, Weights};
use crate::testing::{golden, values};
use crate::{Architecture, Network, Pass, Placed, Tokens, device};

/// A fixture: a model with weights, a batch, and all that the authors' code made of them.
struct Fixture {
    bytes: Vec<u8>,
    manifest: Value,
}

impl Fixture {
    fn open(name: &str) -> Option<Fixture> {
        let folder = golden("parity")?;
        let manifest: Value = serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
        let fixtures = manifest["fixtures"].as_array().unwrap();
        let file = format!("{name}.safetensors");
        let manifest = fixtures.iter().find(|fixture| fixture["file"] == file.as_str()).unwrap().clone();
        Some(Fixture { bytes: std::fs::read(folder.join(file)).unwrap(), manifest })
    }

    fn tensors(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.bytes).unwrap()
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).unwrap_or_else(|_| panic!("no `{name}` in the fixture"));
        assert_eq!(tensor.dtype(), Dtype::F32, "{name}");
        tensor.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    fn integers(&self, name: &str) -> Vec<i64> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).unwrap();
        assert_eq!(tensor.dtype(), Dtype::I64, "{name}");
        tensor.data().as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()
    }

    fn scalar(&self, name: &str) -> f32 {
        self.floats(name)[0]
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        let tensors = self.tensors();
        let names = tensors.names().into_iter().filter_map(|name| name.strip_prefix(prefix));
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names
    }

    fn count(&self, name: &str) -> usize {
        self.manifest["config"][name].as_u64().unwrap() as usize
    }

    fn network(&self, options: BTreeMap<String, String>) -> Network {
        let network = Network::build(Architecture {
            family: self.manifest["family"].as_str().unwrap().to_owned(),
            size: format!("d{}/l{}", self.count("d_model"), self.count("n_layers")).parse().unwrap(),
            vocabulary: self.manifest["move_vocab"].as_u64().unwrap() as usize,
            dropout: 0.0,
            options,
        })
        .unwrap();
        assert_eq!(network.layout().total() as u64, self.manifest["param_count"].as_u64().unwrap());
        network
    }

    /// The fixture's weights; tables of d128 fixtures are stored as rows.
    fn weights(&self, network: &Network) -> Weights {
        let mut weights = Weights::zeros(network.layout().clone());
        let sparse = self.names("param_sparse_rows.");
        let mut expected = self.names("param.");
        expected.extend(sparse.iter().cloned());
        expected.sort();
        let mut declared: Vec<_> = network.layout().declared().iter().map(|declared| declared.name.clone()).collect();
        declared.sort();
        assert_eq!(declared, expected, "parameter names");
        for (index, declared) in network.layout().declared().iter().enumerate() {
            let name = &declared.name;
            if !sparse.contains(name) {
                weights.get_mut(index).copy_from_slice(&self.floats(&format!("param.{name}")));
                continue;
            }
            let width = declared.shape[1];
            let rows = self.floats(&format!("param_sparse_rows.{name}"));
            for (row, at) in rows.chunks_exact(width).zip(self.integers(&format!("param_sparse_index.{name}"))) {
                let at = at as usize * width;
                weights.get_mut(index)[at..at + width].copy_from_slice(row);
            }
        }
        weights
    }

    fn batch(&self) -> (Tokens, Targets) {
        let lengths = self.integers("input.lengths");
        let moves = self.integers("input.moves");
        let time = moves.len() / lengths.len();
        let games: Vec<Vec<u16>> = moves
            .chunks_exact(time)
            .zip(&lengths)
            .map(|(game, &length)| game[..length as usize].iter().map(|&id| id as u16).collect())
            .collect();
        let tokens = Tokens::padded(games.iter().map(Vec::as_slice), self.manifest["pad_id"].as_u64().unwrap() as u32);
        let tensors = self.tensors();
        let pad = tensors.tensor("input.pad_mask").unwrap().data().to_vec();
        let valid: Vec<bool> = pad.iter().map(|&pad| pad == 0).collect();
        assert!(tokens.is_valid().eq(valid.iter().copied()));
        let labels = tensors.tensor("input.states").unwrap().data().to_vec();
        (tokens, Targets { labels: labels.into(), valid: valid.into() })
    }

    /// Logits as our rows of 1,878 have them.
    fn logits(&self) -> Vec<f32> {
        // The authors' names, in the order of our groups.
        let names = ["pieces", "side", "castle", "ep_file", "ep_rank", "halfmove", "fullmove"];
        let parts: Vec<(Vec<f32>, usize)> = names
            .iter()
            .zip(GROUPS)
            .map(|(name, group)| (self.floats(&format!("output.{name}")), group.labels * group.classes))
            .collect();
        let rows = parts[0].0.len() / parts[0].1;
        let mut logits = Vec::with_capacity(rows * LOGITS);
        for row in 0..rows {
            for (values, width) in &parts {
                logits.extend_from_slice(&values[row * width..(row + 1) * width]);
            }
        }
        logits
    }
}

/// One training pass; its loss and gradient.
fn gradient(network: &Network, weights: &Weights, tokens: &Tokens, targets: &Targets) -> (f64, f64, Weights) {
    let placed = Placed::new(weights, &device::cpu());
    let pass = Pass::training(&placed, None);
    let loss = loss(network.flat_logits(&pass, tokens), targets, tokens.valid());
    let share = f64::from(values(&loss.share)[0]);
    let mut sum = GradientSum::new(network.layout().clone());
    sum.add(0, pass.gradient(&loss.share));
    (share, loss.sum, sum.with(|sum| sum.clone()))
}

fn l2(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

#[track_caller]
fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found} where {expected} was expected (±{tolerance:e})");
}

/// Logits, mid activations, loss and gradients within the tolerances of models.md §9.
fn check(name: &str, options: BTreeMap<String, String>) {
    let Some(fixture) = Fixture::open(name) else { return };
    let network = fixture.network(options);
    let weights = fixture.weights(&network);
    let (tokens, targets) = fixture.batch();

    let placed = Placed::new(&weights, &device::cpu());
    let pass = Pass::evaluation(&placed).observing();
    let logits = values(&network.flat_logits(&pass, &tokens));
    let rows =
        logits.chunks_exact(LOGITS).zip(fixture.logits().chunks_exact(LOGITS).map(<[f32]>::to_vec).collect::<Vec<_>>());
    for (row, (found, expected)) in rows.enumerate().filter(|(row, _)| targets.valid[*row]) {
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert_near(&format!("{name}: logit {i} of row {row}"), f64::from(*found), f64::from(expected), 3e-5);
        }
    }
    let observed: BTreeMap<String, Tensor<2>> = pass.observed().into_iter().collect();
    for point in fixture.names("mid.") {
        let found = values(observed.get(&point).unwrap_or_else(|| panic!("{name}: nothing observed at `{point}`")));
        let expected = fixture.floats(&format!("mid.{point}"));
        let width = found.len() / tokens.rows();
        for (i, (found, expected)) in found.iter().zip(expected).enumerate().filter(|(i, _)| targets.valid[i / width]) {
            let tolerance = 3e-5 * f64::from(expected).abs().max(1.0);
            assert_near(&format!("{name}: {point}[{i}]"), f64::from(*found), f64::from(expected), tolerance);
        }
    }

    let (share, loss_sum, gradient) = gradient(&network, &weights, &tokens, &targets);
    assert_near(&format!("{name}: loss"), share, f64::from(fixture.scalar("output.loss")), 3e-6);
    let denominator = (LABELS * tokens.valid()) as f64;
    assert_eq!(denominator, f64::from(fixture.scalar("output.denom")));
    assert_near(
        &format!("{name}: loss sum"),
        loss_sum / denominator,
        fixture.manifest["fp64_loss"].as_f64().unwrap(),
        3e-6,
    );
    let mut checked = 0;
    for (index, declared) in network.layout().declared().iter().enumerate() {
        let parameter = &declared.name;
        let found = gradient.get(index);
        let expected = f64::from(fixture.scalar(&format!("grad_norm.{parameter}")));
        if expected < 1e-7 {
            continue;
        }
        checked += 1;
        assert_near(&format!("{name}: gradient norm of {parameter}"), l2(found), expected, 1e-4 * expected);
        let dot: f64 = found.iter().zip(weights.get(index)).map(|(g, w)| f64::from(*g) * f64::from(*w)).sum();
        let expected_dot = f64::from(fixture.scalar(&format!("grad_dot_param.{parameter}")));
        let tolerance = 1e-4 * (expected * l2(weights.get(index))).max(expected_dot.abs());
        assert_near(&format!("{name}: gradient · {parameter}"), dot, expected_dot, tolerance);
        if fixture.names("grad.").contains(parameter) {
            for (i, (found, exact)) in found.iter().zip(fixture.floats(&format!("grad.{parameter}"))).enumerate() {
                let what = format!("{name}: gradient of {parameter}[{i}]");
                assert_near(&what, f64::from(*found), f64::from(exact), 1e-4 * expected);
            }
        }
    }
    assert!(checked > 10, "{name}: only {checked} gradients were compared");
}

/// Losses, gradient norms and weights of the authors' five updates.
fn check_trace(name: &str, options: BTreeMap<String, String>) {
    let Some(fixture) = Fixture::open(name) else { return };
    let network = fixture.network(options);
    let initial = fixture.weights(&network);
    let (tokens, targets) = fixture.batch();
    let trace = &fixture.manifest["train_trace"];
    let number = |of: &Value, name: &str| of[name].as_f64().unwrap_or_else(|| panic!("no `{name}` in {of}"));
    let hyper = &trace["hyper"];
    let options = AdamWOptions {
        beta1: hyper["betas"][0].as_f64().unwrap(),
        beta2: hyper["betas"][1].as_f64().unwrap(),
        epsilon: number(hyper, "eps"),
        weight_decay: number(hyper, "weight_decay"),
    };
    let mut weights = initial.clone();
    let mut adamw = AdamW::new(network.layout().clone(), options);
    for step in 0..5 {
        let (loss, _, gradient) = gradient(&network, &weights, &tokens, &targets);
        let length = norm(gradient.values());
        let expected = trace["grad_norms"][step].as_f64().unwrap();
        assert_near(&format!("{name}: loss of step {step}"), loss, trace["losses"][step].as_f64().unwrap(), 5e-6);
        assert_near(&format!("{name}: gradient norm of step {step}"), length, expected, 1e-4 * expected);
        adamw.update(
            &mut weights,
            &gradient,
            clip_factor(length, number(hyper, "grad_clip_global_l2")),
            number(hyper, "lr"),
        );
    }
    let (loss, ..) = gradient(&network, &weights, &tokens, &targets);
    assert_near(&format!("{name}: loss after 5"), loss, number(trace, "loss_after_5"), 5e-6);
    for (index, declared) in network.layout().declared().iter().enumerate() {
        let expected = trace["param_norm_after_5"][&declared.name].as_f64().unwrap();
        assert_near(&format!("{name}: norm of {}", declared.name), l2(weights.get(index)), expected, 1e-4 * expected);
        let dot: f64 =
            weights.get(index).iter().zip(initial.get(index)).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        let expected = trace["param_dot_init_after_5"][&declared.name].as_f64().unwrap();
        assert_near(&format!("{name}: {} · its start", declared.name), dot, expected, 1e-4 * expected.abs());
    }
}

fn heads(count: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("heads".to_owned(), count.to_owned())])
}

#[test]
fn transformer_tiny() {
    check("transformer-tiny", heads("2"));
}

#[test]
fn transformer_d128() {
    check("transformer-d128", BTreeMap::new());
}

#[test]
fn transformer_tiny_trains_as_the_authors_do() {
    check_trace("transformer-tiny", heads("2"));
}

#[test]
#[should_panic(expected = "logit")]
fn the_comparison_notices_another_rope() {
    if golden("parity").is_none() {
        panic!("nothing to compare with, so no logit was found wrong");
    }
    let mut options = heads("2");
    options.insert("rope".to_owned(), "standard".to_owned());
    check("transformer-tiny", options);
}

#[test]
fn names_shapes_and_counts_are_those_of_table_4() {
    let Some(file) = golden("parity/param-counts.json") else { return };
    let counts: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    for size in ["d128/l1", "d256/l2", "d384/l4", "d512/l6"] {
        let network = Network::build(Architecture {
            family: "transformer".into(),
            size: size.parse().unwrap(),
            vocabulary: 20482,
            dropout: 0.1,
            options: BTreeMap::new(),
        })
        .unwrap();
        let expected = &counts[format!("transformer/{}", size.replace('/', "_"))];
        assert_eq!(network.layout().total() as u64, expected["param_count"].as_u64().unwrap(), "{size}");
        let shapes = |list: &Value| -> BTreeMap<String, Vec<u64>> {
            let parameters = list.as_array().unwrap().iter();
            let shape = |parameter: &Value| {
                parameter["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
            };
            parameters.map(|parameter| (parameter["name"].as_str().unwrap().to_owned(), shape(parameter))).collect()
        };
        let declared = network.layout().declared().iter();
        let found: BTreeMap<String, Vec<u64>> = declared
            .map(|declared| (declared.name.clone(), declared.shape.iter().map(|&n| n as u64).collect()))
            .collect();
        assert_eq!(found, shapes(&expected["params"]), "{size}");
    }
}

#[test]
fn initial_weights_have_the_spreads_of_the_authors() {
    let network = Network::build(Architecture {
        family: "transformer".into(),
        size: "d128/l1".parse().unwrap(),
        vocabulary: 20482,
        dropout: 0.1,
        options: BTreeMap::new(),
    })
    .unwrap();
    let weights = network.initial_weights(1);
    assert_eq!(weights.values(), network.initial_weights(1).values());
    assert_ne!(weights.values(), network.initial_weights(2).values());
    for (index, declared) in network.layout().declared().iter().enumerate() {
        let values = weights.get(index);
        let deviation = l2(values) / (values.len() as f64).sqrt();
        let inputs = if declared.name.contains("mlp.out_proj") { 512.0f64 } else { 128.0 };
        let expected = match declared.role {
            Role::Embedding { .. } => 1.0,
            Role::Dense if declared.name.contains("norm") => 1.0,
            Role::Dense => 1.0 / (3.0 * inputs).sqrt(),
        };
        assert!(
            (deviation / expected - 1.0).abs() < 0.2,
            "{}: {deviation} where {expected} was expected",
            declared.name
        );
    }
}
