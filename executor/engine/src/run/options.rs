//! What a run is given, and what came of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cwm_contract::DeviceChoice;

use crate::event::{FailedCell, RunEvent, SkippedCell};
use crate::executor::BatchExecutor;
use crate::fetch::{InputUploader, ResultFetcher};
use crate::machine::Machine;
use cwm_core::Key;
use cwm_store::ActionRecord;

/// The options of a run.
pub struct Options {
    /// Cells that must be done; their sources come along.
    pub targets: Vec<usize>,
    /// Cells that run even if cached.
    pub force: BTreeSet<usize>,
    /// The machine to use.
    pub machine: Machine,
    /// Where stages compute that can choose, in place of what the pipeline says.
    pub device: Option<DeviceChoice>,
    /// Once it is set, what runs is finished and nothing else is begun.
    pub drain_requested: Arc<AtomicBool>,
    /// The command line, for those who wait for what this run does.
    pub command: String,
    /// Carries out cells as batch jobs, if there is one.
    pub batch: Option<BatchExecutor>,
    /// Fetches what others built, before it is built here.
    pub fetcher: Option<Box<dyn ResultFetcher>>,
    /// True if remotes may have what the lock file names.
    pub has_remotes: bool,
    /// Uploads what jobs read that do not share the store.
    pub uploader: Option<Box<dyn InputUploader>>,
}

/// The outcome of a run.
pub struct Outcome {
    /// The record of every cell that is done, by index.
    pub records: Vec<Option<ActionRecord>>,
    /// The cells that were built.
    pub ran: BTreeSet<usize>,
    /// The cells that failed.
    pub report: RunReport,
    /// In numbers.
    pub summary: Summary,
    /// Warnings about remotes, a sentence each.
    pub remote_warnings: Vec<String>,
}

/// The cells that failed in a run and those that were skipped because of that, by index.
#[derive(Default)]
pub struct RunReport {
    /// The cells that failed.
    pub failed: BTreeMap<usize, FailedCell>,
    /// The cells that were skipped because of that.
    pub skipped: BTreeMap<usize, SkippedCell>,
    /// How long the attempts at a key ran together.
    pub(super) run_time: HashMap<Key, Duration>,
    /// True if a cell could not be started because the store cannot be used.
    pub(super) store_refused: bool,
}

impl RunReport {
    /// The table of it, with the command that tries `again`.
    pub fn event(self, again: String) -> RunEvent {
        RunEvent::Failures {
            failed: self.failed.into_values().collect(),
            skipped: self.skipped.into_values().collect(),
            again,
        }
    }
}

/// How a run ended.
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
    /// True if it was stopped from outside.
    pub interrupted: bool,
    /// True if a cell could not even be started, because the store cannot be used.
    pub store_refused: bool,
}
