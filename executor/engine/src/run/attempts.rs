//! Further attempts at what failed, for stages that ask for them.

use std::path::Path;
use std::time::{Duration, Instant};

use super::Engine;
use crate::event::{EventSink, RunEvent};
use cwm_action::{FailedKind, Terms, log_end};
use cwm_core::digest::Key;
use cwm_core::error::Error;
use cwm_core::text::as_shown;
use cwm_pipeline::plan::Attempts;

/// Why an attempt failed.
#[derive(Clone)]
pub(super) struct Fault {
    pub kind: FailedKind,
    pub reason: String,
    pub hint: Option<String>,
}

impl Fault {
    /// What kept a cell from being started.
    pub fn of(error: Error) -> Self {
        let hint = error.hints.first().cloned();
        Fault { kind: FailedKind::System, reason: error.message, hint }
    }
}

/// The attempts of this run at one key.
#[derive(Clone, Copy, Default)]
pub(super) struct Tried {
    /// How many began.
    pub attempts: u32,
    /// How many began and say nothing, since their input was lost.
    pub lost: u32,
    /// How long they ran together.
    pub time: Duration,
}

/// A cell that waits to be tried again. Meanwhile its share of the machine is free.
pub(super) struct Pause {
    key: Key,
    due: Instant,
    fault: Fault,
}

impl Engine<'_> {
    /// On which terms the next attempt at a cell is made.
    pub(super) fn terms(&self, index: usize, key: &Key) -> Terms {
        let cell = &self.plan.cells[index];
        let Attempts { time, memory, .. } = cell.attempts;
        Terms {
            attempt: self.tried.get(key).map_or(0, |tried| tried.attempts) + 1,
            // Whoever checks wants to know how it goes, not that it goes some time.
            attempts: if self.check { 1 } else { cell.attempts.in_all() },
            time,
            memory,
            check: self.check,
            asked_by: Some(format!("{}, for {}", self.command, cell.label)),
        }
    }

    /// The attempt failed: another one follows, or that was it. One that never began is no attempt.
    pub(super) fn attempt_failed(&mut self, index: usize, key: Key, began: bool, fault: Fault) {
        let attempts = self.plan.cells[index].attempts;
        let tried = self.tried.get(&key).copied().unwrap_or_default();
        let work = self.store.work(&key);
        let kept = cwm_action::goes_on(&work).unwrap_or(false) || work.is_kept_elsewhere();
        if !began || tried.attempts >= attempts.in_all() || !fault.kind.may_pass(kept) || self.stopping > 0 {
            if began {
                self.failed.insert(key, (index, fault.clone()));
            }
            self.fail(index, Some(key), fault, true);
            self.release_waiting(&key);
            return;
        }
        let wait = attempts.wait_after(tried.attempts);
        self.sinks.event(&RunEvent::Retrying {
            label: self.plan.cells[index].label.clone(),
            key,
            attempt: tried.attempts,
            attempts: attempts.in_all(),
            kind: fault.kind,
            reason: fault.reason.clone(),
            wait_seconds: wait.as_secs_f64(),
            log_tail: log_tail(&work.log(), &fault.reason),
            log: work.log(),
        });
        self.pausing.insert(index, Pause { key, due: Instant::now() + wait, fault });
    }

    /// The failure of another cell that did the same, on the same terms, where this one asks for no more attempts.
    pub(super) fn failed_already(&self, index: usize, key: &Key) -> Option<Fault> {
        let (other, fault) = self.failed.get(key).filter(|(other, _)| *other != index)?;
        let (one, two) = (&self.plan.cells[index].attempts, &self.plan.cells[*other].attempts);
        let same_terms = (one.time, one.memory) == (two.time, two.memory) && self.asks(index) == self.asks(*other);
        let work = self.store.work(key);
        let kept = cwm_action::goes_on(&work).unwrap_or(false) || work.is_kept_elsewhere();
        let tries_more =
            fault.kind.may_pass(kept) && one.in_all() > self.tried.get(key).map_or(0, |tried| tried.attempts);
        let reason = format!("does the same as {}, which failed: {}", self.plan.cells[*other].label, fault.reason);
        (same_terms && !tries_more).then(|| Fault { reason, ..fault.clone() })
    }

    /// How long it is until a pause ends, if there is one.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.pausing.values().map(|pause| pause.due.saturating_duration_since(Instant::now())).min()
    }

    /// Has what is due looked at as if it were new: meanwhile somebody else may have made it. Returns whether anything was.
    pub(super) fn end_pauses(&mut self) -> bool {
        let now = Instant::now();
        let due: Vec<(usize, Key)> =
            self.pausing.extract_if(.., |_, pause| pause.due <= now).map(|(i, p)| (i, p.key)).collect();
        for (index, key) in &due {
            self.schedule.wait_again(*index);
            self.release_waiting(key);
        }
        !due.is_empty()
    }

    /// The run is stopped: what waited to be tried again has failed.
    pub(super) fn give_up_pauses(&mut self) {
        for (index, Pause { key, fault, .. }) in std::mem::take(&mut self.pausing) {
            let reason = format!("{} (stopped before it was tried again)", fault.reason);
            self.fail(index, Some(key), Fault { reason, ..fault }, true);
        }
    }
}

/// The last lines that this attempt wrote into a log, without the reason that is shown anyway.
pub(super) fn log_tail(path: &Path, reason: &str) -> Vec<String> {
    const LINES: usize = 12;
    const BYTES: u64 = 16 * 1024;
    const LONGEST: usize = 300;
    let Ok(text) = log_end(path, 0, BYTES) else { return Vec::new() };
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty() && *line != reason).collect();
    if let Some(heading) = lines.iter().rposition(|line| Terms::is_heading(line)) {
        lines.drain(..=heading);
    }
    // A terminal must not obey what stands in a log.
    let shown = |line: &&str| as_shown(line).chars().take(LONGEST).collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(shown).collect()
}
