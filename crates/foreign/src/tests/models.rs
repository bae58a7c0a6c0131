//! Files recognised as models.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::testing::shared;
use cwm_models::checkpoint::write_weights;
use cwm_models::families::FAMILIES;
use cwm_models::heads::labels;
use cwm_models::parameters::Weights;
use cwm_models::{Architecture, Network};
use safetensors::tensor::{Dtype, TensorView};

use super::archives::{archive, pickle_named};
use super::files::data;
use crate::{ImportHints, ImportedModel, import_model};

pub fn network(family: &str, size: &str, vocabulary: usize, options: &[(&str, &str)]) -> Network {
    labels::network(Architecture {
        family: family.into(),
        size: size.parse().unwrap(),
        vocabulary,
        dropout: 0.1,
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    })
    .unwrap()
}

/// Weights with what is hard to keep: both zeros, the smallest number, infinities, NaN with payloads.
fn weights(network: &Network) -> Weights {
    let mut weights = network.initial_weights(5);
    let hard = [0x8000_0000, 1, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0xffa5_5aa5];
    for (value, bits) in weights.values_mut().iter_mut().step_by(7).zip(hard) {
        *value = f32::from_bits(bits);
    }
    weights
}

pub fn file_of(network: &Network, path: &Path) -> Weights {
    let weights = weights(network);
    write_weights(path, &weights).unwrap();
    weights
}

fn bits(weights: &Weights) -> Vec<u32> {
    weights.values().iter().map(|value| value.to_bits()).collect()
}

pub fn hints(family: &str) -> ImportHints {
    ImportHints { family: Some(family.into()), ..ImportHints::default() }
}

/// The error of adopting, without the file's path, and its hint.
pub fn refused(path: &Path, hints: &ImportHints) -> (String, String) {
    let failure = cwm_contract::Failure::from(import_model(path, hints).unwrap_err());
    (failure.message.replace(&path.display().to_string(), "it"), failure.hint.unwrap_or_default())
}

#[test]
fn every_family_is_recognised_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    for family in FAMILIES {
        let options: &[(&str, &str)] = if family.name == "gpt" { &[("heads", "2"), ("gelu", "erf")] } else { &[] };
        let network = network(family.name, "d64/l2", 30, options);
        let written = file_of(&network, &path);
        let mut hints =
            if family.name.starts_with("gated_deltanet") { hints(family.name) } else { ImportHints::default() };
        if family.name == "gpt" {
            hints.options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        }
        let ImportedModel { description, weights, .. } = import_model(&path, &hints).unwrap();
        assert_eq!(description.architecture, *network.architecture(), "{}", family.name);
        assert!(bits(&weights) == bits(&written), "{}", family.name);
    }
}

#[test]
fn unusual_widths_are_found_among_the_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    for (family, options) in [
        ("slice", &[("block", "4")][..]),
        ("gated_deltanet", &[("heads", "2"), ("key_width", "12")]),
        ("mamba2", &[("head_width", "16"), ("state", "16")]),
        ("mamba3", &[("head_width", "16"), ("state", "16")]),
        ("mamba3_mimo", &[("head_width", "16"), ("rank", "2"), ("state", "16")]),
    ] {
        let network = network(family, "d32/l2", 30, options);
        let written = file_of(&network, &path);
        let imported_model = import_model(&path, &hints(family)).unwrap();
        assert_eq!(imported_model.description.architecture.options, network.architecture().options);
        assert!(bits(&imported_model.weights) == bits(&written), "{family}");
    }
}

#[test]
fn what_shapes_do_not_tell_is_asked_for_or_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    file_of(&network("gated_deltanet", "d64/l1", 30, &[]), &path);
    let (message, hint) = refused(&path, &ImportHints::default());
    assert_eq!(
        message,
        "it fits gated_deltanet and gated_deltanet_pos, whose parameters have the same names and shapes"
    );
    assert!(hint.contains("--family"), "{hint}");
    assert_eq!(
        import_model(&path, &hints("gated_deltanet_pos")).unwrap().description.architecture.family,
        "gated_deltanet_pos"
    );

    file_of(&network("transformer", "d64/l1", 30, &[]), &path);
    let notes = import_model(&path, &ImportHints::default()).unwrap().notes.join("\n");
    assert!(notes.contains("does not have `rope`: upstream was used"), "{notes}");
    assert!(notes.contains("does not have `heads`: 1 was used"), "{notes}");
    let options = BTreeMap::from([("heads".to_owned(), "4".to_owned()), ("rope".to_owned(), "standard".to_owned())]);
    let imported_model =
        import_model(&path, &ImportHints { options: options.clone(), ..ImportHints::default() }).unwrap();
    assert_eq!((imported_model.description.architecture.options, imported_model.notes.len()), (options, 2));
}

