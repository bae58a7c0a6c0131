//! The weights that a training begins with.

use std::path::Path;

use cwm_contract::Failure;
use cwm_models::checkpoint::{self, DESCRIPTION_FILE, Description};
use cwm_models::parameters::Weights;
use cwm_models::{Architecture, Network};
use cwm_sequences::Vocabulary;
use serde_json::{Value, json};

/// The weights of a checkpoint of a model with the architecture of `network`, but for dropout, trained on sequences of
/// this vocabulary.
///
/// # Errors
/// It cannot be read, or is of another architecture or vocabulary; the error names both.
pub fn read(folder: &Path, network: &Network, vocabulary: &Vocabulary) -> Result<Weights, Failure> {
    let path = folder.join(DESCRIPTION_FILE);
    let Description { architecture, training, .. } = Description::read(&path)?;
    let ours = network.architecture();
    let theirs = Architecture { dropout: ours.dropout, ..architecture };
    let same = |what: &str, found: &Value, expected: Value| {
        if *found == expected {
            return Ok(());
        }
        Err(Failure::input(format!(
            "the input `checkpoint` ({}) has the {what} {found}, and this training has {expected}",
            path.display()
        )))
    };
    same("architecture", &json!(theirs), json!(ours))?;
    same("vocabulary", training.get("vocabulary").unwrap_or(&Value::Null), json!(vocabulary))
        .map_err(|failure| failure.hint("encode the examples of both trainings with the same parameters"))?;
    Ok(checkpoint::read(folder, usize::from(vocabulary.targets))?.2)
}
