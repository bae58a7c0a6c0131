//! Files of nanoGPT: parameters below `transformer.`, and a head that is the table of tokens.

use std::path::Path;

use cwm_models::parameters::Weights;
use cwm_models::{Architecture, Network};
use cwm_sequences::Vocabulary;
use safetensors::tensor::{Dtype, TensorView};

use super::archives::{archive, tensor, text};
use super::models::refused;
use crate::{ImportHints, import_model};

/// Tokens and outputs of the model.
const TOKENS: u16 = 36;

fn network(options: &[(&str, &str)]) -> Network {
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: "d64/l2".parse().unwrap(),
        vocabulary: usize::from(TOKENS),
        dropout: 0.0,
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    };
    Network::build(architecture, usize::from(TOKENS)).unwrap()
}

pub fn hints(inputs: u16, targets: u16) -> ImportHints {
    let vocabulary = Vocabulary { form: "letters".into(), version: 1, inputs, targets, longest: 12 };
    let options = [("heads", "2"), ("gelu", "erf")].map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    ImportHints { vocabulary: Some(vocabulary), options, ..ImportHints::default() }
}

/// Names, shapes and bytes of the parameters as nanoGPT names them.
pub fn parameters(network: &Network, weights: &Weights) -> Vec<(String, Vec<usize>, Vec<u8>)> {
    let declared = network.layout().parameters().iter().enumerate();
    declared
        .map(|(index, declared)| {
            let bytes = weights.get(index).iter().flat_map(|value| value.to_le_bytes()).collect();
            (format!("transformer.{}", declared.name), declared.shape.clone(), bytes)
        })
        .collect()
}

pub fn save(path: &Path, parameters: &[(String, Vec<usize>, Vec<u8>)]) {
    let view = |shape: &[usize], bytes| TensorView::new(Dtype::F32, shape.to_vec(), bytes).unwrap();
    let tensors = parameters.iter().map(|(name, shape, bytes)| (name.as_str(), view(shape, bytes)));
    safetensors::serialize_to_file(tensors, None, path).unwrap();
}

#[test]
fn a_checkpoint_of_torch_with_the_table_twice_is_a_tied_model_with_the_file_s_heads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ckpt.pt");
    let network = network(&[("tied", "true"), ("positions", "12"), ("heads", "4"), ("gelu", "erf")]);
    let weights = network.initial_weights(3);
    let parameters = parameters(&network, &weights);
    let stored = |name: &str, storage: usize| {
        let (_, shape, bytes) = &parameters[storage];
        let shape: Vec<i32> = shape.iter().map(|&length| length as i32).collect();
        let strides: Vec<i32> = (1..=shape.len()).map(|axis| shape[axis..].iter().product()).collect();
        let length = (bytes.len() / 4) as i32;
        let tensor = tensor("FloatStorage", &storage.to_string(), length, 0, [&shape, &strides]);
        [text(&format!("_orig_mod.{name}")), tensor].concat()
    };
    let mut model: Vec<u8> = parameters.iter().enumerate().flat_map(|(at, (name, ..))| stored(name, at)).collect();
    let table = parameters.iter().position(|(name, ..)| name == "transformer.wte.weight").unwrap();
    model.extend(stored("lm_head.weight", table));
    let settings =
        [text("n_head"), b"K\x04".to_vec(), text("bias"), b"\x89".to_vec(), text("dropout"), b"K\x00".to_vec()];
    let dictionary = |items: &[u8]| [&b"}("[..], items, b"u"].concat();
    let whole = [text("model"), dictionary(&model), text("model_args"), dictionary(&settings.concat())].concat();
    let pickle = [b"\x80\x02".to_vec(), dictionary(&whole), b".".to_vec()].concat();
    let names: Vec<String> = (0..parameters.len()).map(|at| format!("m/data/{at}")).collect();
    let mut files = vec![("m/data.pkl", &pickle[..])];
    files.extend(names.iter().map(String::as_str).zip(parameters.iter().map(|(.., bytes)| &bytes[..])));
    std::fs::write(&path, archive(&files)).unwrap();

    let mut hints = hints(TOKENS, TOKENS);
    hints.options.remove("heads");
    let imported = import_model(&path, &hints).unwrap();
    assert_eq!(imported.description.architecture, *network.architecture());
    assert!(imported.weights.values() == weights.values());
    assert_eq!(imported.description.training["vocabulary"]["form"], "letters");
    assert_eq!(imported.description.training["imported"]["key"], "model");
}

