//! Models of other programs, as checkpoints of ours.

use std::path::Path;

use cwm_contract::{Description, Failure, ModelHints};
use cwm_foreign::{ImportHints, ImportedModel, import_model};
use cwm_models::checkpoint;
use serde_json::json;

/// Reads the model in `file` and writes it as a checkpoint into `target`.
pub fn write(file: &Path, hints: &ModelHints, target: &Path) -> Result<Description, Failure> {
    let imported = import_model(file, &self::hints(hints)?)?;
    checkpoint::write(target, &imported.description, &imported.weights)?;
    Ok(description(&imported))
}

/// Parses the hints of the command line for the reader.
pub fn hints(hints: &ModelHints) -> Result<ImportHints, Failure> {
    let ModelHints { family, size, options, key, round, form } = hints.clone();
    let size = size.map(|size| size.parse()).transpose()?;
    let vocabulary = form.map(|form| cwm_player::vocabulary(&form)).transpose().map_err(Failure::input)?;
    Ok(ImportHints { family, size, options, key, round, vocabulary })
}

fn description(imported: &ImportedModel) -> Description {
    let architecture = &imported.description.architecture;
    let mut lines = vec![format!(
        "{} {}, {} parameters, {} tokens",
        architecture.family, architecture.size, imported.description.parameters, architecture.vocabulary
    )];
    lines.extend(imported.notes.iter().cloned());
    Description { lines, facts: json!({ "model": imported.description, "notes": imported.notes }) }
}
