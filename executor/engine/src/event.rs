//! What happens in a run, in one order, and who is informed.
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

/// One thing that happened. Documented in `docs/events.md`; new fields may be added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The plan is made.
    Planned {
        /// Cells that take part.
        cells: usize,
    },
    /// Something worth knowing that stops nothing.
    Warning {
        /// What.
        message: String,
    },
    /// A pipe is being read into the store, before anything else.
    Reading {
        /// What is read.
        path: PathBuf,
    },
    /// It is read, and a file like any other from now on.
    Read {
        /// What was read.
        path: PathBuf,
        /// Digest of what it held.
        digest: Digest,
        /// How many bytes.
        bytes: u64,
    },
    /// A result was there already.
    Cached {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// Who made it and when, in words.
        origin: String,
    },
    /// It will run, and why (dry run only).
    WouldRun {
        /// The cell.
        label: Label,
        /// Why, one cause a line.
        cause: Vec<String>,
        /// True if it might still turn out to be cached, because an input is not known yet.
        uncertain: bool,
        /// What it is likely to cost, by earlier runs of its kind; null where there is none to go by.
        estimate: Option<Estimate>,
    },
    /// A process was started for it.
    Started {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// Why, one cause a line.
        cause: Vec<String>,
        /// Which attempt of this run it is, from 1.
        attempt: u32,
    },
    /// Cells are tasks of a batch job.
    Submitted {
        /// The job's id.
        job: String,
        /// The cells, by their index in the job's array.
        labels: Vec<Label>,
        /// The resources that each asks for, in words.
        asks: String,
        /// True if an earlier run, or another one, had submitted it.
        found: bool,
    },
    /// How many jobs of this run there are, where that changed.
    Queue {
        /// That wait.
        pending: usize,
        /// That have a node.
        running: usize,
        /// Why those wait, in the queue's words, with how many each.
        reasons: BTreeMap<String, usize>,
    },
    /// An attempt failed, and there will be another one.
    Retrying {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// Which attempt failed, from 1.
        attempt: u32,
        /// How many there may be in all.
        attempts: u32,
        /// The kind of failure.
        kind: ActionFailureKind,
        /// Why it failed, in words.
        reason: String,
        /// Seconds until the next one.
        wait_seconds: f64,
        /// The last lines of what this attempt wrote into the log.
        log_tail: Vec<String>,
        /// Where the whole log is, with those of all attempts.
        log: PathBuf,
    },
    /// Another process is doing the same work; this one waits.
    Waiting {
        /// The cell.
        label: Label,
        /// For whom.
        holder: String,
    },
    /// How far it is.
    Progress {
        /// The cell.
        label: Label,
        /// Units done.
        done: u64,
        /// Units in all.
        total: Option<u64>,
        /// What is counted.
        unit: String,
    },
    /// What it does now.
    Doing {
        /// The cell.
        label: Label,
        /// In a few words.
        what: String,
    },
    /// Something that it tells people while it runs.
    Note {
        /// The cell.
        label: Label,
        /// In a sentence.
        message: String,
    },
    /// It is done and recorded.
    Finished {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// Wall-clock seconds.
        seconds: f64,
        /// Bytes of all outputs.
        bytes: u64,
        /// What it did, if not plainly "ran": the same bytes as before, taken from another process.
        note: Option<String>,
    },
    /// It failed.
    Failed {
        /// The cell.
        label: Label,
        /// Its key, unless not even that could be told.
        key: Option<Key>,
        /// The kind of failure.
        kind: ActionFailureKind,
        /// Why, in words.
        reason: String,
        /// Advice to the user.
        hint: Option<String>,
        /// The last lines of its log.
        log_tail: Vec<String>,
        /// Where the whole log is, if it came so far.
        log: Option<PathBuf>,
        /// How many attempts there were; none if it could not be started.
        attempts: u32,
        /// Seconds that they took together.
        seconds: f64,
    },
    /// It was not run because something it depends on did not finish.
    Skipped {
        /// The cell.
        label: Label,
        /// The failed or stopped cell.
        because: Label,
    },
    /// `cwm watch` waits for a change.
    Watching {
        /// How many files are looked at.
        files: usize,
    },
    /// Something changed, so `cwm watch` runs again.
    Changed {
        /// The files that are not what they were.
        paths: Vec<PathBuf>,
    },
    /// A stage was done anew to check what is recorded (`run --check`).
    Checked {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// Seconds that it ran.
        seconds: f64,
        /// In what it differs from what is recorded; nothing if the same bytes came out.
        differences: Vec<Difference>,
    },
    /// The end of a check.
    CheckSummary {
        /// Cells of which the same bytes came out.
        same: usize,
        /// Cells of which others came out.
        different: usize,
        /// Cells that failed, or that have nothing recorded to compare with.
        failed: usize,
        /// Cells that were not checked because of that, or because it was stopped.
        skipped: usize,
    },
    /// An artifact was put where people find it.
    Exported {
        /// `stage` or `stage.port`.
        source: String,
        /// The file or folder.
        path: PathBuf,
    },
    /// The end of a dry run.
    DrySummary {
        /// Cells that would run.
        would_run: usize,
        /// Cells that would run unless what runs before them makes the same as before.
        may_run: usize,
        /// Cells that are cached.
        cached: usize,
        /// Cells that would fail.
        would_fail: usize,
        /// All estimates together.
        total: TotalEstimate,
    },
    /// What failed in this run and what was skipped because of that, and how to try those again; only if anything failed.
    Failures {
        /// What failed, in the plan's order.
        failed: Vec<FailedCell>,
        /// The cells that were skipped because of that.
        skipped: Vec<SkippedCell>,
        /// The command that tries them again, as it is typed.
        again: String,
    },
    /// Files of a result begin to move from or to a remote.
    Transferring {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// Which way.
        direction: Direction,
        /// How many files there are to move, or to ask for.
        objects: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// They moved.
    Transferred {
        /// The cell.
        label: Label,
        /// Its key.
        key: Key,
        /// Which way.
        direction: Direction,
        /// How many moved; the others were there.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// Seconds that it took.
        seconds: f64,
        /// What did not move, and why, a line each.
        missing: Vec<String>,
    },
    /// The end of a push or a pull.
    TransferSummary {
        /// Which way.
        direction: Direction,
        /// The remotes that were asked.
        remotes: Vec<String>,
        /// Results that moved, or were there.
        results: usize,
        /// Files that moved.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// Seconds from start to end.
        seconds: f64,
        /// What is wrong with remotes, a line each.
        faults: Vec<String>,
        /// What did not move, and why, a line each.
        missing: Vec<String>,
    },
    /// The end.
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

/// Which way results move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From a remote.
    Pull,
    /// To a remote.
    Push,
}