#[test]
fn a_head_with_the_values_of_the_table_is_the_table_and_another_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let network = network(&[("tied", "true"), ("bias", "true"), ("positions", "12"), ("heads", "2"), ("gelu", "erf")]);
    let weights = network.initial_weights(3);
    let mut parameters = parameters(&network, &weights);
    let check = || {
        let imported = import_model(&path, &hints(TOKENS, TOKENS)).unwrap();
        assert_eq!(imported.description.architecture.options, network.architecture().options);
        assert!(imported.weights.values() == weights.values());
    };
    save(&path, &parameters);
    check();
    let table = parameters.iter().find(|(name, ..)| name == "transformer.wte.weight").unwrap();
    let (shape, bytes) = (table.1.clone(), table.2.clone());
    parameters.push(("lm_head.weight".to_owned(), shape, bytes));
    save(&path, &parameters);
    check();
    let (message, _) = refused(&path, &hints(TOKENS + 1, TOKENS));
    assert!(message.contains("`wte.weight` has shape [36, 64] where [37, 64] is needed"), "{message}");
    parameters.last_mut().unwrap().2[0] ^= 1;
    save(&path, &parameters);
    let (message, _) = refused(&path, &hints(TOKENS, TOKENS));
    assert!(message.contains("holds no model of ours"), "{message}");
}

#[test]
fn a_model_may_have_more_tokens_than_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let network = network(&[("tied", "true"), ("positions", "12"), ("heads", "2"), ("gelu", "erf")]);
    let weights = network.initial_weights(3);
    save(&path, &parameters(&network, &weights));
    let imported = import_model(&path, &hints(TOKENS, TOKENS - 1)).unwrap();
    assert_eq!(imported.description.architecture.options, network.architecture().options);
    assert!(imported.weights.values() == weights.values());
}

#[test]
fn what_a_gpt_s_tensors_do_not_show_is_to_be_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let network = network(&[("bias", "true"), ("tied", "true"), ("positions", "12")]);
    save(&path, &parameters(&network, &network.initial_weights(3)));
    let with = |names: &[&str]| {
        let mut hints = hints(TOKENS, TOKENS);
        hints.options.retain(|name, _| names.contains(&name.as_str()));
        refused(&path, &hints)
    };
    let (message, hint) = with(&[]);
    let shape = "`transformer.h.0.attn.c_attn.weight` is [out, in], [192, 64], as in nanoGPT and unlike GPT-2 of `transformers`";
    assert_eq!(message, format!("it holds a gpt d64/l2, whose tensors do not show `heads` and `gelu`: {shape}"));
    let options = "`options: { heads: \"4\", gelu: \"tanh\" }` (`--option heads=4 --option gelu=tanh`)";
    assert!(hint.contains(options), "{hint}");
    assert!(with(&["gelu"]).0.ends_with("do not show `heads`"));
    assert!(with(&["heads"]).0.ends_with(&format!("do not show `gelu`: {shape}")));
    let mut five = ImportHints { family: Some("gpt".to_owned()), ..hints(TOKENS, TOKENS) };
    five.options.insert("heads".to_owned(), "5".to_owned());
    let what = "holds no model of ours; the file itself is no gpt d64/l2: a width of 64 does not divide among 5 heads";
    assert_eq!(refused(&path, &five).0, format!("it {what}"));
    let mut unmasked = hints(TOKENS, TOKENS);
    unmasked.options.insert("mask".to_owned(), "none".to_owned());
    assert!(import_model(&path, &unmasked).is_ok());
    unmasked.vocabulary.as_mut().unwrap().form = "words".to_owned();
    let (message, hint) = refused(&path, &unmasked);
    assert!(message.ends_with("and a model without a mask would read on to the answer"), "{message}");
    assert_eq!(hint, "take `mask: causal`");
}
