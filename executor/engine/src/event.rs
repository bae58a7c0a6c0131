//! The events of a run, in one order, and their sinks.
//!
//! The engine emits [`RunEvent`]s; the terminal, plain lines, JSON and the run log are four sinks of the same stream.
//! Nothing else in the executor prints.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cwm_contract::Label;
use serde::{Deserialize, Serialize};

use crate::{Estimate, TotalEstimate};
use cwm_action::ActionFailureKind;
use cwm_core::{Digest, Key};
use cwm_store::Difference;

/// An event that the run reports to its sinks. Documented in `docs/events.md`; new fields may be added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The plan is made.
    Planned {
        /// Cells that take part.
        cells: usize,
    },
    /// A problem that does not stop the run.
    Warning {
        /// The problem.
        message: String,
    },
    /// A pipe is read into the store, before any cell runs.
    Reading {
        /// The pipe.
        path: PathBuf,
    },
    /// The pipe was read. From now on it is a file of the store.
    Read {
        /// The pipe.
        path: PathBuf,
        /// The digest of its content.
        digest: Digest,
        /// Its bytes.
        bytes: u64,
    },
    /// A cell is a cache hit.
    Cached {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// The origin of the result.
        origin: String,
    },
    /// A cell would run (dry run only).
    WouldRun {
        /// The cell.
        label: Label,
        /// Its causes, one a line.
        cause: Vec<String>,
        /// True if it may be cached, because an input is not known yet.
        uncertain: bool,
        /// The estimate by earlier runs of its kind; null if there is none.
        estimate: Option<Estimate>,
    },
    /// A process was started for it.
    Started {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// Its causes, one a line.
        cause: Vec<String>,
        /// The number of the attempt in this run, from 1.
        attempt: u32,
    },
    /// Cells are tasks of a batch job.
    Submitted {
        /// The job's id.
        job: String,
        /// The cells, by their index in the job's array.
        labels: Vec<Label>,
        /// The resources that each requests.
        request: String,
        /// True if another run had submitted it.
        adopted: bool,
    },
    /// The numbers of the jobs of this run changed.
    Queue {
        /// Jobs that wait.
        pending: usize,
        /// Jobs that have a node.
        running: usize,
        /// The queue's reasons for which jobs wait, with the number of jobs.
        reasons: BTreeMap<String, usize>,
    },
    /// An attempt failed, and another one follows.
    Retrying {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// The number of the failed attempt, from 1.
        attempt: u32,
        /// The most attempts.
        attempts: u32,
        /// The kind of failure.
        kind: ActionFailureKind,
        /// The reason.
        reason: String,
        /// Seconds until the next one.
        wait_seconds: f64,
        /// The last lines of this attempt in the log.
        log_tail: Vec<String>,
        /// The path of the log of all attempts.
        log: PathBuf,
    },
    /// A cell waits for another process that builds the same key.
    Waiting {
        /// The cell.
        label: Label,
        /// The process that builds it.
        owner: String,
    },
    /// The progress of a cell.
    Progress {
        /// The cell.
        label: Label,
        /// Units done.
        done: u64,
        /// Units in all.
        total: Option<u64>,
        /// The unit.
        unit: String,
    },
    /// The activity of a cell changed.
    Activity {
        /// The cell.
        label: Label,
        /// The activity.
        activity: String,
    },
    /// A note of a cell that runs.
    Note {
        /// The cell.
        label: Label,
        /// The note.
        message: String,
    },
    /// A cell is done and recorded.
    Finished {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// Wall-clock seconds.
        seconds: f64,
        /// Bytes of all outputs.
        bytes: u64,
        /// A note: the same result as before, or the result of another run.
        note: Option<String>,
    },
    /// A cell failed.
    Failed(FailedCell),
    /// A cell was skipped because a cell that it depends on failed or was stopped.
    Skipped(SkippedCell),
    /// `cwm run --watch` waits for a change.
    Watching {
        /// The number of watched files.
        files: usize,
    },
    /// Files changed, so `cwm run --watch` runs again.
    Changed {
        /// The changed files.
        paths: Vec<PathBuf>,
    },
    /// A cell was built beside its recorded result (`run --check`).
    Checked {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// Seconds that it took.
        seconds: f64,
        /// The differences from the recorded result; empty if the same bytes came out.
        differences: Vec<Difference>,
    },
    /// The end of a check.
    CheckSummary {
        /// Cells of which the same bytes came out.
        same: usize,
        /// Cells of which others came out.
        different: usize,
        /// Cells that failed, or have no recorded result.
        failed: usize,
        /// Cells that were not checked because of that, or because it was stopped.
        skipped: usize,
    },
    /// An artifact was exported.
    Exported {
        /// `stage` or `stage.output`.
        source: String,
        /// The file or folder.
        path: PathBuf,
    },
    /// The end of a dry run.
    DrySummary {
        /// Cells that would run.
        would_run: usize,
        /// Cells that may run: that depends on the results of other cells.
        may_run: usize,
        /// Cells that are cached.
        cached: usize,
        /// Cells that would fail.
        would_fail: usize,
        /// All estimates together.
        total: TotalEstimate,
        /// The values given to cells that read nothing and have no estimate: `games (games 200, seed 0)`.
        known: Vec<String>,
        /// A cell without an estimate, after whose run others of its stage have one.
        measure: Option<Label>,
    },
    /// The failed and skipped cells of a run, if there are any.
    Failures {
        /// The failed cells, in the plan's order.
        failed: Vec<FailedCell>,
        /// The skipped cells.
        skipped: Vec<SkippedCell>,
        /// The command that retries them.
        retry_command: String,
    },
    /// A transfer of files from or to a remote begins.
    Transferring {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// The direction.
        direction: Direction,
        /// The number of objects to transfer.
        objects: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// A transfer ended.
    Transferred {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// The direction.
        direction: Direction,
        /// Objects that were transferred; the others existed.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// Seconds that it took.
        seconds: f64,
        /// The objects that were not transferred, with the reason, a line each.
        missing: Vec<String>,
    },
    /// The end of a push or a pull.
    TransferSummary {
        /// The direction.
        direction: Direction,
        /// The remotes.
        remotes: Vec<String>,
        /// Results that were transferred, or existed.
        results: usize,
        /// Objects that were transferred.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// Seconds from start to end.
        seconds: f64,
        /// The problems of remotes, a line each.
        errors: Vec<String>,
        /// The objects that were not transferred, with the reason, a line each.
        missing: Vec<String>,
    },
    /// The end of a run.
    Summary {
        /// Cells that ran.
        ran: usize,
        /// Cells that were cached.
        cached: usize,
        /// Cells that failed.
        failed: usize,
        /// Cells that were skipped.
        skipped: usize,
    },
}

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Results are fetched from a remote.
    Pull,
    /// Results are uploaded to a remote.
    Push,
}