/// A cell that failed, at the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedCell {
    /// The cell.
    pub label: Label,
    /// The kind of failure.
    pub kind: ActionFailureKind,
    /// Why it failed last, in words.
    pub reason: String,
    /// How many attempts there were.
    pub attempts: u32,
    /// Seconds that they took together.
    pub seconds: f64,
    /// Where the log is, if it came so far.
    pub log: Option<PathBuf>,
}

/// A cell that was skipped, at the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkippedCell {
    /// The cell.
    pub label: Label,
    /// The cell that it needs and that failed.
    pub because: Label,
    /// Others that it needs and that failed later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Label>,
}

/// Receives the events of a run.
pub trait EventSink {
    /// Takes one event. A sink that cannot write must not fail the run.
    fn event(&mut self, event: &RunEvent);

    /// Is called a few times a second, for what moves by itself.
    fn tick(&mut self) {}
}

/// Several sinks as one.
#[derive(Default)]
pub struct EventSinks(pub Vec<Box<dyn EventSink>>);

impl EventSink for EventSinks {
    fn event(&mut self, event: &RunEvent) {
        self.0.iter_mut().for_each(|sink| sink.event(event));
    }

    fn tick(&mut self) {
        self.0.iter_mut().for_each(|sink| sink.tick());
    }
}
