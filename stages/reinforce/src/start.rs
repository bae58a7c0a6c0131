//! The model that the training starts from.

use std::path::Path;

use cwm_contract::Failure;
use cwm_models::checkpoint::{self, DESCRIPTION_FILE, Description};
use cwm_models::parameters::Weights;
use cwm_models::{ModelError, Network};
use cwm_sequences::{NEEDS_MASK, Vocabulary};
use cwm_speech::PositionForm;

/// A model of the words of the small language.
#[derive(Debug)]
pub struct Start {
    /// Its description.
    pub description: Description,
    /// The model.
    pub network: Network,
    /// Its weights.
    pub weights: Weights,
    /// Its words.
    pub vocabulary: Vocabulary,
    /// How it reads positions.
    pub form: PositionForm,
}

impl Start {
    /// Reads the checkpoint in `folder`.
    ///
    /// # Errors
    /// It cannot be read, its model was not trained on these words, or no answer can be sampled from it.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let wrong = |message: &str| {
            Failure::from(ModelError::content(&folder.join(DESCRIPTION_FILE), message.to_owned()))
                .hint("the stage `learn` trains such models on sequences of `encode` with `form: speech`")
        };
        let training = Description::read(&folder.join(DESCRIPTION_FILE))?.training;
        let vocabulary = training.get("vocabulary").cloned();
        let vocabulary = vocabulary.ok_or_else(|| wrong("is a model that was not trained on words: it has no answers"))?;
        let vocabulary: Vocabulary =
            serde_json::from_value(vocabulary).map_err(|error| wrong(&format!("has a bad `vocabulary`: {error}")))?;
        let form = PositionForm::of(&vocabulary).map_err(|error| wrong(&format!("is a model of other words: {error}")))?;
        let (description, network, weights) = checkpoint::read(folder, usize::from(vocabulary.targets))?;
        if !network.is_causal() {
            let (message, hint) = NEEDS_MASK;
            return Err(Failure::input(message).hint(hint));
        }
        Ok(Start { description, network, weights, vocabulary, form })
    }
}
