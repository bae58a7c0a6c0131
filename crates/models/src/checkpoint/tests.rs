//! Round trips, and files that are not what they should be.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::Architecture;
use crate::heads::labels::{self, LOGITS};

fn network() -> Network {
    labels::network(Architecture {
        family: "transformer".into(),
        size: "d32/l1".parse().unwrap(),
        vocabulary: 50,
        dropout: 0.1,
        options: BTreeMap::from([("rope".to_owned(), "standard".to_owned())]),
    })
    .unwrap()
}

fn described(network: &Network) -> Description {
    Description {
        format: FORMAT,
        architecture: network.architecture().clone(),
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: serde_json::Map::from_iter([("seed".to_owned(), 7.into())]),
    }
}

#[test]
fn a_checkpoint_reads_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let network = network();
    let weights = network.initial_weights(3);
    write(folder.path(), &described(&network), &weights).unwrap();
    let (description, again, read) = read(folder.path(), LOGITS).unwrap();
    assert_eq!(description, described(&network));
    assert_eq!(again.architecture(), network.architecture());
    assert!(read.values().iter().zip(weights.values()).all(|(a, b)| a.to_bits() == b.to_bits()));
}

/// The error of reading a checkpoint after `spoil` changed its files.
fn spoiled(spoil: impl Fn(&Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let network = network();
    write(folder.path(), &described(&network), &network.initial_weights(3)).unwrap();
    spoil(folder.path());
    labels::read(folder.path()).unwrap_err().to_string().replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn wrong_files_are_distinguished_in_words() {
    let replace = |from: &'static str, to: &'static str| {
        move |folder: &Path| {
            let file = folder.join(DESCRIPTION_FILE);
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(from), "{text}");
            std::fs::write(file, text.replacen(from, to, 1)).unwrap();
        }
    };
    let weights = |bytes: &'static [u8]| move |folder: &Path| std::fs::write(folder.join(WEIGHTS_FILE), bytes).unwrap();
    assert_eq!(
        spoiled(replace("\"format\": 1", "\"format\": 2")),
        "model.json: has format 2; this build reads format 1"
    );
    assert!(
        spoiled(replace("transformer", "perceptron"))
            .starts_with("model.json: there is no family `perceptron`; known are ")
    );
    assert!(spoiled(replace("\"parameters\": 8", "\"parameters\": 9")).starts_with("model.json: declares 9"));
    assert!(spoiled(replace("d32/l1", "d32/l2")).contains("such a model has"));
    assert!(spoiled(replace("{", "[")).starts_with("model.json: is no description of a model: "));
    assert_eq!(
        spoiled(replace("\"seed\": 7", "\"vocabulary\": { \"form\": \"board\" }")),
        "model.json: is a model that `learn` trained on sequences of the form `board`: it has no labels"
    );
    assert!(spoiled(weights(b"")).starts_with("model.safetensors: is no safetensors file: "));
    assert!(spoiled(weights(b"\xff\xff\xff\xff\xff\xff\xff\x7f{}")).contains("is no safetensors file: "));
    assert!(spoiled(|folder| std::fs::remove_file(folder.join(WEIGHTS_FILE)).unwrap()).starts_with("cannot read"));
    let other_size = |folder: &Path| {
        let mut architecture = network().architecture().clone();
        architecture.vocabulary = 51;
        let other = labels::network(architecture).unwrap();
        write_weights(&folder.join(WEIGHTS_FILE), &other.initial_weights(0)).unwrap();
    };
    assert_eq!(spoiled(other_size), "model.safetensors: `tok_emb.weight` has shape [51, 32] where [50, 32] is needed");
    let more_layers = |folder: &Path| {
        let mut architecture = network().architecture().clone();
        architecture.size.layers = 2;
        let other = labels::network(architecture).unwrap();
        write_weights(&folder.join(WEIGHTS_FILE), &other.initial_weights(0)).unwrap();
    };
    assert_eq!(
        spoiled(more_layers),
        "model.safetensors: has a tensor `blocks.1.attn.out_proj.bias` that this model does not have"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_reading_panic(at in 0usize..4000, byte: u8, cut in 0usize..4000) {
        let folder = tempfile::tempdir().unwrap();
        let network = network();
        let path = folder.path().join(WEIGHTS_FILE);
        write_weights(&path, &network.initial_weights(1)).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[at] = byte;
        bytes.truncate(bytes.len() - cut);
        std::fs::write(&path, bytes).unwrap();
        let _ = read_weights(&path, network.layout());
    }
}
