//! What a run is asked for, and what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cwm_contract::DeviceChoice;

use crate::event::{FailedCell, RunEvent, SkippedCell};
use crate::executor::BatchExecutor;
use crate::fetch::{Fetcher, Provider};
use crate::machine::Machine;
use cwm_store::ActionRecord;

/// What a run is asked for.
pub struct Options {
    /// Cells that must be done; their sources come along.
    pub targets: Vec<usize>,
    /// Cells that run even if cached.
    pub force: BTreeSet<usize>,
    /// The machine to use.
    pub machine: Machine,
    /// Where stages compute that ask, in place of what the pipeline says.
    pub device: Option<DeviceChoice>,
    /// Once it is set, what runs is finished and nothing else is begun.
    pub held: Arc<AtomicBool>,
    /// Do the targets anew beside what is recorded, and compare; change nothing.
    pub check: bool,
    /// Whether no stage was named: what cannot be checked then is told, and no failure.
    pub whole: bool,
    /// What was typed, for those who wait for what this run does.
    pub command: String,
    /// Who does cells as batch jobs, if anybody.
    pub batch: Option<BatchExecutor>,
    /// Who is asked for what others made, before it is made.
    pub fetcher: Option<Box<dyn Fetcher>>,
    /// Whether remotes may have what the lock file names.
    pub has_remotes: bool,
    /// Where jobs do not read the store: who sends what they read to where they do.
    pub provider: Option<Box<dyn Provider>>,
}

/// What failed in a run and what was skipped because of that, by index.
#[derive(Default)]
pub struct Failures {
    /// What failed.
    pub failed: BTreeMap<usize, FailedCell>,
    /// What was skipped because of that.
    pub skipped: BTreeMap<usize, SkippedCell>,
    /// Of a check, what has to be made before it can be done.
    pub to_make: BTreeSet<usize>,
    /// Of a check, what has to be fetched from remotes before it can be done.
    pub to_pull: BTreeSet<usize>,
}

impl Failures {
    /// The table of it, with the command that tries `again`.
    pub fn event(self, again: String) -> RunEvent {
        RunEvent::Failures {
            failed: self.failed.into_values().collect(),
            skipped: self.skipped.into_values().collect(),
            again,
        }
    }
}

/// What came of a run.
pub struct Outcome {
    /// The record of every cell that is done, by index.
    pub records: Vec<Option<ActionRecord>>,
    /// The cells that ran.
    pub ran: BTreeSet<usize>,
    /// What failed.
    pub failures: Failures,
    /// In numbers.
    pub summary: Summary,
    /// What did not go well when remotes were asked for records, a sentence each.
    pub unasked: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cells that ran.
    pub ran: usize,
    /// Cells that were cached, or that another run made meanwhile.
    pub cached: usize,
    /// Cells that failed.
    pub failed: usize,
    /// Cells that were skipped.
    pub skipped: usize,
    /// Cells that were checked and made the same bytes.
    pub same: usize,
    /// Cells that were checked and made others.
    pub different: usize,
    /// Whether it was stopped from outside.
    pub interrupted: bool,
    /// Whether a cell could not even be started, because the store cannot be used.
    pub store_refused: bool,
}
