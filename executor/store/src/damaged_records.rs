//! Records that turn out damaged when they are read: set aside by whoever makes again what is missing, passed over by whoever only
//! tells what there is.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::actions::read_record;
use super::record::ActionRecord;
use super::record_file::RecordFile;
use super::{Finding, Store};
use cwm_core::files::Result;
use cwm_core::{FileError, Key};

/// What becomes of damaged records, and which were met.
#[derive(Clone)]
pub(super) struct DamagedRecords {
    are_moved: bool,
    met: Arc<Mutex<Met>>,
}

#[derive(Default)]
struct Met {
    /// Not told yet.
    findings: Vec<Finding>,
    keys: BTreeSet<Key>,
}

impl DamagedRecords {
    fn met(&self) -> MutexGuard<'_, Met> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// This store, where a record that turns out damaged is set aside, as if it were not there: for whoever makes again what is
    /// missing. [`Store::take_damaged_records`] tells what was.
    pub fn quarantining_records(self) -> Store {
        Store { damaged_records: Some(DamagedRecords { are_moved: true, met: Arc::default() }), ..self }
    }

    /// This store, where a record that turns out damaged stays and is passed over: for whoever only tells what there is.
    /// [`Store::take_damaged_records`] tells what was.
    pub fn skipping_damaged_records(self) -> Store {
        Store { damaged_records: Some(DamagedRecords { are_moved: false, met: Arc::default() }), ..self }
    }

    /// The records that were set aside, or passed over, since this was asked before.
    pub fn take_damaged_records(&self) -> Vec<Finding> {
        self.damaged_records.as_ref().map_or_else(Vec::new, |damaged| std::mem::take(&mut damaged.met().findings))
    }

    /// Whether a record of `key` was met that is damaged.
    pub fn has_damaged_record(&self, key: &Key) -> bool {
        self.damaged_records.as_ref().is_some_and(|damaged| damaged.met().keys.contains(key))
    }

    /// What was read of a record of `key` at `path`; nothing if it is damaged and was set aside, or is passed over.
    pub(super) fn or_aside<T>(&self, key: &Key, path: &Path, read: Result<T>) -> Result<Option<T>> {
        let (path, what, damaged) = match (read, &self.damaged_records) {
            (Err(FileError::Damaged { path: at, what }), Some(damaged)) if at == path => (at, what, damaged),
            (read, _) => return read.map(Some),
        };
        let words = format!("is damaged: {what}");
        let finding = match damaged.are_moved {
            true => self.set_aside(path.clone(), words)?,
            false => Finding::about(path.clone(), words),
        };
        if damaged.are_moved && finding.quarantined.is_none() {
            return Err(FileError::Damaged { path, what });
        }
        let mut met = damaged.met();
        if !met.findings.contains(&finding) {
            met.findings.push(finding);
        }
        met.keys.insert(*key);
        Ok(None)
    }

    /// A record of `key` for whoever weighs what the store holds; nothing if it is damaged and passed over. It is never moved.
    pub(super) fn record_in(&self, key: &Key, file: &RecordFile) -> Result<Option<ActionRecord>> {
        match read_record(key, file) {
            Err(error) if self.damaged_records.as_ref().is_some_and(|damaged| !damaged.are_moved) => {
                self.or_aside(key, &file.path, Err(error))
            }
            read => read.map(Some),
        }
    }
}
