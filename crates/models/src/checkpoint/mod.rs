//! Models on disk: weights as safetensors with the authors' names, and a description in JSON.

mod description;
mod tensors;

pub use description::{Description, FORMAT, Status};
pub use tensors::{Floats, fill, read_weights, write_weights};

use std::path::Path;

use crate::parameters::Weights;
use crate::{ModelError, Network};

/// File of the weights in a checkpoint's folder.
pub const WEIGHTS_FILE: &str = "model.safetensors";
/// File of the description.
pub const DESCRIPTION_FILE: &str = "model.json";

/// Writes a checkpoint into the folder `folder`, which is made.
///
/// # Errors
/// The folder or a file cannot be written.
pub fn write(folder: &Path, description: &Description, weights: &Weights) -> Result<(), ModelError> {
    std::fs::create_dir_all(folder).map_err(|error| ModelError::file("make", folder, error))?;
    write_weights(&folder.join(WEIGHTS_FILE), weights)?;
    description.write(&folder.join(DESCRIPTION_FILE))
}

/// Reads a checkpoint of a model with `outputs` logits a position: its description, its network and its weights.
///
/// # Errors
/// A file is missing, is not what it should be, or the two do not belong together.
pub fn read(folder: &Path, outputs: usize) -> Result<(Description, Network, Weights), ModelError> {
    let path = folder.join(DESCRIPTION_FILE);
    let description = Description::read(&path)?;
    let network = Network::build(description.architecture.clone(), outputs)
        .map_err(|error| ModelError::content(&path, error.to_string()))?;
    let parameters = network.layout().total();
    if description.parameters != parameters as u64 {
        let message = format!("declares {} parameters, but such a model has {parameters}", description.parameters);
        return Err(ModelError::content(&path, message));
    }
    let weights = read_weights(&folder.join(WEIGHTS_FILE), network.layout())?;
    Ok((description, network, weights))
}

#[cfg(test)]
mod tests;
