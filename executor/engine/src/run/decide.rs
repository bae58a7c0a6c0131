//! What becomes of a cell whose sources are done: cached, or to be made, and why.

use std::collections::BTreeSet;

use super::Engine;
use crate::cause::Cause;
use crate::components::{Resolved, resolve};
use crate::event::{EventSink, RunEvent};
use crate::reasons::why_now;
use crate::status::{find, is_of_older_code, origin, sources};
use cwm_core::digest::Key;
use cwm_core::error::Error;
use cwm_store::{ActionRecord, Missing};

/// A cell that was made so many times in one run is not made again for files of it that are gone, unless others lost them
/// while they ran.
const MOST_TIMES: u32 = 2;

impl Engine<'_> {
    pub(super) fn look_at(&mut self, index: usize) -> Result<(), Error> {
        if self.takes_awaited(index)? {
            return Ok(());
        }
        let cell = &self.plan.cells[index];
        let schedule = &self.schedule;
        let resolved = resolve(cell, self.files, self.pins, |source| {
            schedule.record(source).unwrap_or_else(|| unreachable!("a ready cell's sources are done"))
        })?;
        let key = resolved.components.key();
        if self.check {
            return self.look_at_to_check(index, resolved);
        }
        if let Some(waiting) = self.in_making.get_mut(&key) {
            waiting.push(index);
            return Ok(());
        }
        let mut causes = Vec::new();
        let made = self.made.get(&key).is_some_and(|made| made.stands);
        if self.force.contains(&index) && !made && !self.to_remake.contains_key(&index) {
            causes.push(Cause::Forced);
            let before = find(self.store, self.files, &resolved.components, &cell.label, self.known())?;
            if before.is_none() {
                // It would have run anyway.
                causes.extend(self.why_now(index, &resolved)?);
            }
            let locked = || self.locked.get(&cell.label).map(|line| line.outputs.clone());
            // What stood before this run, also where its sources came out differently since.
            if let Some(before) = before.map(|record| record.output_digests()).or_else(locked) {
                self.before_force.entry(index).or_insert(before);
            }
        } else if let (Some((cause, _)), false) = (self.to_remake.get(&index), made) {
            causes.push(cause.clone());
        } else {
            let found = find(self.store, self.files, &resolved.components, &cell.label, self.known())?;
            if self.asks_for_records(index, &resolved, found.as_ref())
                || self.asks_for_the_locked(index, found.as_ref())?
            {
                return Ok(());
            }
            match found {
                Some(record) => {
                    let missing = self.missing_files(index, &record)?;
                    if missing.is_empty() {
                        let accepted = is_of_older_code(&record, &resolved.components);
                        self.cached(index, record, accepted);
                        return Ok(());
                    }
                    if self.asks_for_files(index, &record)? {
                        return Ok(());
                    }
                    self.must_be_reached(index)?;
                    let cause = self.why_lacking(index, &record, &missing)?;
                    if self.to_fetch.contains(&index) {
                        self.to_remake.insert(index, (cause.clone(), record.output_digests()));
                    }
                    causes.push(cause);
                }
                None => causes = self.why_now(index, &resolved)?,
            }
        }
        if let Some(fault) = self.failed_already(index, &key) {
            self.fail(index, Some(key), fault, true);
            return Ok(());
        }
        // What a job elsewhere reads need not be here.
        if !self.is_away(index) && self.remake_missing_sources(index)? {
            return Ok(());
        }
        self.in_making.insert(key, Vec::new());
        self.for_room.insert(index, (resolved, causes));
        Ok(())
    }

    /// Why a cell that has no result runs.
    fn why_now(&self, index: usize, resolved: &Resolved) -> Result<Vec<Cause>, Error> {
        let record = |source| self.schedule.record(source);
        why_now(self.plan, index, resolved, self.store, self.known(), &record)
    }

    /// What of a result cannot be read that somebody will ask for. Whoever reads a cell checks its files when it needs
    /// them; those of the last ones, of what is exported and of what is to be fetched are checked here.
    fn missing_files(&mut self, index: usize, record: &ActionRecord) -> Result<Vec<Missing>, Error> {
        let is_exported = || self.plan.exports.iter().any(|export| export.cell == index);
        let is_wanted = !self.schedule.is_read(index) || self.to_fetch.contains(&index) || is_exported();
        if is_wanted { self.unusable(index, record) } else { Ok(Vec::new()) }
    }

    pub(super) fn cached(&mut self, index: usize, record: ActionRecord, accepted: bool) {
        let key = record.key;
        let label = self.plan.cells[index].label.clone();
        self.summary.cached += 1;
        if self.locked.get(&label).is_some_and(|line| line.key == key && line.outputs != record.output_digests()) {
            let pull = match self.has_remotes && self.fetcher.is_none() {
                true => {
                    "; `cwm run --pull`, before that, asks the remotes for the lock file's (git has the lock file as it was)"
                }
                false => "",
            };
            let message = format!(
                "{label}: the store has another result than the lock file; the store's is used, and the lock file names it from \
                 now on{pull}"
            );
            self.sinks.event(&RunEvent::Warning { message });
        }
        self.sinks.event(&RunEvent::Cached { label, key, origin: origin(&record, accepted) });
        self.schedule.done(index, record);
    }

    /// What of a result cannot be read; what was changed since it was stored is set aside, and told.
    pub(super) fn unusable(&mut self, index: usize, record: &ActionRecord) -> Result<Vec<Missing>, Error> {
        let mut missing = self.store.unusable(record, self.files)?;
        for one in &mut missing {
            let Some(damage) = &one.damage else {
                one.damage = self.set_aside.get(&one.digest).cloned();
                continue;
            };
            if let Some(finding) = self.store.set_damage_aside(damage)? {
                let message = format!("{}: {finding}", self.plan.cells[index].label);
                self.sinks.event(&RunEvent::Warning { message });
            }
            self.set_aside.insert(one.digest, damage.clone());
        }
        Ok(missing)
    }

    /// Why a cell is made again that lacks these files: what was said of it first in this run.
    fn why_lacking(&mut self, index: usize, record: &ActionRecord, missing: &[Missing]) -> Result<Cause, Error> {
        if let Some(cause) = self.lacked.get(&(index, record.key)) {
            return Ok(cause.clone());
        }
        let cause = Cause::of_missing(self.store, record, missing)?;
        if matches!(cause, Cause::NotPulled { .. })
            && self.fetcher.is_none()
            && !std::mem::replace(&mut self.told_of_pull, true)
        {
            let message = "files that remotes have are made again here; `cwm run --pull` fetches such in place of that"
                .to_owned();
            self.sinks.event(&RunEvent::Warning { message });
        }
        self.lacked.insert((index, record.key), cause.clone());
        Ok(cause)
    }

    /// Before `index` runs, its inputs must be there. A source whose files are gone is made again first; returns whether
    /// `index` has to wait for that.
    pub(super) fn remake_missing_sources(&mut self, index: usize) -> Result<bool, Error> {
        let mut waits = false;
        let unique: BTreeSet<usize> = sources(&self.plan.cells[index]).collect();
        for source in unique {
            let Some(record) = self.schedule.record(source).cloned() else { continue };
            let missing = self.unusable(source, &record)?;
            if missing.is_empty() {
                continue;
            }
            if self.ran.contains(&source) && self.is_away(source) {
                self.reopen(source);
                self.fetch_made(source, record);
                waits = true;
                continue;
            }
            if let Some(made) = self.made.get(&record.key).filter(|made| made.times >= MOST_TIMES + made.lost_by) {
                return Err(Error::store(format!(
                    "files of its input from {} are gone from the store, or were changed there, although it was made \
                     {} times in this run",
                    self.plan.cells[source].label, made.times
                ))
                .hint("does another stage write into the store, or does somebody delete from it?"));
            }
            match self.ran.remove(&source) {
                true => self.summary.ran -= 1,
                false => self.summary.cached = self.summary.cached.saturating_sub(1),
            }
            if self.may_ask_for_files(&record) {
                self.to_fetch.insert(source);
                self.reopen(source);
                waits = true;
                continue;
            }
            let cause = self.why_lacking(source, &record, &missing)?;
            self.to_remake.insert(source, (cause, record.output_digests()));
            if let Some(made) = self.made.get_mut(&record.key) {
                made.stands = false;
                self.tried.remove(&record.key);
            }
            self.reopen(source);
            waits = true;
        }
        if waits {
            self.withdraw_those_that_cannot_go();
        }
        Ok(waits)
    }

    /// Cells that wait for room while a source of theirs was reopened are looked at again when it is done.
    pub(super) fn withdraw_those_that_cannot_go(&mut self) {
        if self.check {
            return;
        }
        let schedule = &self.schedule;
        let withdrawn = self.for_room.extract_if(.., |index, _| !schedule.can_go(*index));
        let mut keys: Vec<Key> = withdrawn.map(|(_, (resolved, _))| resolved.components.key()).collect();
        if let Some(jobs) = &mut self.jobs {
            for (index, queued) in jobs.queued.extract_if(.., |index, _| !schedule.can_go(*index)) {
                jobs.executor.withdraw(index);
                keys.push(queued.key);
            }
        }
        for key in keys {
            self.release_waiting(&key);
        }
    }
}
