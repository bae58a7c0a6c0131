//! Checkpoints with fresh weights, for probes and tests.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::Failure;
use cwm_models::checkpoint::{self, Description, FORMAT, Status};
use cwm_models::{Architecture, Network};
use serde_json::{Map, json};

use crate::Form;

/// Writes a checkpoint of a `gpt` of this form, size and mask into the folder `folder`, which is made. Its weights are those
/// that a training with this seed begins with.
///
/// # Errors
/// An operation on the disk fails, or there is no such model.
pub fn write_checkpoint(folder: &Path, form: Form, size: &str, mask: &str, seed: u64) -> Result<(), Failure> {
    let vocabulary = form.vocabulary();
    let options = [("tied", "true"), ("mask", mask), ("positions", &form.context().to_string())];
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: size.parse()?,
        vocabulary: usize::from(vocabulary.inputs),
        dropout: 0.0,
        options: BTreeMap::from(options.map(|(name, value)| (name.to_owned(), value.to_owned()))),
    };
    let network = Network::build(architecture.clone(), usize::from(vocabulary.targets))?;
    let description = Description {
        format: FORMAT,
        architecture,
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: Map::from_iter([("vocabulary".to_owned(), json!(vocabulary)), ("seed".to_owned(), json!(seed))]),
    };
    Ok(checkpoint::write(folder, &description, &network.initial_weights(seed))?)
}
