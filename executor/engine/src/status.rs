//! The cache status of every cell before anything runs, for `status`, `why` and `--dry-run`.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::lookup::{RunContext, origin, sources};
use cwm_action::ActionFile;
use cwm_core::{Error, Key, Result};
use cwm_pipeline::plan::Plan;
use cwm_store::{ActionRecord, EvictionReason};
use serde::Serialize;

/// The result of looking up the key of a cell.
pub enum KeyStatus {
    /// Its result is recorded.
    Cached(Box<ActionRecord>),
    /// Its key has no result.
    Absent(Box<ActionFile>),
    /// A cell that it depends on has no result yet, so its key is not known.
    KeyUnknown,
    /// The cell names a pipe, whose content is known only when a run reads it.
    PipeUnread(PathBuf),
    /// A file or secret that it depends on cannot be read.
    Unreadable(Error),
}

/// The state of every cell of a plan.
pub struct CacheStatus {
    /// By cell index.
    pub states: Vec<KeyStatus>,
    /// Cells whose results are those of older code, which was accepted.
    accepted: BTreeSet<usize>,
}

impl CacheStatus {
    /// Looks up every cell. It reads records and hashes external files, runs nothing, and writes nothing but the digest cache.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn query(context: RunContext<'_>) -> Result<Self> {
        let mut cache_status = CacheStatus::empty(context.plan);
        let all: Vec<usize> = (0..context.plan.cells.len()).collect();
        cache_status.refresh(&all, context)?;
        Ok(cache_status)
    }

    /// The status before any cell was looked up.
    pub fn empty(plan: &Plan) -> Self {
        CacheStatus { states: plan.cells.iter().map(|_| KeyStatus::KeyUnknown).collect(), accepted: BTreeSet::new() }
    }

    /// Looks up those of `cells` that have no result yet. `cells` are in the plan's order and include their ancestors.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn refresh(&mut self, cells: &[usize], context: RunContext<'_>) -> Result<()> {
        for &index in cells {
            let is_cached = |index: usize| self.record(index).is_some();
            if is_cached(index) || !sources(context.cell(index)).all(is_cached) {
                continue;
            }
            self.states[index] = match context.resolve(index, |source| self.record(source)) {
                Err(error) => match context.plan.pipe_of(index) {
                    Some(path) => KeyStatus::PipeUnread(path),
                    None => KeyStatus::Unreadable(error),
                },
                Ok(resolved) => match context.find_result(index, &resolved)? {
                    Some(record) => {
                        if record.components.code != resolved.components.code {
                            self.accepted.insert(index);
                        }
                        KeyStatus::Cached(Box::new(record))
                    }
                    None => KeyStatus::Absent(Box::new(resolved)),
                },
            };
        }
        Ok(())
    }

    /// Returns true if a cell's result is one of older code, which was accepted.
    pub fn is_accepted(&self, index: usize) -> bool {
        self.accepted.contains(&index)
    }

    /// Returns the result of a cell that is cached.
    pub fn record(&self, index: usize) -> Option<&ActionRecord> {
        match &self.states[index] {
            KeyStatus::Cached(record) => Some(record),
            _ => None,
        }
    }

    /// Returns the key of a cell, if it is known.
    pub fn key(&self, index: usize) -> Option<Key> {
        match &self.states[index] {
            KeyStatus::Cached(record) => Some(record.key),
            KeyStatus::Absent(action) => Some(action.key),
            KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) | KeyStatus::Unreadable(_) => None,
        }
    }

    /// Describes the origin of the result `record` of a cell.
    pub fn origin(&self, index: usize, record: &ActionRecord) -> String {
        origin(record, self.is_accepted(index))
    }
}

/// The predicted status of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CellStatus {
    /// It has a result.
    #[default]
    Cached,
    /// It is done, and files of its result are missing.
    Incomplete,
    /// It is done, and `cwm store gc` evicted its files.
    Collected,
    /// Its result is known from a remote, and its files were not pulled.
    #[serde(rename = "not pulled")]
    NotPulled,
    /// It is done, and its files are not kept.
    #[serde(rename = "not kept")]
    NotKept,
    /// It ran again with another result than the one that its reader had read.
    #[serde(rename = "ran again")]
    Reran,
    /// It has another result than the one that its reader had read, and did not run since.
    #[serde(rename = "has another result")]
    Differs,
    /// It would run.
    #[serde(rename = "would run")]
    WouldRun,
    /// Its inputs have no results yet.
    Waits,
    /// It may run: that depends on the content of a pipe, or on the results of other cells.
    #[serde(rename = "may run")]
    MayRun,
    /// A file that it depends on cannot be read.
    #[serde(rename = "would fail")]
    WouldFail,
}

impl CellStatus {
    /// Returns the status of a cell with missing files that no cell needs.
    pub fn without_files(record: &ActionRecord) -> CellStatus {
        match record.evicted {
            None => CellStatus::Incomplete,
            Some(EvictionReason::Collected) => CellStatus::Collected,
            Some(EvictionReason::NotPulled) => CellStatus::NotPulled,
            Some(EvictionReason::NotKept) => CellStatus::NotKept,
        }
    }

    /// Returns true if the cell is done and would not run.
    pub fn is_cached(self) -> bool {
        use CellStatus::{Cached, Collected, Incomplete, NotKept, NotPulled};
        matches!(self, Cached | Incomplete | Collected | NotPulled | NotKept)
    }

    /// Returns the status as a verb.
    pub fn as_verb(self) -> String {
        match self {
            CellStatus::Waits => CellStatus::MayRun.to_string(),
            status if status.is_cached() => "is cached".to_owned(),
            status => status.to_string(),
        }
    }
}

impl fmt::Display for CellStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Describes a cell that names the pipe `path`.
pub fn describe_unread_pipe(path: &Path) -> String {
    format!("{} can be read only once: its content is known after `cwm run` has read it", path.display())
}
