//! Handles the events of executors: the messages of an action, and the outcome of an attempt.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use cwm_contract::Event as StageEvent;
use jiff::Timestamp;

use super::{Engine, Work};
use crate::event::{EventSink, FailedCell, RunEvent, SkippedCell};
use crate::lookup::{by_checksum, latest_by_checksum};
use crate::retry;
use crate::scheduler::{CellState, Event, RunState};
use cwm_action::{ActionFailure, source_key};
use cwm_action::{ActionFailureKind, ActionMessage, ActionOutcome, AttemptOptions, read_log_tail};
use cwm_core::{Key, OutputDigests, Result, strip_ansi};
use cwm_store::ActionRecord;

impl Engine<'_> {
    pub(super) fn on_message(&mut self, cell: usize, message: ActionMessage) {
        let CellState::Running { .. } = self.scheduler.state(cell) else { return };
        let label = self.label(cell);
        match message {
            ActionMessage::Outcome(outcome) => self.work_of(cell).outcome = Some(outcome),
            ActionMessage::Start => {
                self.work_of(cell).began = Some(Instant::now());
                if self.scheduler.spec(cell).outlives_run {
                    self.report_start(cell);
                }
                self.on(Event::WorkStarted(cell));
            }
            ActionMessage::Waiting { owner } => self.sinks.event(&RunEvent::Waiting { label, owner }),
            ActionMessage::Event(StageEvent::Progress { done, total, unit }) => {
                self.sinks.event(&RunEvent::Progress { label, done, total, unit });
            }
            ActionMessage::Event(StageEvent::Activity(activity)) => {
                self.sinks.event(&RunEvent::Activity { label, activity })
            }
            ActionMessage::Event(StageEvent::Note(message)) => self.sinks.event(&RunEvent::Note { label, message }),
            ActionMessage::Event(_) => {}
        }
    }

    /// Reports that a cell runs now.
    pub(super) fn report_start(&mut self, cell: usize) {
        if let Some(started) = self.work_of(cell).started.take() {
            self.sinks.event(&started);
        }
    }

    /// Ends an attempt. The record in the store counts, not the message of the action.
    pub(super) fn on_exit(&mut self, cell: usize, exited: Result<(), ActionFailure>) {
        let CellState::Running { key, .. } = self.scheduler.state(cell) else { return };
        let work = self.work_of(cell);
        let outcome = work.outcome.take();
        if let Some(began) = work.began.take() {
            *self.failures.run_time.entry(key).or_default() += began.elapsed();
        }
        let is_stopping = self.scheduler.run_state() >= RunState::Stopping;
        let system_failure =
            |message: &str, hint: &str| ActionFailure::new(ActionFailureKind::System, message).hint(hint);
        let failure = match (outcome, exited) {
            (Some(Err(failure)), _) => failure,
            (outcome, Ok(())) if self.options.check => match outcome {
                Some(Ok(ActionOutcome::Comparison(differences))) => return self.finish_check(cell, key, differences),
                _ => system_failure(
                    "another check of the same ran at the same time",
                    "check it again when that has ended",
                ),
            },
            (outcome, Ok(())) => {
                let outputs = match outcome {
                    Some(Ok(ActionOutcome::NewResult(outputs))) => Some(outputs),
                    _ => None,
                };
                match self.result(cell, &key, outputs.as_ref()) {
                    Ok(Some(record)) => return self.finish(cell, record, outputs.is_none()),
                    Ok(None) => system_failure(
                        "it ended without an error, and its result is not in the store",
                        "is something else deleting from the store?",
                    ),
                    Err(error) => error.into(),
                }
            }
            (_, Err(failure)) if failure.kind == ActionFailureKind::Cancelled && is_stopping => {
                ActionFailure::cancelled()
            }
            (_, Err(failure)) => failure,
        };
        // It ended on request, or was killed because it did not.
        let was_stopped = match failure.kind {
            ActionFailureKind::Cancelled => is_stopping,
            ActionFailureKind::Killed | ActionFailureKind::Crash => self.scheduler.run_state() == RunState::Killing,
            _ => false,
        };
        let is_transient = retry::is_transient(failure.kind, &self.work_folder(&key));
        self.work_of(cell).failure = Some(failure);
        self.on(Event::Failed { cell, is_transient, was_stopped });
    }

    /// Takes the result of an attempt.
    fn finish(&mut self, cell: usize, record: ActionRecord, is_from_other_run: bool) {
        let label = self.label(cell);
        let bytes = record.outputs.values().map(|output| output.size).sum();
        let seconds = if is_from_other_run { record.run_info.wall_seconds } else { self.seconds(cell, &record) };
        let (key, note) = (record.key, self.note(cell, &record, is_from_other_run));
        self.sinks.event(&RunEvent::Finished { label, key, seconds, bytes, note });
        let before = self.records[cell].as_ref();
        let has_changed = before.is_some_and(|before| before.output_digests() != record.output_digests());
        let is_remote = self.executors.is_remote(cell);
        if is_remote {
            self.transfers.made_by_job(cell, &record);
        }
        // Its files are with the remote, and are wanted here.
        let needs_fetch = is_remote && self.scheduler.has_final_output(cell);
        self.records[cell] = Some(record.into());
        self.on(Event::Finished { cell, is_built: !is_from_other_run, has_changed, needs_fetch });
    }

    /// Returns the result of an action that ended: the one that it recorded, or that another process had recorded.
    fn result(&mut self, cell: usize, key: &Key, outputs: Option<&OutputDigests>) -> Result<Option<ActionRecord>> {
        let store = self.context.store;
        let Some(outputs) = outputs else {
            let preferred = self.context.locked_outputs(cell, key);
            let found = match store.available(key, preferred, self.context.digests)? {
                // Its files are with the remote.
                None if self.executors.is_remote(cell) => store.preferred_record(key, preferred)?,
                found => found,
            };
            return match found {
                Some(found) if source_key::has_unpinned_url(&found.components) => latest_by_checksum(store, key),
                found => Ok(found),
            };
        };
        let candidates = store.candidates(key, Some(outputs))?;
        // Under one URL there may be many, one after the other.
        let is_unpinned = candidates.first().is_some_and(|first| source_key::has_unpinned_url(&first.components));
        // An external file that lies elsewhere now makes another record of the same result.
        let different: BTreeSet<_> = candidates.iter().map(ActionRecord::output_digests).collect();
        if different.len() > 1 && !is_unpinned {
            self.sinks.warn(format!(
                "{}: {} different results are recorded for the same inputs, parameters and code; this run uses the one just computed",
                self.label(cell),
                different.len()
            ));
        }
        candidates.into_iter().next().map_or(Ok(None), |made| by_checksum(store, made))
    }

    /// Returns the seconds that this run took for a result. If an equal result was recorded before, its record has those of the
    /// earlier run.
    fn seconds(&self, cell: usize, record: &ActionRecord) -> f64 {
        let run_started = Timestamp::now() - self.began.elapsed();
        // A job may have started before the run that waits for it.
        let is_attempt_of_run = !self.scheduler.spec(cell).outlives_run || self.options.force.contains(&cell);
        match self.work.get(&cell).and_then(|work| work.key) {
            Some(key) if is_attempt_of_run && record.run_info.started < run_started => self.failures.seconds(&key),
            _ => record.run_info.wall_seconds,
        }
    }

    /// Returns a note on the origin of a result.
    fn note(&self, cell: usize, record: &ActionRecord, is_from_other_run: bool) -> Option<String> {
        if is_from_other_run {
            return Some(format!("from another run: {}", record.origin()));
        }
        let line = self.context.lock_file.get(&self.context.cell(cell).label)?;
        (line.outputs == record.output_digests()).then(|| "the same result as before".to_owned())
    }

    pub(super) fn report_retry(&mut self, cell: usize, attempt: u32, wait: Duration) {
        let Some(Work { key: Some(key), failure: Some(failure), .. }) = self.work.get(&cell) else { return };
        let log = self.work_folder(key).log();
        self.sinks.event(&RunEvent::Retrying {
            label: self.label(cell),
            key: *key,
            attempt,
            attempts: retry::max_attempts(self.scheduler.spec(cell).retry),
            kind: failure.kind,
            reason: failure.message.clone(),
            wait_seconds: wait.as_secs_f64(),
            log_tail: log_tail(&log, &failure.message),
            log,
        });
    }

    pub(super) fn report_failure(&mut self, cell: usize) {
        let Some(Work { key, failure: Some(failure), .. }) = self.work.get(&cell) else { return };
        let (key, ActionFailure { kind, message: reason, hint }) = (*key, failure.clone());
        let log = key.map(|key| self.work_folder(&key).log()).filter(|log| log.is_file());
        let log_tail = log.as_deref().map(|log| log_tail(log, &reason)).unwrap_or_default();
        let attempts = key.and_then(|key| self.scheduler.key(&key)).map_or(0, |known| known.attempts);
        let seconds = key.map_or(0.0, |key| self.failures.seconds(&key));
        let label = self.label(cell);
        let failed = FailedCell { label, key, kind, reason, hint, log_tail, log, attempts, seconds };
        self.sinks.event(&RunEvent::Failed(failed.clone()));
        self.failures.failed.insert(cell, failed);
    }

    pub(super) fn report_skipped(&mut self, cell: usize, blocked_by: usize) {
        let failed = self.label(blocked_by);
        match self.failures.skipped.get_mut(&cell) {
            Some(skipped) if self.failures.failed.contains_key(&blocked_by) => skipped.failed_later.push(failed),
            Some(_) => {}
            None => {
                let skipped = SkippedCell { label: self.label(cell), blocked_by: failed, failed_later: Vec::new() };
                self.sinks.event(&RunEvent::Skipped(skipped.clone()));
                self.failures.skipped.insert(cell, skipped);
            }
        }
    }
}

/// Returns the last lines of this attempt in a log, without the reason that is shown anyway.
fn log_tail(path: &Path, reason: &str) -> Vec<String> {
    const LINES: usize = 12;
    const BYTES: u64 = 16 * 1024;
    const LONGEST: usize = 300;
    let Ok(text) = read_log_tail(path, 0, BYTES) else { return Vec::new() };
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty() && *line != reason).collect();
    if let Some(heading) = lines.iter().rposition(|line| AttemptOptions::is_heading(line)) {
        lines.drain(..=heading);
    }
    // Control sequences of a log must not reach a terminal.
    let shown = |line: &&str| strip_ansi(line).chars().take(LONGEST).collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(shown).collect()
}
