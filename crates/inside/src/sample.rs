//! Checkpoints with fresh weights, for probes and tests.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::Failure;
use cwm_models::checkpoint::{self, Description, FORMAT, Status};
use cwm_models::{Architecture, Network};
use cwm_policy::inputs::words;
use cwm_sequences::Vocabulary;
use serde_json::{Map, json};

use crate::ModelTask;

/// Writes a checkpoint of a model of this family, size and task into the folder `folder`, which is made. A `gpt` has a tied table
/// and 512 positions. Its weights are those that a training with this seed begins with.
///
/// # Errors
/// An operation on the disk fails, or there is no such model.
pub fn write_checkpoint(folder: &Path, task: ModelTask, family: &str, size: &str, seed: u64) -> Result<(), Failure> {
    let (inputs, outputs) = match task {
        ModelTask::Moves => (words::VOCABULARY, words::VOCABULARY),
        ModelTask::State => (cwm_encoding::VOCABULARY, cwm_encoding::LOGITS),
    };
    let options: &[(&str, &str)] =
        if family == "gpt" { &[("gelu", "tanh"), ("positions", "512"), ("tied", "true")] } else { &[] };
    let architecture = Architecture {
        family: family.to_owned(),
        size: size.parse()?,
        vocabulary: inputs,
        dropout: 0.0,
        options: BTreeMap::from_iter(options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))),
    };
    let network = Network::build(architecture.clone(), outputs)?;
    let mut training = Map::from_iter([("seed".to_owned(), json!(seed))]);
    if task == ModelTask::Moves {
        let (inputs, targets) = (inputs as u16, outputs as u16);
        let vocabulary = Vocabulary { form: "words".to_owned(), version: 1, inputs, targets, longest: 512 };
        training.insert("vocabulary".to_owned(), json!(vocabulary));
    }
    let parameters = network.layout().total() as u64;
    let description = Description { format: FORMAT, architecture, parameters, status: Status::Finished, training };
    Ok(checkpoint::write(folder, &description, &network.initial_weights(seed))?)
}
