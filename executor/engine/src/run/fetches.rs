//! Which cells wait for remotes, and what came of asking them.

use std::collections::{BTreeMap, BTreeSet};

use crate::fetch::{ResultFetcher, UpdateSender};
use cwm_core::{Error, Key};
use cwm_store::ActionRecord;

/// Asks remotes for results, and remembers what they said.
#[derive(Default)]
pub struct FetchCoordinator {
    fetcher: Option<Box<dyn ResultFetcher>>,
    /// Cells that wait for remotes, with their keys.
    in_flight: BTreeMap<usize, Key>,
    /// Files that were asked for and did not come.
    failures: BTreeMap<usize, FetchFailure>,
    /// Warnings, each once.
    warnings: BTreeSet<String>,
}

/// Files that were asked for and did not come.
pub struct FetchFailure {
    /// True if every remote answered.
    pub all_remotes_answered: bool,
    /// What did not come, and why, a line each.
    pub missing: Vec<String>,
}

impl FetchFailure {
    /// The failure of a cell whose result is elsewhere.
    pub fn error(&self) -> Error {
        let more = self.missing.len().saturating_sub(1);
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        let first = self.missing.first().map(String::as_str).unwrap_or_default();
        Error::system(format!("its result is with a remote, and files of it could not be fetched: {first}{more}")).hint(
            "`cwm run` fetches them when it can be reached; `cwm run --force` of the stage makes and sends them anew",
        )
    }
}

impl FetchCoordinator {
    /// Asks by this fetcher, if there is one.
    pub fn new(fetcher: Option<Box<dyn ResultFetcher>>) -> Self {
        FetchCoordinator { fetcher, ..FetchCoordinator::default() }
    }

    /// Returns true if remotes can be asked.
    pub fn is_possible(&self) -> bool {
        self.fetcher.is_some()
    }

    /// Asks for records of these keys.
    pub fn fetch_records(&mut self, cell: usize, key: Key, keys: Vec<Key>, updates: UpdateSender) {
        self.in_flight.insert(cell, key);
        if let Some(fetcher) = &self.fetcher {
            fetcher.fetch_records(cell, keys, updates);
        }
    }

    /// Asks for the files of the first of these results that can be had whole.
    pub fn fetch_files(&mut self, cell: usize, key: Key, candidates: Vec<ActionRecord>, updates: UpdateSender) {
        self.in_flight.insert(cell, key);
        if let Some(fetcher) = &self.fetcher {
            fetcher.fetch_files(cell, candidates, updates);
        }
    }

    /// The key that a cell waits for.
    pub fn key_of(&self, cell: usize) -> Option<Key> {
        self.in_flight.get(&cell).copied()
    }

    /// A cell waits no more. Returns its key if it did.
    pub fn ended(&mut self, cell: usize) -> Option<Key> {
        self.in_flight.remove(&cell)
    }

    /// Files of a cell came, or did not.
    pub fn files_ended(&mut self, cell: usize, missing: &[String], all_remotes_answered: bool) {
        self.failures.remove(&cell);
        if !missing.is_empty() {
            self.failures.insert(cell, FetchFailure { all_remotes_answered, missing: missing.to_vec() });
        }
    }

    /// The files of a cell that were asked for and did not come.
    pub fn failure(&self, cell: usize) -> Option<&FetchFailure> {
        self.failures.get(&cell)
    }

    /// The cell has another result now.
    pub fn forget_failure(&mut self, cell: usize) {
        self.failures.remove(&cell);
    }

    /// Returns true if this warning is new.
    pub fn is_new_warning(&mut self, warning: &str) -> bool {
        self.warnings.insert(warning.to_owned())
    }

    /// All warnings.
    pub fn into_warnings(self) -> Vec<String> {
        self.warnings.into_iter().collect()
    }
}
