//! Finds results by the names that people type: stages, cells, outputs and hashes.

use std::collections::BTreeMap;

use cwm_core::{Error, list_some};
use cwm_pipeline::plan::Plan;
use cwm_store::{ActionRecord, Store};

/// Selects the cells that a word names; or the outputs, each with its cell.
///
/// # Errors
/// The pipeline has no such stage, cell or output.
pub fn cells_or_outputs(plan: &Plan, word: &str) -> Result<Vec<(usize, Option<String>)>, Error> {
    match plan.select(word) {
        Ok(cells) => Ok(cells.into_iter().map(|cell| (cell, None)).collect()),
        Err(_) => Ok(plan.select_outputs(word, None)?.into_iter().map(|(cell, name)| (cell, Some(name))).collect()),
    }
}

/// The number of digits that name a key or digest.
const DIGITS: usize = 6;

/// Returns true if a word may be the beginning of a key or digest.
pub fn is_hash(word: &str) -> bool {
    word.len() >= DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the records of the one key or digest that begins with `prefix`, each with the outputs that match.
///
/// # Errors
/// No key or digest begins so, or several do; the prefix is too short; or the store cannot be read.
pub fn by_hash(store: &Store, prefix: &str) -> Result<Vec<(ActionRecord, Vec<String>)>, Error> {
    if !is_hash(prefix) {
        return Err(Error::usage(format!("`{prefix}` is no stage, and too short for a key or digest"))
            .hint(format!("give {DIGITS} digits or more")));
    }
    let found = store.by_prefix(prefix)?;
    let mut matches = BTreeMap::new();
    for (record, output_names) in &found {
        if record.key.to_string().starts_with(&prefix.to_ascii_lowercase()) {
            matches.insert(record.key.to_string(), format!("key of {}", record.label));
        } else {
            let outputs = output_names.iter().map(|name| (record.outputs[name].digest, name));
            matches.extend(outputs.map(|(digest, name)| (digest.to_string(), format!("{}.{name}", record.label))));
        }
    }
    match matches.len() {
        0 => Err(Error::usage(format!("no key or digest in the store begins with {prefix}"))
            .hint("`cwm show STAGE` prints the key and the digests of a stage")),
        1 => Ok(found),
        count => {
            let matches = list_some(matches.iter().map(|(hash, owner)| format!("{hash} ({owner})")), 8);
            Err(Error::usage(format!("{count} keys and digests begin with {prefix}"))
                .hint(format!("give more digits: {matches}")))
        }
    }
}
