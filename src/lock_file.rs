//! The lock file: which result each cell of a pipeline has, beside the YAML, for git.
//!
//! It knows labels, keys and digests; it knows no plan and no store.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cwm_contract::Label;
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Key};
use crate::store::durable::Disk;
use crate::store::{Result, StoreError};

/// Version of the format.
pub const LOCK_FILE_FORMAT: u32 = 1;

const INTRODUCTION: &str = "\
# The results that this pipeline stands for; written by `cwm run`, kept in git. In a merge conflict either side will do:
# take one and run again.
";

/// The lock file `<stem>.lock` of a pipeline.
///
/// # Format, version 1
/// YAML, one line a cell, sorted by label, so that git merges it line by line:
///
/// ```yaml
/// cwm-lock: 1
/// "model[size=d32/l1]": {"key": "9f…", "outputs": {"checkpoint": "31…", "curves": "7a…"}}
/// ```
///
/// Everything is quoted: a bare digest such as `12e4567` would be a number. Lines that start with `#` are comments.
#[derive(Clone, Debug, Default)]
pub struct LockFile {
    path: PathBuf,
    cells: BTreeMap<String, LockLine>,
    /// What is on disk.
    text: Option<String>,
    warnings: Vec<LockWarning>,
}

/// What the lock file says about a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockLine {
    /// What it was a result of.
    pub key: Key,
    /// What came out, by output name.
    pub outputs: BTreeMap<String, Digest>,
}

/// Something that was odd in a lock file and was read all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockWarning {
    /// The lock file.
    pub path: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// What was odd, and what was done.
    pub message: String,
}

impl fmt::Display for LockWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

impl LockFile {
    /// The lock file of the pipeline in `yaml`.
    pub fn path_for(yaml: &Path) -> PathBuf {
        yaml.with_extension("lock")
    }

    /// Reads a lock file; one that is not there is empty. Merge conflicts and lines that cannot be read do no harm:
    /// [`LockFile::warnings`] tells of them.
    ///
    /// # Errors
    /// It cannot be read, or a newer cwm wrote it.
    pub fn read(path: &Path) -> Result<LockFile> {
        let path = std::path::absolute(path).map_err(StoreError::io("find", path))?;
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(LockFile { path, ..LockFile::default() });
            }
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        };
        let (cells, warnings) = parse(&path, &text)?;
        Ok(LockFile { path, cells, text: Some(text), warnings })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was odd when it was read.
    pub fn warnings(&self) -> &[LockWarning] {
        &self.warnings
    }

    /// What it says about a cell.
    pub fn get(&self, label: &Label) -> Option<&LockLine> {
        self.cells.get(&label.to_string())
    }

    /// All cells, sorted by label.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &LockLine)> {
        self.cells.iter().map(|(label, cell)| (label.as_str(), cell))
    }

    /// Sets what it says about these cells; all others stay.
    pub fn update(&mut self, cells: impl IntoIterator<Item = (Label, LockLine)>) {
        self.cells.extend(cells.into_iter().map(|(label, cell)| (label.to_string(), cell)));
    }

    /// Drops the cells that a pipeline does not have any more. Only after planning all of it.
    pub fn keep_only(&mut self, mut known: impl FnMut(&Label) -> bool) {
        self.cells.retain(|label, _| label.parse().is_ok_and(|label| known(&label)));
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let mut text = format!("{INTRODUCTION}cwm-lock: {LOCK_FILE_FORMAT}\n");
        for (label, LockLine { key, outputs }) in &self.cells {
            // Writing to a String cannot fail.
            let _ = write!(text, "{}: {{\"key\": \"{key}\", \"outputs\": {{", serde_json::Value::from(label.as_str()));
            for (i, (name, digest)) in outputs.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                let _ = write!(text, "{comma}{}: \"{digest}\"", serde_json::Value::from(name.as_str()));
            }
            text.push_str("}}\n");
        }
        text
    }

    /// Writes it in one instant, if it differs from what is on disk: true if it did. A lock file without cells is not
    /// made.
    ///
    /// # Errors
    /// The disk refuses; the file is then what it was.
    pub fn save(&mut self) -> Result<bool> {
        let text = self.text();
        if self.text.as_ref() == Some(&text) || (self.text.is_none() && self.cells.is_empty()) {
            return Ok(false);
        }
        // Through a link, so that the link stays one.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        Disk::default().replace(&path, text.as_bytes(), true)?;
        self.text = Some(text);
        self.warnings.clear();
        Ok(true)
    }
}

/// Where a line stands in a merge conflict.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Neither,
    First,
    Base,
    Second,
}

/// Cells by label, and what was odd.
fn parse(path: &Path, text: &str) -> Result<(BTreeMap<String, LockLine>, Vec<LockWarning>)> {
    let mut cells: BTreeMap<String, LockLine> = BTreeMap::new();
    let mut warnings = Vec::new();
    let mut side = Side::Neither;
    let mut has_version = false;
    for (index, line) in text.lines().enumerate() {
        let mut warn = |message: String| warnings.push(LockWarning { path: path.to_owned(), line: index + 1, message });
        if let Some(next) = conflict_marker(line, side) {
            if next == Side::First {
                let name = line.trim_start_matches('<').trim();
                warn(format!("a merge conflict: for cells that both sides have, the first side is taken (`{name}`)"));
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
                    return Err(StoreError::TooNew { path, what: "the lock file", found, known: LOCK_FILE_FORMAT });
                }
                Ok(_) => has_version = true,
                Err(_) => warn("this is not a format version; the line is ignored".into()),
            }
            continue;
        }
        match parse_cell(line) {
            // In a conflict the first side is taken; twice without one is a mistake, and again the first is taken.
            Ok((label, _)) if cells.contains_key(&label) => {
                if side == Side::Neither {
                    warn(format!("`{label}` is here a second time; the line is ignored"));
                }
            }
            Ok((label, cell)) => {
                cells.insert(label, cell);
            }
            Err(what) => warn(format!("{what}; the line is ignored")),
        }
    }
    if !has_version && !text.trim().is_empty() {
        let message = format!("`cwm-lock: {LOCK_FILE_FORMAT}` is missing");
        warnings.push(LockWarning { path: path.to_owned(), line: 1, message });
    }
    Ok((cells, warnings))
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
    let mut cells: BTreeMap<String, LockLine> = serde_json::from_str(&format!("{{{line}}}"))
        .map_err(|error| format!("this is not a cell with its key and outputs ({error})"))?;
    match (cells.pop_first(), cells.is_empty()) {
        (Some(cell), true) => Ok(cell),
        _ => Err("this is not one cell".into()),
    }
}

#[cfg(test)]
#[path = "lock_file_tests.rs"]
mod tests;
