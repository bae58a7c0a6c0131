//! Reading a lock file: also one with merge conflicts, and lines that are not what they should be.

use std::collections::BTreeMap;
use std::path::Path;

use super::{LOCK_FILE_FORMAT, LockLine, LockWarning};
use cwm_core::FileError;
use cwm_core::files::Result;

/// Where a line stands in a merge conflict.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Neither,
    First,
    Base,
    Second,
}

/// The content of a lock file.
pub(super) struct Parsed {
    /// By label.
    pub cells: BTreeMap<String, LockLine>,
    /// What else it says of the same labels: the other side of a conflict, a line that is there twice.
    pub passed_over: Vec<LockLine>,
    /// What was odd.
    pub warnings: Vec<LockWarning>,
}

/// Reads a text that `path` holds or held.
pub(super) fn parse(path: &Path, text: &str) -> Result<Parsed> {
    let mut cells: BTreeMap<String, LockLine> = BTreeMap::new();
    let mut passed_over = Vec::new();
    let mut warnings = Vec::new();
    let mut side = Side::Neither;
    let mut has_version = false;
    for (index, line) in text.lines().enumerate() {
        let mut warn = |message: String, is_lost: bool| {
            warnings.push(LockWarning { path: path.to_owned(), line: index + 1, message, is_lost });
        };
        if let Some(next) = conflict_marker(line, side) {
            if next == Side::First {
                let name = line.trim_start_matches('<').trim();
                let conflict =
                    format!("a merge conflict: for cells that both sides have, the first side is taken (`{name}`)");
                warn(conflict, false);
            }
            side = next;
            continue;
        }
        let line = line.trim();
        if side == Side::Base || line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(version) = line.strip_prefix("cwm-lock:") {
            match version.trim().parse::<u64>() {
                Ok(found) if found > u64::from(LOCK_FILE_FORMAT) => {
                    let path = path.to_owned();
                    return Err(FileError::TooNew { path, what: "the lock file", found, known: LOCK_FILE_FORMAT });
                }
                Ok(_) => has_version = true,
                Err(_) => warn("this is not a format version; the line is ignored".into(), true),
            }
            continue;
        }
        match parse_cell(line) {
            // In a conflict the first side is taken; twice without one is a mistake, and again the first is taken.
            Ok((label, cell)) if cells.contains_key(&label) => {
                passed_over.push(cell);
                if side == Side::Neither {
                    warn(format!("`{label}` is here a second time; the line is ignored"), false);
                }
            }
            Ok((label, cell)) => {
                cells.insert(label, cell);
            }
            Err(what) => warn(format!("{what}; the line is ignored"), true),
        }
    }
    if !has_version {
        let message = match text.trim().is_empty() {
            true => "the file is empty, as cwm never leaves it: what it said is lost".to_owned(),
            false => format!("`cwm-lock: {LOCK_FILE_FORMAT}` is missing"),
        };
        warnings.push(LockWarning { path: path.to_owned(), line: 1, message, is_lost: false });
    }
    Ok(Parsed { cells, passed_over, warnings })
}

/// The side that begins after this line, if it is git's marker.
fn conflict_marker(line: &str, side: Side) -> Option<Side> {
    let is = |marker: &str| line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    if is("<<<<<<<") {
        Some(Side::First)
    } else if is("|||||||") && side == Side::First {
        Some(Side::Base)
    } else if is("=======") && side != Side::Neither {
        Some(Side::Second)
    } else if is(">>>>>>>") && side != Side::Neither {
        Some(Side::Neither)
    } else {
        None
    }
}

/// A line is the inside of a JSON object with one member.
fn parse_cell(line: &str) -> Result<(String, LockLine), String> {
    if let Some(cell) = as_written(line) {
        return Ok(cell);
    }
    let mut cells: BTreeMap<String, LockLine> = serde_json::from_str(&format!("{{{line}}}"))
        .map_err(|error| format!("this is not a cell with its key and outputs ({error})"))?;
    match (cells.pop_first(), cells.is_empty()) {
        (Some(cell), true) => Ok(cell),
        _ => Err("this is not one cell".into()),
    }
}

/// The cell of a line that is spelled as [`LockFile::text`](super::LockFile::text) does it, without a JSON parser: a run that finds nothing to do
/// reads one for each cell. `None` of any other.
pub(super) fn as_written(line: &str) -> Option<(String, LockLine)> {
    let (label, rest) = plain_text(line)?;
    let (key, mut rest) = rest.strip_prefix(": {\"key\": ").and_then(plain_text)?;
    rest = rest.strip_prefix(", \"outputs\": {")?;
    let mut outputs = BTreeMap::new();
    while !rest.starts_with('}') {
        if !outputs.is_empty() {
            rest = rest.strip_prefix(", ")?;
        }
        let (name, after) = plain_text(rest)?;
        let (digest, after) = after.strip_prefix(": ").and_then(plain_text)?;
        if outputs.insert(name.to_owned(), digest.parse().ok()?).is_some() {
            return None;
        }
        rest = after;
    }
    (rest == "}}").then_some((label.to_owned(), LockLine { key: key.parse().ok()?, outputs }))
}

/// The quoted text that begins here and needs no thought, and what comes after it.
fn plain_text(text: &str) -> Option<(&str, &str)> {
    let (inside, rest) = text.strip_prefix('"')?.split_once('"')?;
    inside.bytes().all(|byte| byte >= b' ' && byte != b'\\').then_some((inside, rest))
}