#[test]
fn what_does_not_fit_is_reported_tensor_by_tensor() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    file_of(&network("transformer", "d64/l1", 30, &[]), &path);
    let (message, _) = refused(&path, &ImportHints { size: Some("d64/l2".parse().unwrap()), ..ImportHints::default() });
    assert!(message.starts_with("it holds no model of ours; the nearest is transformer d64/l2, from which the file itself differs: it has no `blocks.1.norm1.weight` [64]; "), "{message}");
    let (message, _) = refused(&path, &ImportHints { size: Some("d32/l1".parse().unwrap()), ..ImportHints::default() });
    assert!(message.contains("`tok_emb.weight` has shape [30, 64] where [30, 32] is needed"), "{message}");
    let (message, _) = refused(&path, &hints("slice"));
    assert_eq!(message, "it holds no model of ours; the file itself is no slice: it has no `embedding.weight`");
    let (message, _) = refused(&path, &hints("perceptron"));
    assert!(
        message.starts_with("it cannot be read with these options: there is no family `perceptron`; known are "),
        "{message}"
    );

    let numbers = vec![0u8; 64 * 8];
    let one = |name: &str, shape: Vec<usize>, dtype: Dtype, bytes: usize| {
        (name.to_owned(), TensorView::new(dtype, shape, &numbers[..bytes]).unwrap())
    };
    let save = |tensors: Vec<(String, TensorView<'_>)>| safetensors::serialize_to_file(tensors, None, &path).unwrap();
    save(vec![
        one("tok_emb.weight", vec![2, 4], Dtype::F32, 32),
        one("final_norm.weight", vec![4], Dtype::I64, 32),
        one("blocks.0.extra", vec![], Dtype::F32, 4),
    ]);
    let (message, _) = refused(&path, &hints("transformer"));
    assert!(message.contains("`final_norm.weight` is I64 where a float is needed"), "{message}");
    assert!(message.contains(" more"), "{message}");
    save(vec![one("tok_emb.weight", vec![8], Dtype::F32, 32)]);
    assert!(refused(&path, &hints("transformer")).0.contains("has shape [8], and is no table"));
    std::fs::write(&path, archive(&[("m/data.pkl", b"\x80\x02}.")])).unwrap();
    assert_eq!(refused(&path, &ImportHints::default()).0, "it holds no tensors under names: no state_dict");
}

#[test]
fn huge_numbers_in_names_and_shapes_build_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pt");
    for shape in [[i32::MAX, i32::MAX], [1, 65_536], [i32::MAX, 1], [0, 0], [1, 0]] {
        for name in ["tok_emb.weight", "blocks.4294967295.w", "blocks.1023.weight"] {
            let named = pickle_named(name, "FloatStorage", "0", 1, 0, [&shape, &[0, 0]]);
            std::fs::write(&path, archive(&[("m/data.pkl", &named), ("m/data/0", &[0; 4])])).unwrap();
            assert!(refused(&path, &ImportHints::default()).0.contains("holds no model of ours"));
        }
    }
}

#[test]
fn files_of_torch_become_models_whatever_is_beside_the_weights() {
    for name in ["archive.pt", "legacy.pt"] {
        let imported_model = import_model(&data(name), &ImportHints::default()).unwrap();
        let architecture = &imported_model.description.architecture;
        assert_eq!((architecture.family.as_str(), architecture.size.to_string()), ("slice_diag", "d1/l1".to_owned()));
        assert_eq!((architecture.vocabulary, architecture.dropout), (3, 0.25));
        assert_eq!(imported_model.weights.get(0), [-0.5, 5.0 / 64.0, -22.0 / 64.0]);
        let imported = &imported_model.description.training["imported"];
        assert_eq!(imported["key"], "model_state_dict");
        assert_eq!(imported["types"], serde_json::json!({"bfloat16": 1, "float16": 1, "float32": 9, "float64": 1}));
        assert_eq!(imported["file"].as_str().unwrap().len(), "blake3:".len() + 64);
        assert!(
            !serde_json::to_string(&imported_model.description).unwrap().contains("data/"),
            "a path is in a description"
        );
    }
    let key = |key: &str| ImportHints { key: Some(key.into()), ..ImportHints::default() };
    assert!(import_model(&data("archive.pt"), &key("model_state_dict")).is_ok());
    let (message, _) = refused(&data("archive.pt"), &key("model"));
    assert_eq!(
        message,
        "it has no tensors in `model`, but in `model_state_dict`, `optimizer_state_dict.state.0`, `rng`"
    );
}

#[test]
fn doubles_that_are_no_floats_are_rounded_only_if_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let network = network("slice_diag", "d1/l1", 3, &[]);
    let weights = network.initial_weights(1);
    let layout = network.layout();
    let bytes: Vec<Vec<u8>> = (0..layout.parameters().len())
        .map(|index| weights.get(index).iter().flat_map(|&value| (f64::from(value) * 1.1).to_le_bytes()).collect())
        .collect();
    let tensors = layout.parameters().iter().zip(&bytes);
    let tensors = tensors
        .map(|(declared, bytes)| (&declared.name, TensorView::new(Dtype::F64, declared.shape.clone(), bytes).unwrap()));
    safetensors::serialize_to_file(tensors, None, &path).unwrap();
    let (message, hint) = refused(&path, &ImportHints::default());
    assert!(message.contains("` is float64, and ") && message.ends_with(" values are no float32"), "{message}");
    assert!(hint.contains("--round"), "{hint}");
    let imported_model = import_model(&path, &ImportHints { round: true, ..ImportHints::default() }).unwrap();
    assert_eq!(imported_model.weights.get(0)[0], (f64::from(weights.get(0)[0]) * 1.1) as f32);
    assert!(imported_model.notes.join("\n").contains("values were rounded to float32"));
}

