//! What a cell's process told, and how it ended.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, ExitStatus};
use std::time::Instant;

use cwm_contract::Failure;

use super::attempts::{Fault, Tried, log_tail};
use super::{Engine, Place, Running};
use crate::child::describe_end;
use crate::event::{EventSink, FailedCell, RunEvent, SkippedCell};
use crate::executor::AttemptFailure;
use crate::status::{by_sum, last_by_sum};
use cwm_action::brought;
use cwm_action::{FailedKind, Line, out_of_memory};
use cwm_core::digest::{Digest, Key};
use cwm_core::error::Error;
use cwm_store::ActionRecord;

/// How the work on a cell ended.
pub(super) enum End {
    /// Its process ended.
    Process(std::io::Result<ExitStatus>),
    /// Its job did.
    Job(Result<(), AttemptFailure>),
}

impl End {
    /// The end of a process, which is waited for.
    pub fn of(mut child: Child) -> Self {
        End::Process(child.wait())
    }

    /// Whether there is to be a result.
    pub fn is_success(&self) -> bool {
        match self {
            End::Process(status) => status.as_ref().is_ok_and(ExitStatus::success),
            End::Job(ended) => ended.is_ok(),
        }
    }
}

impl Engine<'_> {
    pub(super) fn hear(&mut self, index: usize, line: Line) {
        let label = self.plan.cells[index].label.clone();
        let Some(running) = self.running.get_mut(&index) else { return };
        match line {
            Line::Waiting { holder } => self.sinks.event(&RunEvent::Waiting { label, holder }),
            Line::Recorded(outputs) => running.outputs = Some(outputs),
            Line::Failed { kind, message, hint } => running.failure = Some((kind, message, hint)),
            Line::Event(cwm_contract::Event::Progress { done, total, unit }) => {
                self.sinks.event(&RunEvent::Progress { label, done, total, unit });
            }
            Line::Event(cwm_contract::Event::Doing(what)) => self.sinks.event(&RunEvent::Doing { label, what }),
            Line::Event(cwm_contract::Event::Note(message)) => self.sinks.event(&RunEvent::Note { label, message }),
            Line::Checked(differences) => running.checked = Some(differences),
            Line::Started => {
                running.began = Some(Instant::now());
                self.tried.entry(running.key).or_default().attempts += 1;
            }
            Line::Event(_) | Line::AlreadyRecorded => {}
        }
    }

    pub(super) fn ended(&mut self, index: usize, end: End) {
        let Some(mut running) = self.running.remove(&index) else { return };
        if let Place::Child { share, .. } = &running.place {
            self.pool.give_back(share.clone());
        }
        if let Some(began) = running.began {
            self.tried.entry(running.key).or_default().time += began.elapsed();
        }
        if self.check {
            return self.check_ended(index, &end, running);
        }
        let before = self.to_remake.remove(&index);
        let cell = &self.plan.cells[index];
        let succeeded = end.is_success() && running.failure.is_none();
        let record = match succeeded.then(|| self.result(index, &running.key, running.outputs.as_ref())) {
            Some(Ok(record)) => record,
            Some(Err(error)) => {
                running.failure = Some((FailedKind::System, error.message, error.hints.first().cloned()));
                None
            }
            None => None,
        };
        match record {
            Some(record) => {
                let made = self.made.entry(running.key).or_default();
                made.times += 1;
                made.stands = true;
                let is_taken_over = running.outputs.is_none();
                if is_taken_over {
                    self.summary.cached += 1;
                } else {
                    self.ran.insert(index);
                    self.summary.ran += 1;
                }
                let note = self.note(index, &record, is_taken_over);
                self.sinks.event(&RunEvent::Finished {
                    label: cell.label.clone(),
                    key: running.key,
                    seconds: record.circumstances.wall_seconds,
                    bytes: record.outputs.values().map(|output| output.size).sum(),
                    note,
                });
                if before.is_some_and(|(_, before)| before != record.output_digests()) {
                    let reconsidered = self.schedule.reconsider_dependents(index);
                    self.summary.cached -= reconsidered.iter().filter(|cell| !self.ran.contains(cell)).count();
                    self.withdraw_those_that_cannot_go();
                }
                match self.waits_for_made_files(index, &running.place, &record) {
                    Ok(true) => return,
                    Ok(false) => self.schedule.done(index, record),
                    Err(error) => self.fail(index, Some(running.key), Fault::of(error), true),
                }
            }
            None => {
                let fault = self.fault(&end, &mut running);
                if self.was_stopped(&fault) {
                    self.fail(index, Some(running.key), fault, false);
                    self.release_waiting(&running.key);
                } else {
                    self.to_remake.extend(before.map(|before| (index, before)));
                    if self.lost_an_input(index, &running, &fault).unwrap_or(false) {
                        return;
                    }
                    self.attempt_failed(index, running.key, running.began.is_some(), fault);
                }
                return;
            }
        }
        self.release_waiting(&running.key);
    }

    /// Whether it ended because this run was stopped: asked to, it did; it was killed because it did not.
    pub(super) fn was_stopped(&self, fault: &Fault) -> bool {
        match fault.kind {
            FailedKind::Cancelled => self.stopping > 0,
            FailedKind::Killed | FailedKind::Crash => self.stopping > 1,
            _ => false,
        }
    }

    /// Why an attempt failed: as it told itself, else by how its process ended.
    pub(super) fn fault(&self, end: &End, running: &mut Running) -> Fault {
        if let Some((kind, reason, hint)) = running.failure.take() {
            return Fault { kind, reason, hint };
        }
        let status = match end {
            End::Process(status) => status,
            End::Job(Err(AttemptFailure { kind, reason, hint })) => {
                return Fault { kind: *kind, reason: reason.clone(), hint: hint.clone() };
            }
            End::Job(Ok(())) => {
                let reason = "its job recorded a result that is no longer there".to_owned();
                let hint = "is something else deleting from the store?".to_owned();
                return Fault { kind: FailedKind::System, reason, hint: Some(hint) };
            }
        };
        let out_of_memory = out_of_memory::kills() > running.out_of_memory_before;
        let told = out_of_memory::told_in(&self.folder(&running.key).log(), 0);
        let (kind, reason, hint) = describe_end(status, out_of_memory, told.as_deref());
        if kind == FailedKind::Cancelled && self.stopping > 0 {
            return Fault { kind, reason: Failure::cancelled().message, hint: None };
        }
        Fault { kind, reason, hint }
    }

    /// What stands in the store for a process that ended: what it recorded, or what it found. What the store says
    /// counts, not what the process said.
    pub(super) fn result(
        &mut self,
        index: usize,
        key: &Key,
        outputs: Option<&BTreeMap<String, Digest>>,
    ) -> Result<Option<ActionRecord>, Error> {
        let label = &self.plan.cells[index].label;
        let Some(outputs) = outputs else {
            let preferred = self.locked.get(label).filter(|line| line.key == *key).map(|line| &line.outputs);
            let found = match self.store.available(key, preferred, self.files)? {
                // Its files are with the remote.
                None if self.is_away(index) => self.store.recorded(key, preferred)?,
                found => found,
            };
            return match found {
                Some(found) if brought::is_open(&found.components) => last_by_sum(self.store, key),
                found => Ok(found),
            };
        };
        let candidates = self.store.candidates(key, Some(outputs))?;
        if candidates.first().is_some_and(|first| brought::is_open(&first.components)) {
            // Under one URL there may be many, one after the other.
            return candidates.into_iter().next().map_or(Ok(None), |made| by_sum(self.store, made));
        }
        // A file from outside that lies elsewhere now makes another record of the same result.
        let different: BTreeSet<_> = candidates.iter().map(ActionRecord::output_digests).collect();
        if different.len() > 1 {
            let message = format!(
                "{label}: {} different results are recorded for the same inputs, parameters and code; this run uses \
                 the one just made",
                different.len()
            );
            self.sinks.event(&RunEvent::Warning { message });
        }
        Ok(candidates.into_iter().next())
    }

    /// What is worth saying about how it ran. One that was forced to run again is a test of whether it makes the same.
    pub(super) fn note(&self, index: usize, record: &ActionRecord, already_recorded: bool) -> Option<String> {
        if already_recorded {
            return Some(format!("taken over: {}", record.origin()));
        }
        if let Some(before) = self.before_force.get(&index) {
            let differ: Vec<&str> = record
                .outputs
                .iter()
                .filter(|(name, output)| before.get(*name) != Some(&output.digest))
                .map(|(name, _)| name.as_str())
                .collect();
            return Some(match &differ[..] {
                [] => "the same bytes as before".to_owned(),
                _ => format!("not the same bytes as before: {}", differ.join(", ")),
            });
        }
        let label = &self.plan.cells[index].label;
        let same = self.locked.get(label).is_some_and(|line| {
            line.outputs.len() == record.outputs.len()
                && record.outputs.iter().all(|(name, output)| line.outputs.get(name) == Some(&output.digest))
        });
        same.then(|| "the same result as before".to_owned())
    }

    /// Cells with the key that was just made, or failed, look again.
    pub(super) fn release_waiting(&mut self, key: &Key) {
        for index in self.in_making.remove(key).unwrap_or_default() {
            if self.schedule.can_go(index) {
                self.schedule.ready.insert(index);
            }
        }
    }

    /// The cell did not finish; `key` is `None` if not even that could be told.
    pub(super) fn fail(&mut self, index: usize, key: Option<Key>, fault: Fault, is_failure: bool) {
        let Fault { kind, reason, hint } = fault;
        let label = self.plan.cells[index].label.clone();
        let log = key.map(|key| self.folder(&key).log()).filter(|log| log.is_file());
        // The failure of a check is nothing that others wait for.
        let is_checked = self.to_check.contains_key(&index);
        let before = if is_checked { BTreeSet::new() } else { self.schedule.skipped_behind(index) };
        let skipped = if is_checked { Vec::new() } else { self.schedule.failed(index) };
        if is_failure {
            self.summary.failed += 1;
            let log_tail = log.as_deref().map(|log| log_tail(log, &reason)).unwrap_or_default();
            let Tried { attempts, lost, time } = key.and_then(|key| self.tried.get(&key).copied()).unwrap_or_default();
            let (attempts, seconds) = (attempts + lost, time.as_secs_f64());
            let (failed, log_of) = (label.clone(), log.clone());
            self.failures.failed.insert(
                index,
                FailedCell { label: failed, kind, reason: reason.clone(), attempts, seconds, log: log_of },
            );
            let label = label.clone();
            self.sinks.event(&RunEvent::Failed { label, key, kind, reason, hint, log_tail, log, attempts, seconds });
        } else {
            self.summary.skipped += 1;
            self.sinks.event(&RunEvent::Warning { message: format!("{label} {reason}") });
        }
        for cell in before.iter().filter(|_| is_failure) {
            if let Some(skipped) = self.failures.skipped.get_mut(cell) {
                skipped.also.push(label.clone());
            }
        }
        for cell in skipped {
            self.summary.skipped += 1;
            let skipped =
                SkippedCell { label: self.plan.cells[cell].label.clone(), because: label.clone(), also: Vec::new() };
            let SkippedCell { label, because, .. } = skipped.clone();
            self.failures.skipped.insert(cell, skipped);
            self.sinks.event(&RunEvent::Skipped { label, because });
        }
        self.withdraw_those_that_cannot_go();
    }
}
