//! The lines of what moves from and to remotes.

use cwm_contract::amount;

use cwm_core::plural;
use cwm_core::text::duration;
use cwm_engine::{Direction, RunEvent};

/// More missing files than this are counted.
const SHOWN: usize = 50;

/// The lines that people see.
pub fn lines(event: &RunEvent) -> Vec<String> {
    match event {
        RunEvent::Transferring { label, direction, objects, bytes, .. } => {
            let verb = match direction {
                Direction::Pull => "pulling ",
                Direction::Push => "pushing ",
            };
            vec![format!("  {verb} {label}  ({}, {})", plural(*objects, "file", "files"), amount::format_bytes(*bytes))]
        }
        RunEvent::Transferred { label, direction, objects, bytes, seconds, missing, .. } => {
            let (verb, nothing) = match direction {
                Direction::Pull => ("pulled  ", "all of it was there"),
                Direction::Push => ("pushed  ", "nothing had to go"),
            };
            let mut lines = vec![match (objects, missing.len()) {
                (0, 0) => format!("  {verb} {label}  ({nothing})"),
                (0, _) => format!("  {verb} {label}: nothing"),
                _ => format!("  {verb} {label}  ({})", moved(*objects, *bytes, *seconds)),
            }];
            lines.extend(shown(missing, "             "));
            lines
        }
        RunEvent::TransferSummary { direction, results, objects, bytes, seconds, faults, missing, .. } => {
            // Once more where whoever comes back looks; no result is counted by them.
            let mut lines: Vec<String> = shown(faults, "").collect();
            if !missing.is_empty() {
                lines.push("missing:".to_owned());
                lines.extend(shown(missing, "  "));
            }
            let verb = match direction {
                Direction::Pull => "pulled",
                Direction::Push => "pushed",
            };
            let results = plural(*results as u64, "result", "results");
            let not = if missing.is_empty() { String::new() } else { format!(", {} missing", missing.len()) };
            lines.push(format!("{verb} {results}: {}{not}", moved(*objects, *bytes, *seconds)));
            lines
        }
        _ => Vec::new(),
    }
}

/// `3 files, 5.0 MB, 2.1 s, 2.4 MB/s`.
fn moved(objects: u64, bytes: u64, seconds: f64) -> String {
    let files = plural(objects, "file", "files");
    let size = amount::format_bytes(bytes);
    let rate = if seconds > 0.1 && bytes > 0 {
        format!(", {}/s", amount::format_bytes((bytes as f64 / seconds) as u64))
    } else {
        String::new()
    };
    format!("{files}, {size}, {}{rate}", duration(seconds))
}

fn shown<'a>(missing: &'a [String], indent: &'a str) -> impl Iterator<Item = String> + 'a {
    let more = missing.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("{indent}and {more} more"));
    missing.iter().take(SHOWN).map(move |line| format!("{indent}{line}")).chain(more)
}
