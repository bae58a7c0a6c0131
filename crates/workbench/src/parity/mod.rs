//! Our models beside the authors': fixtures with all that their code computed of a batch, and files of numbers that ours
//! must give too (models.md §9).
//!
//! Each file gives one comparison: quantities with their worst difference, or the reason why there is none. Nothing that
//! is not there or is no number passes for equal.

mod gauge;
mod manifest;
mod metrics;
mod paths;
mod schedules;

use std::path::Path;

use cwm_contract::{Comparison, Failure, ParityRequest, Quantity};
use serde_json::Value;

/// Compares all files of the request, in order.
///
/// # Errors
/// There is nothing to compare.
pub fn parity(request: &ParityRequest, tell: &mut dyn FnMut(Comparison)) -> Result<(), Failure> {
    for file in paths::files(&request.paths)? {
        tell(compare(&file));
    }
    Ok(())
}

fn compare(file: &Path) -> Comparison {
    let name = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    let read = std::fs::read(file).map_err(|error| Failure::io("read", file, error));
    let result = read.and_then(|bytes| numbers(&bytes).map_err(Failure::input));
    Comparison { name, path: file.to_owned(), subject: None, result, notes: Vec::new() }
}

/// Compares a file of numbers, whatever its name is.
fn numbers(text: &[u8]) -> Result<Vec<Quantity>, String> {
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("is no JSON: {error}"))?;
    let entries = value.as_object().ok_or("is no JSON object")?;
    let all_have = |field: &str| !entries.is_empty() && entries.values().all(|entry| entry.get(field).is_some());
    if all_have("lr_used_at_step") {
        schedules::compare(text)
    } else if entries.contains_key("batches") && entries.contains_key("summary") {
        metrics::compare(text)
    } else {
        Err("holds neither learning-rate schedules nor metrics nor counts of parameters".to_owned())
    }
}
