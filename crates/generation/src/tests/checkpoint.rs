//! Checkpoints that answer, and others.

use cwm_models::checkpoint::{Description, FORMAT, Status, write};
use cwm_models::parameters::Weights;
use cwm_models::{Architecture, Network};
use cwm_sequences::Vocabulary;
use serde_json::json;

use crate::Checkpoint;

fn description(network: &Network, vocabulary: Option<&Vocabulary>) -> Description {
    Description {
        format: FORMAT,
        architecture: network.architecture().clone(),
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: vocabulary.map(|vocabulary| ("vocabulary".to_owned(), json!(vocabulary))).into_iter().collect(),
    }
}

#[test]
fn the_caller_decides_which_words_it_knows() {
    let vocabulary = Vocabulary { form: "letters".into(), version: 1, inputs: 9, targets: 9, longest: 30 };
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: "d16/l1".parse().unwrap(),
        vocabulary: 9,
        dropout: 0.0,
        options: Default::default(),
    };
    let network = Network::build(architecture, 9).unwrap();
    let mut weights = network.initial_weights(1);
    let folder = tempfile::tempdir().unwrap();
    let put = |vocabulary: Option<&Vocabulary>, weights: &Weights| {
        write(folder.path(), &description(&network, vocabulary), weights).unwrap();
    };
    let read = || {
        let read = Checkpoint::read(folder.path(), |vocabulary| {
            vocabulary.map(|vocabulary| vocabulary.form.clone()).ok_or("it has no words".to_owned())
        });
        read.map_err(|failure| failure.message.split_once(" cannot answer: ").unwrap().1.to_owned())
    };
    put(Some(&vocabulary), &weights);
    let found = read().unwrap();
    assert_eq!(found.words, "letters");
    assert_eq!(found.weights.values(), weights.values());
    put(None, &weights);
    assert_eq!(read().unwrap_err(), "it has no words");
    weights.values_mut()[3] = f32::INFINITY;
    put(Some(&vocabulary), &weights);
    assert_eq!(read().unwrap_err(), "its weights are not all finite");
}
