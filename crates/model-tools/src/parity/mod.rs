//! Our models beside the authors': fixtures with all that their code computed of a batch, and files of numbers that ours
//! must give too (models.md §9).
//!
//! Each file gives one comparison: quantities with their worst difference, or the reason why there is none. Nothing that
//! is not there or is no number passes for equal.

mod config;
mod counts;
mod error_stats;
mod fixture;
mod manifest;
mod metrics;
mod paths;
mod schedules;
#[cfg(test)]
mod tests;

use std::path::Path;

use burn::tensor::Device;
use cwm_contract::{Comparison, DeviceChoice, Failure, ParityRequest};
use cwm_models::{device, families};
use serde_json::Value;

use self::fixture::FixtureComparison;

/// Compares all files of the request, in order.
///
/// # Errors
/// There is nothing to compare, or no such family or device.
pub fn parity(request: &ParityRequest, report: &mut dyn FnMut(Comparison)) -> Result<(), Failure> {
    let device = match request.device.as_str() {
        "" => device::cpu(),
        name => {
            // A name that is none is the request's fault, a device that cannot be used the machine's.
            name.parse::<DeviceChoice>().map_err(Failure::input)?;
            device::named(name)?
        }
    };
    if let Some(family) = &request.family {
        families::find(family)?;
    }
    for file in paths::files(&request.paths)? {
        report(compare(&file, request, &device));
    }
    Ok(())
}

fn compare(file: &Path, request: &ParityRequest, device: &Device) -> Comparison {
    let name = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    let mut compared = FixtureComparison::default();
    let result = paths::contents(file).and_then(|bytes| match file.extension() {
        Some(ending) if ending == "json" => numbers(&bytes, &mut compared).map_err(Failure::input),
        _ => device::catch_panics(device, || {
            fixture::compare(file, &bytes, request, device, &mut compared).map_err(Failure::input)
        }),
    });
    let FixtureComparison { subject, not_compared, notes, quantities } = compared;
    let result = result.and_then(|()| match quantities {
        empty if empty.is_empty() => Err(Failure::input("holds nothing that could be compared")),
        some => Ok(some),
    });
    Comparison { name, path: file.to_owned(), subject, result, not_compared, notes }
}

/// Compares a file of numbers, whatever its name is.
fn numbers(text: &[u8], compared: &mut FixtureComparison) -> Result<(), String> {
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("is no JSON: {error}"))?;
    let entries = value.as_object().ok_or("is no JSON object")?;
    let all_have = |field: &str| !entries.is_empty() && entries.values().all(|entry| entry.get(field).is_some());
    compared.quantities = if all_have("lr_used_at_step") {
        schedules::compare(text)?
    } else if all_have("param_count") {
        counts::compare(text, &mut compared.notes)?
    } else if entries.contains_key("batches") && entries.contains_key("summary") {
        metrics::compare(text)?
    } else {
        return Err("holds neither learning-rate schedules nor metrics nor counts of parameters".to_owned());
    };
    Ok(())
}
