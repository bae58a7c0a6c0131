//! Models of other programs, as checkpoints of ours.

use std::path::Path;

use cwm_contract::{Description, Failure, ModelHints};
use cwm_foreign::{Adopted, Wish, adopt};
use cwm_models::checkpoint;
use serde_json::json;

/// Reads the model in `file` and writes it as a checkpoint into `target`.
pub fn write(file: &Path, hints: &ModelHints, target: &Path) -> Result<Description, Failure> {
    let adopted = adopt(file, &wish(hints)?)?;
    checkpoint::write(target, &adopted.description, &adopted.weights)?;
    Ok(told(&adopted))
}

/// What is known of a model beforehand, for its reader.
pub fn wish(hints: &ModelHints) -> Result<Wish, Failure> {
    let ModelHints { family, size, options, key, round } = hints.clone();
    let size = size.map(|size| size.parse()).transpose()?;
    Ok(Wish { family, size, options, key, round })
}

fn told(adopted: &Adopted) -> Description {
    let architecture = &adopted.description.architecture;
    let mut lines = vec![format!(
        "{} {}, {} parameters, {} tokens",
        architecture.family, architecture.size, adopted.description.parameters, architecture.vocabulary
    )];
    lines.extend(adopted.notes.iter().cloned());
    Description { lines, facts: json!({ "model": adopted.description, "notes": adopted.notes }) }
}
