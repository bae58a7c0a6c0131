//! The lock file: the result of each cell of a pipeline, beside the YAML, for git.
//!
//! It knows labels, keys and digests; it knows no plan and no store.

mod parse;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use cwm_contract::Label;
use serde::{Deserialize, Serialize};

use crate::line_file;
use cwm_core::files::{Result, read_project_file};
use cwm_core::{Digest, FileError, Key, read_regular_file};
use parse::parse;

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
    /// Further lines about the same cells, which are not used.
    passed_over: Vec<LockLine>,
    /// The text of the file on disk.
    text: Option<String>,
    warnings: Vec<LockWarning>,
}

/// The line of a lock file about a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockLine {
    /// The key of the result.
    pub key: Key,
    /// The digests of its outputs, by output name.
    pub outputs: BTreeMap<String, Digest>,
}

/// Something that was odd in a lock file and was read all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockWarning {
    /// The lock file.
    pub path: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// The problem, and its consequence.
    pub message: String,
    /// True if the line says something that is lost when the file is written again.
    pub is_lost: bool,
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

    /// Reads a lock file; one that is not there is empty. Of a merge conflict either side will do. Lines that cannot be read are
    /// passed over, and the file is then not written: [`LockFile::warnings`] has both.
    ///
    /// # Errors
    /// It cannot be read, or a newer cwm wrote it.
    pub fn read(path: &Path) -> Result<LockFile> {
        let path = std::path::absolute(path).map_err(FileError::io("find", path))?;
        match read_project_file(&path)? {
            Some(text) => LockFile::of(path, text),
            None => Ok(LockFile { path, ..LockFile::default() }),
        }
    }

    /// Reads the file again: as it was when this was read, or by someone else since.
    ///
    /// # Errors
    /// As [`LockFile::read`].
    pub fn again(&self) -> Result<LockFile> {
        let is_same = |text: &String| read_regular_file(&self.path).is_ok_and(|now| now == text.as_bytes());
        if self.text.as_ref().is_some_and(is_same) { Ok(self.clone()) } else { LockFile::read(&self.path) }
    }

    /// Parses `text`, which `path` held: now, or in an earlier version of it.
    ///
    /// # Errors
    /// A newer cwm wrote it.
    pub fn of(path: PathBuf, text: String) -> Result<LockFile> {
        let parsed = parse(&path, &text)?;
        Ok(LockFile { text: Some(text), ..parsed })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the warnings of reading the file.
    pub fn warnings(&self) -> &[LockWarning] {
        &self.warnings
    }

    /// Returns the line of a cell.
    pub fn get(&self, label: &Label) -> Option<&LockLine> {
        self.cells.get(&label.to_string())
    }

    /// All cells, sorted by label.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &LockLine)> {
        self.cells.iter().map(|(label, cell)| (label.as_str(), cell))
    }

    /// Every line that can be read: of a merge conflict both sides.
    pub fn all_lines(&self) -> impl Iterator<Item = &LockLine> {
        self.cells.values().chain(&self.passed_over)
    }

    /// Sets what it says about these cells; all others stay.
    pub fn update(&mut self, cells: impl IntoIterator<Item = (Label, LockLine)>) {
        self.cells.extend(cells.into_iter().map(|(label, cell)| (label.to_string(), cell)));
    }

    /// Drops the cells that a pipeline does not have any more. Only after planning all of it.
    pub fn keep_only(&mut self, mut known: impl FnMut(&str) -> bool) {
        self.cells.retain(|label, _| known(label));
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.text.as_ref().map_or(0, String::len) + INTRODUCTION.len() + 64);
        let _ = writeln!(text, "{INTRODUCTION}cwm-lock: {LOCK_FILE_FORMAT}");
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

    /// The first line that cannot be read.
    pub fn lost_line(&self) -> Option<&LockWarning> {
        self.warnings.iter().find(|warning| warning.is_lost)
    }

    /// Refuses a file of which lines cannot be read, before it would be written without them.
    ///
    /// # Errors
    /// There is such a line.
    pub fn must_be_readable(&self) -> Result<()> {
        let Some(LockWarning { line, message, .. }) = self.lost_line() else { return Ok(()) };
        let what = format!("cannot be read in line {line} ({message}), and would be written without it");
        let hint = "take the file from git or correct the line; or move it away, and a run writes it anew from what the \
                    store has";
        Err(FileError::refused(&self.path, what, hint))
    }

    /// Writes it in one instant, if it differs from what is on disk: true if it did. A lock file without cells is not
    /// made.
    ///
    /// # Errors
    /// The disk refuses, or what is there cannot be read; the file is then what it was.
    pub fn save(&mut self) -> Result<bool> {
        self.must_be_readable()?;
        let text = self.text();
        let is_written = line_file::replace(&self.path, self.text.as_deref(), &text, self.cells.is_empty())?;
        if is_written {
            self.text = Some(text);
            self.warnings.clear();
            self.passed_over.clear();
        }
        Ok(is_written)
    }
}
