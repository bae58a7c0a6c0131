//! Doing cells anew beside what is recorded of them, to see whether the same bytes come out. The cells read what is recorded
//! of their sources, so none waits for another; nothing is recorded, and no cell stands otherwise after it than before.

use super::outcome::End;
use super::{Engine, Running};
use crate::engine::components::{Resolved, resolve};
use crate::engine::status::{find, sources};
use crate::error::Error;
use crate::events::{Reader, RunEvent};
use crate::store::{ActionRecord, Dropped, Missing};

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
            for source in sources(cell) {
                let Some(source_record) = self.schedule.record(source) else { continue };
                let missing = self.store.unusable(source_record, self.files)?;
                if !missing.is_empty() {
                    let is_kept = source_record.dropped != Some(Dropped::NotKept);
                    if self.whole && !is_kept {
                        return self.pass_over(index, record, source);
                    }
                    let is_elsewhere = source_record.dropped == Some(Dropped::NotPulled);
                    let label = &self.plan.cells[source].label;
                    if is_elsewhere {
                        self.failures.to_pull.insert(source);
                        return Err(Error::store(format!("files of {label}, which it reads, were not pulled"))
                            .hint(format!("`cwm pull '{label}'` fetches them from the remotes")));
                    }
                    self.failures.to_make.insert(source);
                    let words = Missing::in_words(&missing);
                    return Err(Error::store(format!("files of {label}, which it reads, {words}"))
                        .hint(format!("`cwm run '{label}'` makes them again")));
                }
            }
            self.to_check.insert(index, record.clone());
            self.for_room.insert(index, (resolved, Vec::new()));
        }
        self.schedule.done(index, record);
        Ok(())
    }

    /// Of a whole pipeline, what reads files that are not kept cannot be checked, and that is no failure.
    fn pass_over(&mut self, index: usize, record: ActionRecord, source: usize) -> Result<(), Error> {
        let (label, source) = (&self.plan.cells[index].label, &self.plan.cells[source].label);
        let message = format!(
            "{label} is not checked: files of {source}, which it reads, are not kept (`keep: false`); `cwm run '{source}'` \
             makes them again, then `cwm run --check '{label}'` does"
        );
        self.readers.read(&RunEvent::Warning { message });
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
        let (label, key) = (self.plan.cells[index].label.clone(), running.key);
        if let (Some(differences), true) = (running.checked.take(), end.is_success()) {
            let count = if differences.is_empty() { &mut self.summary.same } else { &mut self.summary.different };
            *count += 1;
            let seconds = self.tried.get(&key).map_or(0.0, |tried| tried.time.as_secs_f64());
            self.readers.read(&RunEvent::Checked { label, key, seconds, differences });
        } else if end.is_success() && running.failure.is_none() && self.was_overtaken(index) {
            // Another check of the same took the folder away, with what was to be done in it.
        } else {
            let fault = self.fault(end, &mut running);
            let was_stopped = self.was_stopped(&fault);
            self.fail(index, Some(key), fault, !was_stopped);
        }
        self.release_waiting(&key);
    }
}
