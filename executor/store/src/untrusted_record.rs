//! Records from elsewhere, which are hostile until they are checked.

use std::path::Path;

use super::record::{ActionRecord, OutputShape, RunInfo};
use cwm_contract::is_hidden;
use cwm_core::{Key, is_label, is_name, shorten};

/// The longest record that is read, in bytes.
pub const LARGEST_RECORD: u64 = 64 << 20;

/// The longest name or other word of a record, in bytes.
const LONGEST_WORD: usize = 4096;

/// The most characters of a bad word that a message shows.
const MAX_SHOWN: usize = 80;

/// A thousand years, on a thousand cores.
const MOST_SECONDS: f64 = 3.2e13;

/// Decodes and checks the record of `key`, which came from elsewhere.
///
/// # Errors
/// The problem, as text that follows "the record".
pub fn check_record(key: &Key, bytes: &[u8]) -> Result<ActionRecord, String> {
    if bytes.len() as u64 > LARGEST_RECORD {
        return Err("is too long".to_owned());
    }
    let record = ActionRecord::decode(Path::new("it"), bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if record.key != *key {
        return Err(format!("is that of another key, {}", record.key));
    }
    if record.components.key() != record.key {
        return Err("has a key that is not that of its components".to_owned());
    }
    check_words(&record)?;
    // Estimates are computed from the cost.
    let RunInfo { wall_seconds, user_seconds, system_seconds, .. } = record.run_info;
    let seconds = [wall_seconds, user_seconds, system_seconds];
    if !seconds.iter().all(|seconds| (0.0..=MOST_SECONDS).contains(seconds)) {
        return Err(format!("has a cost of {seconds:?} seconds"));
    }
    if record.outputs.is_empty() {
        return Err("has no outputs".to_owned());
    }
    for (name, output) in &record.outputs {
        if !is_name(name) {
            return Err(format!("has an output with the name {name:?}"));
        }
        if output.external.is_some() {
            return Err(format!("has an output `{name}` that is a file outside of any store"));
        }
        if let OutputShape::File { extension } = &output.shape
            && !is_extension(extension)
        {
            return Err(format!("has an output `{name}` with the extension {extension:?}"));
        }
    }
    Ok(record)
}

/// Names must be names, and other words one line of plain text: a terminal would obey control characters.
fn check_words(record: &ActionRecord) -> Result<(), String> {
    let label = record.label.to_string();
    let mut coordinates = record.label.coordinates.iter();
    let is_address = is_name(&record.label.stage) && coordinates.all(|(axis, value)| is_name(axis) && is_label(value));
    if !is_address {
        return Err(format!("has the label {:?}, which no cell can have", shorten(&label, MAX_SHOWN)));
    }
    let made = &record.run_info;
    let mut words = vec![
        ("label", label.as_str()),
        ("pipeline", &record.pipeline),
        ("kind", &record.components.kind),
        ("user", &made.user),
        ("host", &made.machine.host),
        ("os", &made.machine.os),
        ("cwm_version", &made.cwm_version),
    ];
    words.extend(made.devices.iter().map(|device| ("devices", device.as_str())));
    words.extend(made.computed_on.iter().map(|device| ("computed_on", device.as_str())));
    words.extend(record.metrics.keys().map(|name| ("metrics", name.as_str())));
    words.extend(record.probe.keys().map(|name| ("probe", name.as_str())));
    words.extend(record.outputs.values().map(|output| ("outputs", output.format.as_str())));
    if let Some((field, _)) = words.iter().find(|(_, text)| text.len() > LONGEST_WORD) {
        return Err(format!("is too long in `{field}`"));
    }
    // A cause has values, which may hold hidden characters: they are made visible where it is shown.
    let causes = record.cause.iter().map(|line| ("cause", line.as_str()));
    let causes = causes.filter(|(_, line)| line.contains(char::is_control));
    match words.into_iter().filter(|(_, text)| text.contains(is_hidden)).chain(causes).next() {
        Some((field, text)) => {
            Err(format!("has terminal control characters in `{field}`: {:?}", shorten(text, MAX_SHOWN)))
        }
        None => Ok(()),
    }
}

/// Returns true for the extension of a file's name: `pgn.zst`.
fn is_extension(text: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    text.is_empty() || (text.len() <= 64 && text.split('.').all(is_part))
}
