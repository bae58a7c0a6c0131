//! Files of GPT-2 as `transformers` saves it: [in, out] matrices, masks, and the head that is the table.

use cwm_models::parameters::Weights;
use cwm_models::{Architecture, Network};

use super::files::data;
use super::gpt::{self, parameters, save};
use super::models::refused;
use crate::{ImportHints, import_model};

const WORDS: u16 = 72;
const MATRICES: [&str; 4] = ["attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight"];

/// Facts that the files do not contain: the heads, but not the GELU.
fn hints(inputs: u16, targets: u16) -> ImportHints {
    ImportHints { options: [("heads".to_owned(), "1".to_owned())].into(), ..gpt::hints(inputs, targets) }
}

fn network(size: &str) -> Network {
    let options = [("bias", "true"), ("gelu", "tanh"), ("tied", "true"), ("positions", "8"), ("heads", "1")];
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: size.parse().unwrap(),
        vocabulary: usize::from(WORDS),
        dropout: 0.1,
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    };
    Network::build(architecture, usize::from(WORDS)).unwrap()
}

fn is_matrix(name: &str) -> bool {
    MATRICES.iter().any(|matrix| name.ends_with(matrix))
}

/// A matrix with `columns` columns, transposed.
fn transposed(values: &[f32], columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| values.iter().skip(column).step_by(columns).copied()).collect()
}

#[test]
fn a_file_of_torch_is_read_with_its_matrices_transposed() {
    let imported = import_model(&data("gpt2.bin"), &hints(WORDS, WORDS)).unwrap();
    let network = network("d2/l1");
    assert_eq!(imported.description.architecture.options, network.architecture().options);
    assert_eq!(imported.network.layout().total(), network.layout().total());
    assert_eq!(imported.description.training["vocabulary"]["inputs"], WORDS);
    // The file has the tensors in the order in which the model declares them, which the script numbers.
    let order = |name: &str| {
        let names = ["wte", "wpe", "ln_1.", "c_attn", "attn.c_proj", "ln_2", "c_fc", "mlp.c_proj", "ln_f"];
        let place = names.iter().position(|part| name.contains(part)).unwrap();
        // Tables have no bias.
        if place < 2 { place + 1 } else { 2 * place - 1 + usize::from(name.ends_with("bias")) }
    };
    for (index, declared) in network.layout().parameters().iter().enumerate() {
        let number = order(&declared.name) as f32;
        let written: Vec<f32> =
            (0..declared.len()).map(|place| ((place * 37 % 64) as f32 - 32.0) / (64.0 * number)).collect();
        // What the file has as [in, out] has as many columns as our matrix has rows.
        let expected = if is_matrix(&declared.name) { transposed(&written, declared.shape[0]) } else { written };
        assert_eq!(imported.weights.get(index), expected, "{}", declared.name);
    }
    let notes = imported.notes.join("\n");
    assert!(notes.contains("its matrices are [in, out], as those of GPT-2: `gelu: tanh` was used"), "{notes}");
    let mut erf = hints(WORDS, WORDS);
    erf.options.insert("gelu".to_owned(), "erf".to_owned());
    let options = import_model(&data("gpt2.bin"), &erf).unwrap().description.architecture.options;
    assert_eq!(options["gelu"], "erf");
}

/// Names, shapes and bytes of a file whose matrices are [in, out].
fn turned(network: &Network, weights: &Weights) -> Vec<(String, Vec<usize>, Vec<u8>)> {
    let mut all = parameters(network, weights);
    for ((name, shape, bytes), index) in all.iter_mut().zip(0..) {
        if is_matrix(name) {
            let values = transposed(weights.get(index), shape[1]);
            *bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            shape.reverse();
        }
        *name = format!("_orig_mod.{name}");
    }
    all
}

#[test]
fn safetensors_are_read_alike_in_either_layout_and_never_in_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let network = network("d64/l2");
    let weights = network.initial_weights(3);
    let usual = parameters(&network, &weights);
    let mut all = turned(&network, &weights);
    for parameters in [&usual, &all] {
        save(&path, parameters);
        let mut hints = hints(WORDS, WORDS);
        if *parameters == usual {
            hints.options.insert("gelu".to_owned(), "tanh".to_owned());
        }
        let imported = import_model(&path, &hints).unwrap();
        assert!(imported.weights.values() == weights.values());
    }
    let place = all.iter().position(|(name, ..)| name.ends_with("h.1.mlp.c_fc.weight")).unwrap();
    all[place].1.reverse();
    save(&path, &all);
    let (message, _) = refused(&path, &hints(WORDS, WORDS));
    let both = "c_attn.weight` as [in, out], [64, 192], and `_orig_mod.transformer.h.1.mlp.c_fc.weight` as [out, in], [256, 64]";
    assert!(message.contains(both), "{message}");
}

#[test]
fn another_head_and_another_vocabulary_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let network = network("d64/l2");
    let weights = network.initial_weights(3);
    let mut all = turned(&network, &weights);
    save(&path, &all);
    let (message, _) = refused(&path, &hints(WORDS - 1, WORDS - 1));
    assert!(message.contains("`wte.weight` has shape [72, 64] where [71, 64] is needed"), "{message}");
    let labels = refused(&path, &ImportHints { vocabulary: None, ..hints(WORDS, WORDS) });
    assert_eq!(labels.1, "its 72 tokens may be words of moves: give `form: words` (`--form words`)", "{}", labels.0);
    let three = ImportHints { size: Some("d64/l3".parse().unwrap()), ..hints(WORDS, WORDS) };
    let (message, _) = refused(&path, &three);
    assert!(
        message.contains("the nearest is gpt d64/l3, from which the file itself differs: it has no `h.2."),
        "{message}"
    );
    let (shape, mut bytes) =
        all.iter().find(|(name, ..)| name.ends_with("wte.weight")).map(|one| (one.1.clone(), one.2.clone())).unwrap();
    bytes[0] ^= 1;
    all.push(("_orig_mod.lm_head.weight".to_owned(), shape, bytes));
    save(&path, &all);
    let (message, _) = refused(&path, &hints(WORDS, WORDS));
    let what = "`_orig_mod.lm_head.weight` is not the table `_orig_mod.transformer.wte.weight`";
    assert!(message.contains(what), "{message}");
}
