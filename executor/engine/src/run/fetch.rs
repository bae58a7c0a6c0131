//! Results of others: before a cell is made, remotes are asked for it; the rest of the run goes on meanwhile. Each key is asked
//! for once, and so are the files of a result; what does not come is made.

use super::provide::Unfetched;
use super::{Engine, Message};
use crate::components::Resolved;
use crate::event::{Direction, EventSink, RunEvent};
use crate::fetch::{Tell, Tidings};
use cwm_action::brought;
use cwm_core::digest::Key;
use cwm_core::error::Error;
use cwm_store::ActionRecord;

impl Engine<'_> {
    /// Asks remotes for records of a cell that has none here, or not the one of the lock file; whether the cell waits for that.
    pub(super) fn asks_for_records(&mut self, index: usize, resolved: &Resolved, found: Option<&ActionRecord>) -> bool {
        let components = &resolved.components;
        let key = components.key();
        let line = self.locked.get(&self.plan.cells[index].label).filter(|line| line.key == key);
        let is_enough = found.is_some_and(|found| line.is_none_or(|line| line.outputs == found.output_digests()));
        if self.fetcher.is_none() || is_enough || brought::is_open(components) || !self.asked.insert(key) {
            return false;
        }
        let mut keys = vec![key];
        if found.is_none() {
            keys.extend(self.accepted.stand_ins(components).map(|older| older.key()));
        }
        self.wait_for_remote(index, key);
        if let Some(fetcher) = &self.fetcher {
            fetcher.records(index, keys, self.tell());
        }
        true
    }

    /// Asks remotes for the files of a result; whether the cell waits for that.
    pub(super) fn asks_for_files(&mut self, index: usize, record: &ActionRecord) -> Result<bool, Error> {
        if !self.may_ask_for_files(record) {
            return Ok(false);
        }
        let label = &self.plan.cells[index].label;
        let preferred = self.locked.get(label).filter(|line| line.key == record.key).map(|line| &line.outputs);
        let candidates = self.store.candidates(&record.key, preferred)?;
        self.asked_files.insert(record.key);
        self.wait_for_remote(index, record.key);
        if let Some(fetcher) = &self.fetcher {
            fetcher.files(index, candidates, self.tell());
        }
        Ok(true)
    }

    /// Asks remotes for the files of the lock file's result where those of another one are here; whether the cell waits for that.
    pub(super) fn asks_for_the_locked(&mut self, index: usize, found: Option<&ActionRecord>) -> Result<bool, Error> {
        let Some(found) = found else { return Ok(false) };
        let line = self.locked.get(&self.plan.cells[index].label).filter(|line| line.key == found.key);
        let Some(outputs) = line.map(|line| &line.outputs).filter(|outputs| **outputs != found.output_digests()) else {
            return Ok(false);
        };
        let locked = self.store.candidates(&found.key, Some(outputs))?.into_iter().next();
        match locked.filter(|locked| locked.output_digests() == *outputs) {
            Some(locked) => self.asks_for_files(index, &locked),
            None => Ok(false),
        }
    }

    /// Whether remotes can be asked for the files of a result, and were not yet.
    pub(super) fn may_ask_for_files(&self, record: &ActionRecord) -> bool {
        self.fetcher.is_some() && !self.asked_files.contains(&record.key)
    }

    pub(super) fn wait_for_remote(&mut self, index: usize, key: Key) {
        self.in_making.entry(key).or_default();
        self.fetching.insert(index, key);
    }

    pub(super) fn tell(&self) -> Tell {
        let messages = self.messages.clone();
        // A run that has ended listens no more.
        Box::new(move |tidings| drop(messages.send(Message::Remote(tidings))))
    }

    /// Takes what remotes told.
    pub(super) fn heard_of_remote(&mut self, tidings: Tidings) {
        match tidings {
            Tidings::Records { cell, faults } => {
                for message in faults {
                    if self.told_of_remotes.insert(message.clone()) {
                        self.sinks.event(&RunEvent::Warning { message });
                    }
                }
                self.look_again(cell);
            }
            Tidings::Begun { cell, direction, objects, bytes } => {
                let key = match direction {
                    Direction::Pull => self.fetching.get(&cell).copied(),
                    Direction::Push => self.provisions.key_of(cell),
                };
                if let Some(key) = key {
                    let label = self.plan.cells[cell].label.clone();
                    self.sinks.event(&RunEvent::Transferring { label, key, direction, objects, bytes });
                }
            }
            Tidings::Progress { cell, done, total } => {
                let label = self.plan.cells[cell].label.clone();
                let (total, unit) = (Some(total), "bytes".to_owned());
                self.sinks.event(&RunEvent::Progress { label, done, total, unit });
            }
            Tidings::Files { cell, objects, bytes, seconds, lacks, reached } => {
                self.unfetched.remove(&cell);
                if !lacks.is_empty() {
                    self.unfetched.insert(cell, Unfetched { reached, lacks: lacks.clone() });
                }
                if let Some(key) = self.fetching.get(&cell).copied() {
                    let (label, direction) = (self.plan.cells[cell].label.clone(), Direction::Pull);
                    let missing = lacks;
                    let end = RunEvent::Transferred { label, key, direction, objects, bytes, seconds, missing };
                    self.sinks.event(&end);
                }
                self.look_again(cell);
            }
            Tidings::Said(message) => {
                if self.told_of_remotes.insert(message.clone()) {
                    self.sinks.event(&RunEvent::Warning { message });
                }
            }
            Tidings::Provided { article, came } => self.provided(&article, came),
        }
    }

    fn look_again(&mut self, cell: usize) {
        let Some(key) = self.fetching.remove(&cell) else { return };
        self.release_waiting(&key);
        if self.schedule.can_go(cell) {
            self.schedule.ready.insert(cell);
        }
    }
}
