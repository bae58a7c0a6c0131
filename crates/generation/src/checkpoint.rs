//! A model of token sequences, from its files.

use std::path::Path;

use cwm_contract::Failure;
use cwm_models::Network;
use cwm_models::checkpoint::{self, DESCRIPTION_FILE, Description};
use cwm_models::parameters::Weights;
use cwm_sequences::Vocabulary;

/// A trained model whose words are known.
#[derive(Debug)]
pub struct Checkpoint<W> {
    /// The result of the caller's function on its vocabulary.
    pub words: W,
    /// The model and its training.
    pub description: Description,
    /// Its network.
    pub network: Network,
    /// Its weights, all finite.
    pub weights: Weights,
}

impl<W> Checkpoint<W> {
    /// Reads the checkpoint in `folder`. `words` gets the vocabulary of its sequences (none if it was not trained on
    /// sequences); for one that is not the caller's it returns an error, a phrase about the checkpoint.
    ///
    /// # Errors
    /// The vocabulary is refused, a file cannot be read, or the weights are not all finite.
    pub fn read(folder: &Path, words: impl FnOnce(Option<&Vocabulary>) -> Result<W, String>) -> Result<Self, Failure> {
        let path = folder.join(DESCRIPTION_FILE);
        let unusable =
            |wrong: String| Failure::input(format!("the checkpoint of {} cannot answer: {wrong}", path.display()));
        let written = Description::read(&path)?.training.get("vocabulary").cloned();
        let vocabulary = written.map(serde_json::from_value::<Vocabulary>).transpose();
        let vocabulary = vocabulary.map_err(|error| unusable(format!("its `vocabulary`: {error}")))?;
        let words = words(vocabulary.as_ref()).map_err(unusable)?;
        let outputs = vocabulary.map_or(0, |vocabulary| usize::from(vocabulary.targets));
        let (description, network, weights) = checkpoint::read(folder, outputs)?;
        let inputs = network.architecture().vocabulary;
        if inputs != outputs {
            return Err(unusable(format!("its network reads {inputs} words and writes {outputs}")));
        }
        if weights.values().iter().any(|weight| !weight.is_finite()) {
            return Err(unusable("its weights are not all finite".to_owned()));
        }
        Ok(Checkpoint { words, description, network, weights })
    }
}
