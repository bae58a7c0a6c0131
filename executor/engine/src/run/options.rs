//! The options of a run, and its outcome.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cwm_contract::DeviceChoice;

use crate::event::{FailedCell, RunEvent, SkippedCell};
use crate::executor::ExecutorFactory;
use crate::fetch::RemoteTransfers;
use crate::lookup::CellRecords;
use crate::machine::Machine;
use cwm_core::{Key, OutputDigests};
use cwm_store::{ActionRecord, Difference};

/// The options of a run.
#[derive(Default)]
pub struct Options<'a> {
    /// The cells to build, with all that they depend on.
    pub targets: BTreeSet<usize>,
    /// True if the targets are built beside their recorded results, to see whether the same bytes come out. Nothing is recorded.
    pub check: bool,
    /// Cells that run even if cached.
    pub force: BTreeSet<usize>,
    /// The machine to use.
    pub machine: Machine,
    /// The device of stages that can choose one, in place of the pipeline's.
    pub device: Option<DeviceChoice>,
    /// Set to drain the run: running cells end and no other one starts.
    pub drain_requested: Arc<AtomicBool>,
    /// The command line, which other processes show that wait for a cell of this run.
    pub command: String,
    /// The executor of a batch system.
    pub batch: Option<ExecutorFactory>,
    /// Fetches results from remotes before they are built here, and uploads the inputs of jobs that do not share the store.
    pub remotes: Option<Box<dyn RemoteTransfers>>,
    /// True if remotes may have the results that the lock file names.
    pub has_remotes: bool,
    /// Writes the results so far into the lock files, so that `gc` keeps them even if this run is killed.
    pub update_lock_files: Option<UpdateLockFiles<'a>>,
}

/// A function that gets the records of a run so far, and the cells that were built.
pub type UpdateLockFiles<'a> = Box<dyn FnMut(&CellRecords, &BTreeSet<usize>) + 'a>;

/// The outcome of a run.
pub struct Outcome {
    /// The record of every cell that is done, by index.
    pub records: Vec<Option<Arc<ActionRecord>>>,
    /// The cells that were built.
    pub ran: BTreeSet<usize>,
    /// The cells that failed.
    pub failures: RunFailures,
    /// The numbers of cells.
    pub summary: Summary,
    /// Warnings about remotes, a sentence each.
    pub remote_warnings: Vec<String>,
}

/// The cells that failed in a run and those that were skipped because of that, by index.
#[derive(Default)]
pub struct RunFailures {
    /// The cells that failed.
    pub failed: BTreeMap<usize, FailedCell>,
    /// The cells that were skipped because of that.
    pub skipped: BTreeMap<usize, SkippedCell>,
    /// The time that all attempts at a key took.
    pub(super) run_time: HashMap<Key, Duration>,
    /// The differences that checks found, by key and recorded outputs.
    pub(super) checked: HashMap<(Key, OutputDigests), Vec<Difference>>,
}

impl RunFailures {
    /// Returns the seconds that all attempts at a key took.
    pub(super) fn seconds(&self, key: &Key) -> f64 {
        self.run_time.get(key).copied().unwrap_or_default().as_secs_f64()
    }

    /// Returns the table of failed and skipped cells. `retry_command` retries them.
    pub fn event(self, retry_command: String) -> RunEvent {
        RunEvent::Failures {
            failed: self.failed.into_values().collect(),
            skipped: self.skipped.into_values().collect(),
            retry_command,
        }
    }
}

/// The numbers of cells of a run, and its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cells that ran.
    pub ran: usize,
    /// Cells that were cached, or that another run built meanwhile.
    pub cached: usize,
    /// Cells that failed.
    pub failed: usize,
    /// Cells that were skipped.
    pub skipped: usize,
    /// Checked cells of which the same bytes came out.
    pub same: usize,
    /// Checked cells of which other bytes came out.
    pub different: usize,
    /// True if it was stopped from outside.
    pub interrupted: bool,
    /// True if a cell could not even be started, because the store cannot be used.
    pub store_unavailable: bool,
}