/// A cell that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedCell {
    /// The cell.
    pub label: Label,
    /// Its key, if it is known.
    pub key: Option<Key>,
    /// The kind of failure.
    pub kind: ActionFailureKind,
    /// The reason of the last failure.
    pub reason: String,
    /// A hint.
    pub hint: Option<String>,
    /// The last lines of its log.
    pub log_tail: Vec<String>,
    /// The path of its log, if there is one.
    pub log: Option<PathBuf>,
    /// The number of attempts; 0 if it could not be started.
    pub attempts: u32,
    /// Seconds that they took together.
    pub seconds: f64,
}

/// A cell that was skipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkippedCell {
    /// The cell.
    pub label: Label,
    /// The cell that it needs and that failed or was stopped.
    pub blocked_by: Label,
    /// Others that it needs and that failed later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_later: Vec<Label>,
}

/// Receives the events of a run.
pub trait EventSink {
    /// Takes one event. A sink that cannot write must not fail the run.
    fn event(&mut self, event: &RunEvent);

    /// Is called a few times a second, for animations.
    fn tick(&mut self) {}
}

/// Several sinks as one.
#[derive(Default)]
pub struct EventSinks(pub Vec<Box<dyn EventSink>>);

impl EventSinks {
    /// Reports a problem that does not stop the run.
    pub fn warn(&mut self, message: impl Into<String>) {
        self.event(&RunEvent::Warning { message: message.into() });
    }
}

impl EventSink for EventSinks {
    fn event(&mut self, event: &RunEvent) {
        self.0.iter_mut().for_each(|sink| sink.event(event));
    }

    fn tick(&mut self) {
        self.0.iter_mut().for_each(|sink| sink.tick());
    }
}
