//! The lock file: the result of each cell of a pipeline, beside the YAML, for git; and those of runs with `--set`.
//!
//! It depends on labels, keys and digests, not on plans or the store.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::Label;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::line_file::{LineEntry, LineFile, json_member};
use cwm_core::{Key, OutputDigests};

/// The lock file `<stem>.lock` of a pipeline, or that of a run with `--set`, whose first line below the version is a
/// [`RunHeading`].
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
pub type LockFile = LineFile<LockLine>;

/// The values of `--set`, by variable.
pub type SetValues = BTreeMap<String, String>;

/// The line of a lock file about its run, if that had `--set`: `cwm-run: {"set": {"games": "x.pgn"}, …}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeading {
    /// The values.
    pub set: SetValues,
    /// The end of the last run with them.
    pub finished: Timestamp,
    /// The number of cells that failed in that run.
    pub failed: usize,
}

impl RunHeading {
    const PREFIX: &'static str = "cwm-run: ";

    fn parse(line: &str) -> Option<RunHeading> {
        serde_json::from_str(line.strip_prefix(Self::PREFIX)?).ok()
    }
}

/// The line of a lock file about a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockLine {
    /// The key of the result.
    pub key: Key,
    /// The digests of its outputs, by output name.
    pub outputs: OutputDigests,
}

impl LineEntry for LockLine {
    type Key = String;
    const FORMAT: &'static str = "cwm-lock";
    const ENTRY: &'static str = "a cell with its key and outputs";
    const INTRODUCTION: &'static str = "\
# The results of this pipeline; written by `cwm run`, kept in git.
# In a merge conflict take either side and run again.
";
    const CONFLICT_RULE: &'static str = "for cells that both sides have, the first side is taken";

    fn is_heading(line: &str) -> bool {
        RunHeading::parse(line).is_some()
    }

    fn parse(line: &str) -> Result<(String, LockLine), String> {
        json_member(line)
    }

    fn write(&self, label: &String, text: &mut String) {
        let quoted = |name: &str| serde_json::Value::from(name).to_string();
        let outputs = self.outputs.iter().map(|(name, digest)| format!("{}: \"{digest}\"", quoted(name)));
        let outputs = Vec::from_iter(outputs).join(", ");
        *text += &format!("{}: {{\"key\": \"{}\", \"outputs\": {{{outputs}}}}}\n", quoted(label), self.key);
    }
}

impl LockFile {
    /// The lock file of the pipeline in `yaml`.
    pub fn path_for(yaml: &Path) -> PathBuf {
        yaml.with_extension("lock")
    }

    /// Returns what it has of its run, if that had `--set`.
    pub fn run(&self) -> Option<RunHeading> {
        RunHeading::parse(&self.heading)
    }

    /// Makes it the lock file of this run.
    pub fn set_run(&mut self, run: &RunHeading) {
        self.heading = format!("{}{}", RunHeading::PREFIX, serde_json::json!(run));
    }

    /// Returns the line of a cell.
    pub fn get(&self, label: &Label) -> Option<&LockLine> {
        self.entries.get(&label.to_string())
    }

    /// All cells, sorted by label.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &LockLine)> {
        self.entries.iter().map(|(label, cell)| (label.as_str(), cell))
    }

    /// Every line that can be read: of a merge conflict both sides.
    pub fn all_lines(&self) -> impl Iterator<Item = &LockLine> {
        self.entries.values().chain(&self.duplicates)
    }

    /// Sets the lines of these cells; all others stay.
    pub fn update(&mut self, cells: impl IntoIterator<Item = (Label, LockLine)>) {
        self.entries.extend(cells.into_iter().map(|(label, cell)| (label.to_string(), cell)));
    }

    /// Drops the cells that a pipeline does not have any more. Only after planning all of it.
    pub fn keep_only(&mut self, mut known: impl FnMut(&str) -> bool) {
        self.entries.retain(|label, _| known(label));
    }
}
