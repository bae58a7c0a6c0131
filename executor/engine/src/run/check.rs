//! Doing cells anew beside what is recorded of them, to see whether the same bytes come out. The cells read what is recorded
//! of their sources, so none waits for another; nothing is recorded, and no cell stands otherwise after it than before.

use std::collections::{BTreeMap, BTreeSet};

use super::outcome::End;
use super::{Engine, Running};
use crate::components::{Resolved, resolve};
use crate::event::{EventSink, RunEvent};
use crate::status::{find, sources};
use cwm_core::digest::Key;
use cwm_core::error::Error;
use cwm_store::{ActionRecord, Dropped, Missing};

/// How often a check is begun anew after others of the same.
const OVERTAKEN: u32 = 20;

impl Engine<'_> {
    /// What is recorded of a cell is taken as it is; if it is one of those to check, it also waits for room.
    pub(super) fn look_at_to_check(&mut self, index: usize, resolved: Resolved) -> Result<(), Error> {
        let cell = &self.plan.cells[index];
        let Some(record) = find(self.store, self.files, &resolved.components, &cell.label, self.known())? else {
            self.failures.to_make.insert(index);
            return Err(Error::store(
                "nothing is recorded of it as it stands now, so there is nothing to compare with",
            )
            .hint("`cwm run` makes it; `cwm why` says what changed since it was made"));
        };
        if self.targets.contains(&index) {
            let (mut to_pull, mut to_make) = (BTreeSet::new(), BTreeMap::new());
            for source in sources(cell) {
                let Some(source_record) = self.schedule.record(source) else { continue };
                let missing = self.store.unusable(source_record, self.files)?;
                match source_record.dropped {
                    _ if missing.is_empty() => {}
                    Some(Dropped::NotKept) if self.whole => return self.pass_over(index, record, source),
                    Some(Dropped::NotPulled) => drop(to_pull.insert(source)),
                    _ => drop(to_make.insert(source, Missing::in_words(&missing))),
                }
            }
            if !to_pull.is_empty() || !to_make.is_empty() {
                return Err(self.lacking(to_pull, to_make));
            }
            let key = resolved.components.key();
            let is_same = |other: &ActionRecord| (other.key, &other.outputs) == (record.key, &record.outputs);
            let is_twin = self.in_making.contains_key(&key) && self.to_check.values().any(is_same);
            self.to_check.insert(index, record.clone());
            if is_twin {
                self.in_making.entry(key).or_default().push(index);
            } else {
                self.in_making.entry(key).or_default();
                self.for_room.insert(index, (resolved, Vec::new()));
            }
        }
        self.schedule.done(index, record);
        Ok(())
    }

    /// All that is missing of what a cell reads, with one command that gets it.
    fn lacking(&mut self, to_pull: BTreeSet<usize>, to_make: BTreeMap<usize, &str>) -> Error {
        let label = |cell: &usize| self.plan.cells[*cell].label.to_string();
        let pulled: Vec<String> = to_pull.iter().map(label).collect();
        let made: Vec<String> = to_make.keys().map(label).collect();
        let mut what = Vec::new();
        if !pulled.is_empty() {
            what.push(format!("files of {}, which it reads, were not pulled", in_words(&pulled)));
        }
        what.extend(to_make.iter().map(|(cell, words)| format!("files of {}, which it reads, {words}", label(cell))));
        let typed = |labels: &[String]| labels.iter().map(|label| format!("'{label}'")).collect::<Vec<_>>().join(" ");
        let hint = match (pulled.is_empty(), made.is_empty()) {
            (false, true) => format!("`cwm pull {}` fetches them from the remotes", typed(&pulled)),
            (true, _) => format!("`cwm run {}` makes them again", typed(&made)),
            _ => format!("`cwm pull {} && cwm run {}` fetches them, or makes them again", typed(&pulled), typed(&made)),
        };
        self.failures.to_pull.extend(to_pull);
        self.failures.to_make.extend(to_make.into_keys());
        Error::store(what.join("; ")).hint(hint)
    }

    /// Of a whole pipeline, what reads files that are not kept cannot be checked, and that is no failure.
    fn pass_over(&mut self, index: usize, record: ActionRecord, source: usize) -> Result<(), Error> {
        let (label, source) = (&self.plan.cells[index].label, &self.plan.cells[source].label);
        let message = format!(
            "{label} is not checked: files of {source}, which it reads, are not kept (`keep: false`); `cwm run '{source}'` \
             makes them again, then `cwm run --check '{label}'` does"
        );
        self.sinks.event(&RunEvent::Warning { message });
        self.summary.skipped += 1;
        self.schedule.done(index, record);
        Ok(())
    }

    /// Has a cell checked whose process had nothing to do; false if that came about too often.
    fn was_overtaken(&mut self, index: usize) -> bool {
        let times = self.overtaken.entry(index).or_default();
        *times += 1;
        let schedule = &self.schedule;
        let record =
            |source| schedule.record(source).unwrap_or_else(|| unreachable!("a checked cell's sources are done"));
        if *times > OVERTAKEN {
            return false;
        }
        let resolved = resolve(&self.plan.cells[index], self.files, self.pins, record);
        let is_resolved = resolved.is_ok();
        self.for_room.extend(resolved.ok().map(|resolved| (index, (resolved, Vec::new()))));
        is_resolved
    }

    /// The process, or the job, of a cell that is checked has ended.
    pub(super) fn check_ended(&mut self, index: usize, end: &End, mut running: Running) {
        let key = running.key;
        if let (Some(differences), true) = (running.checked.take(), end.is_success()) {
            let seconds = self.tried.get(&key).map_or(0.0, |tried| tried.time.as_secs_f64());
            for index in self.checked_by(index, &key) {
                let (label, differences) = (self.plan.cells[index].label.clone(), differences.clone());
                *(if differences.is_empty() { &mut self.summary.same } else { &mut self.summary.different }) += 1;
                self.sinks.event(&RunEvent::Checked { label, key, seconds, differences });
            }
        } else if end.is_success() && running.failure.is_none() && self.was_overtaken(index) {
            // Another check of the same took the folder away, with what was to be done in it.
        } else {
            let fault = self.fault(end, &mut running);
            let was_stopped = self.was_stopped(&fault);
            for index in self.checked_by(index, &key) {
                self.fail(index, Some(key), fault.clone(), !was_stopped);
            }
        }
    }

    /// A cell whose check has ended, or could not begin, and those that do the same and waited for it.
    pub(super) fn checked_by(&mut self, index: usize, key: &Key) -> Vec<usize> {
        let others = self.in_making.remove(key).unwrap_or_default();
        [index].into_iter().chain(others).collect()
    }

    /// How many cells were not checked when the run was stopped; these are then forgotten.
    pub(super) fn unbegun_checks(&mut self) -> usize {
        let waiting: usize = self.in_making.values().map(Vec::len).sum();
        std::mem::take(&mut self.for_room).len() + waiting
    }
}

/// `a`, `a and b`, `a, b and c`.
fn in_words(labels: &[String]) -> String {
    match labels {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => labels.concat(),
    }
}
