//! What a cell reads may go from the store, or be changed there, while it runs: then its failure says nothing of itself, what it
//! reads is made again, and it is tried once more.

use std::collections::BTreeSet;

use super::attempts::Fault;
use super::{Engine, Place, Running};
use crate::event::{EventSink, RunEvent};
use crate::status::sources;
use cwm_action::FailedKind;
use cwm_core::error::Error;

impl Engine<'_> {
    /// A cell that was done is made, or fetched, again.
    pub(super) fn reopen(&mut self, index: usize) {
        *self.reopened.entry(index).or_default() += 1;
        self.schedule.reopen(index);
    }

    /// How often what a cell reads was reopened in this run.
    pub(super) fn reopened_of(&self, index: usize) -> u32 {
        let unique: BTreeSet<usize> = sources(&self.plan.cells[index]).collect();
        unique.iter().filter_map(|source| self.reopened.get(source)).sum()
    }

    /// Whether a cell that failed lacks an input which was there when it was looked at: then that was no attempt, and it waits
    /// until the input was made again. Once for each cell: what it reads may be spoiled by itself, or whenever it runs.
    pub(super) fn lost_an_input(&mut self, index: usize, running: &Running, fault: &Fault) -> Result<bool, Error> {
        let may_come_of_it = match fault.kind {
            FailedKind::System | FailedKind::Input | FailedKind::Output => true,
            FailedKind::Command | FailedKind::Panic | FailedKind::Crash => true,
            FailedKind::Cancelled | FailedKind::Internal | FailedKind::Killed => false,
            FailedKind::OutOfMemory | FailedKind::MemoryLimit | FailedKind::TimeLimit => false,
        };
        if !may_come_of_it || self.begins_nothing() || !matches!(running.place, Place::Child { .. }) {
            return Ok(false);
        }
        let lost = self.lost_by(index, running.reopened_before)?;
        if lost.is_empty() {
            return Ok(false);
        }
        if fault.kind != FailedKind::System {
            if !self.once_more.insert(index) {
                return Ok(false);
            }
            for key in lost.iter().filter_map(|source| self.schedule.record(*source)).map(|record| record.key) {
                self.made.entry(key).or_default().lost_by += 1;
            }
            let labels: Vec<String> = lost.iter().map(|source| self.plan.cells[*source].label.to_string()).collect();
            let message = format!(
                "{}: {}; what it reads of {} went from the store, or was changed there, while it ran: that is made again, \
                 and it is tried once more",
                self.plan.cells[index].label,
                fault.reason,
                labels.join(", ")
            );
            self.sinks.event(&RunEvent::Warning { message });
        }
        if let Some(tried) = self.tried.get_mut(&running.key) {
            let began = u32::from(running.began.is_some());
            tried.attempts = tried.attempts.saturating_sub(began);
            tried.lost += if fault.kind == FailedKind::System { 0 } else { began };
        }
        self.schedule.wait_again(index);
        self.release_waiting(&running.key);
        Ok(true)
    }

    /// What a cell read that is not there any more as it was, or was made again since.
    fn lost_by(&mut self, index: usize, reopened_before: u32) -> Result<Vec<usize>, Error> {
        let unique: BTreeSet<usize> = sources(&self.plan.cells[index]).collect();
        let again = self.reopened_of(index) > reopened_before;
        let mut lost = Vec::new();
        for source in unique {
            let is_lost = match self.schedule.record(source).cloned() {
                Some(record) => {
                    again && self.reopened.contains_key(&source) || !self.unusable(source, &record)?.is_empty()
                }
                None => true,
            };
            lost.extend(is_lost.then_some(source));
        }
        Ok(lost)
    }

    /// Those that are tried once more are so one after the other: one of them may be what spoils it for the others.
    pub(super) fn has_to_go_alone(&self, index: usize) -> bool {
        self.once_more.contains(&index) && self.running.keys().any(|other| self.once_more.contains(other))
    }
}