#[test]
fn exported_files_have_the_authors_names_shapes_and_layout() {
    let Some(counts) = shared("parity/param-counts.json") else { return };
    let counts: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&std::fs::read(counts).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    for (theirs, ours) in [
        ("transformer", "transformer"),
        ("slice_bd8", "slice"),
        ("slice_diag", "slice_diag"),
        ("gdn_neg", "gated_deltanet"),
        ("gdn_pos", "gated_deltanet_pos"),
        ("mamba2", "mamba2"),
        ("ALT_mamba3_siso_config_default", "mamba3"),
        ("mamba3_mimo4", "mamba3_mimo"),
    ] {
        let network = network(ours, "d128/l1", 20_482, &[]);
        write_weights(&path, &Weights::zeros(network.layout().clone())).unwrap();
        let file = crate::ForeignFile::open(&path).unwrap();
        let found = file.contents().groups[0].tensors.iter().map(|(name, tensor)| {
            let tensor = tensor.as_ref().unwrap();
            assert_eq!(*tensor, crate::Tensor::contiguous(tensor.storage.clone(), tensor.shape.clone()));
            (name.clone(), (tensor.shape.clone(), tensor.storage.element.to_string()))
        });
        let expected = counts[&format!("{theirs}/d128_l1")]["params"].as_array().unwrap().iter().map(|parameter| {
            let shape = parameter["shape"].as_array().unwrap().iter().map(|length| length.as_u64().unwrap()).collect();
            let kind = parameter["dtype"].as_str().unwrap().to_owned();
            (parameter["name"].as_str().unwrap().to_owned(), (shape, kind))
        });
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected.collect(), "{theirs}");
        assert_eq!(import_model(&path, &hints(ours)).unwrap().description.architecture, *network.architecture());
    }
}

#[test]
fn the_fault_is_reported_also_of_a_model_with_unusual_options() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let network = network("gated_deltanet", "d32/l1", 30, &[("heads", "2"), ("key_width", "12")]);
    let weights = network.initial_weights(1);
    let bytes = |index: usize| weights.get(index).iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let stored: Vec<(String, Vec<usize>, Vec<u8>)> = (network.layout().parameters().iter().enumerate())
        .map(|(index, declared)| (declared.name.clone(), declared.shape.clone(), bytes(index)))
        .collect();
    let save = |left_out: &str, more: Option<&str>| {
        let view = |shape: &[usize], bytes| TensorView::new(Dtype::F32, shape.to_vec(), bytes).unwrap();
        let kept = stored.iter().filter(|(name, ..)| name != left_out);
        let tensors = kept.map(|(name, shape, bytes)| (name.as_str(), view(shape, bytes)));
        let more = more.map(|name| (name, view(&[1], &[0; 4])));
        safetensors::serialize_to_file(tensors.chain(more), None, &path).unwrap();
    };
    save("", Some("backbone.extra"));
    let start =
        "it holds no model of ours; the nearest is gated_deltanet d32/l1, from which the file itself differs: it ";
    let (message, _) = refused(&path, &hints("gated_deltanet"));
    assert_eq!(message, format!("{start}has `backbone.extra`, which such a model does not have"));
    save("backbone.norm.weight", None);
    let (message, _) = refused(&path, &hints("gated_deltanet"));
    assert_eq!(message, format!("{start}has no `backbone.norm.weight` [32]"));
    // Names first, however many shapes are wrong.
    save("", None);
    let other = ImportHints { size: Some("d64/l2".parse().unwrap()), ..hints("gated_deltanet") };
    let (message, _) = refused(&path, &other);
    assert!(message.contains("from which the file itself differs: it has no `backbone.layers.1."), "{message}");
}

#[test]
fn doubles_that_rounding_would_make_infinite_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let network = network("slice_diag", "d1/l1", 3, &[]);
    let bytes: Vec<Vec<u8>> = (network.layout().parameters().iter())
        .map(|declared| 1e300f64.to_le_bytes().repeat(declared.shape.iter().product()))
        .collect();
    let tensors = network.layout().parameters().iter().zip(&bytes);
    let tensors = tensors
        .map(|(declared, bytes)| (&declared.name, TensorView::new(Dtype::F64, declared.shape.clone(), bytes).unwrap()));
    safetensors::serialize_to_file(tensors, None, &path).unwrap();
    for round in [false, true] {
        let (message, hint) = refused(&path, &ImportHints { round, ..ImportHints::default() });
        assert!(message.contains("` is float64, and ") && message.ends_with(" values are too large"), "{message}");
        assert!(hint.starts_with("float32 ends at 3.4028235e38"), "{hint}");
    }
}
