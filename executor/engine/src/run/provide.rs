//! Cells that are done on nodes that do not read this store (`store = "remote"`): what they read is with a remote before they
//! are submitted, and of what they made the files come here only where they are wanted. The rest of the run goes on meanwhile.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::attempts::Fault;
use super::{Engine, Place};
use crate::cause::Cause;
use crate::event::{Direction, EventSink, RunEvent};
use crate::fetch::{Article, ArticleId, Provided};
use crate::schedule::Stand;
use crate::status::sources;
use cwm_action::FailedKind;
use cwm_core::digest::Key;
use cwm_core::error::Error;
use cwm_store::ActionRecord;

/// What jobs can read, as far as this run has seen to it.
#[derive(Default)]
pub(super) struct Provisions {
    /// What the remote has.
    there: HashSet<ArticleId>,
    /// What is being sent.
    under_way: HashMap<ArticleId, UnderWay>,
    /// How much of that each cell waits for.
    open: HashMap<usize, usize>,
}

struct UnderWay {
    /// The cell that made it; of a file from outside, one that reads it.
    cell: usize,
    key: Key,
    /// Cells that are submitted when it is there.
    waiting: BTreeSet<usize>,
}

impl Provisions {
    fn wait(&mut self, index: usize, id: &ArticleId) {
        if self.under_way.get_mut(id).is_some_and(|one| one.waiting.insert(index)) {
            *self.open.entry(index).or_default() += 1;
        }
    }

    /// What was being sent is not any more; who waited for it.
    fn end(&mut self, id: &ArticleId) -> Option<UnderWay> {
        let ended = self.under_way.remove(id)?;
        for index in &ended.waiting {
            let left = self.open.remove(index).unwrap_or(1) - 1;
            if left > 0 {
                self.open.insert(*index, left);
            }
        }
        Some(ended)
    }

    /// Under which key something is told that is being sent.
    pub fn key_of(&self, cell: usize) -> Option<Key> {
        self.under_way.values().find(|one| one.cell == cell).map(|one| one.key)
    }
}

/// Files that were asked for and did not come.
pub(super) struct Unfetched {
    /// Whether every remote answered.
    pub reached: bool,
    /// What did not come, and why, a line each.
    pub lacks: Vec<String>,
}

impl Unfetched {
    /// What is to be said of a cell whose result is elsewhere.
    fn error(&self) -> Error {
        let more = self.lacks.len().saturating_sub(1);
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        let first = self.lacks.first().map(String::as_str).unwrap_or_default();
        Error::system(format!("its result is with a remote, and files of it could not be fetched: {first}{more}")).hint(
            "`cwm run` fetches them when it can be reached; `cwm run --force` of the stage makes and sends them anew",
        )
    }
}

impl Engine<'_> {
    /// Whether a cell is done as a job that does not read this store.
    pub(super) fn is_away(&self, index: usize) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| !jobs.executor.shares_store()) && self.is_job(index)
    }

    /// Whether a cell that waits for room has to wait until what it reads is where its job can read it; what is not there is
    /// begun to be sent.
    pub(super) fn waits_for_provisions(&mut self, index: usize) -> bool {
        let Some((resolved, _)) = self.for_room.get(&index).filter(|_| self.provider.is_some()) else { return false };
        if self.provisions.open.contains_key(&index) {
            return true;
        }
        let key = resolved.components.key();
        let files = resolved.outside.values().chain(&resolved.files).chain(resolved.deps.values());
        let mut wanted: Vec<(usize, Key, Article)> = Vec::new();
        for file in files.filter(|file| !self.provisions.there.contains(&ArticleId::File(file.digest))) {
            wanted.push((index, key, Article::File(file.clone())));
        }
        let unique: BTreeSet<usize> = sources(&self.plan.cells[index]).collect();
        for source in unique {
            let Some(record) = self.schedule.record(source) else { continue };
            if !self.provisions.there.contains(&ArticleId::of(record)) {
                wanted.push((source, record.key, Article::Result(Box::new(record.clone()))));
            }
        }
        let waits = !wanted.is_empty();
        for (cell, key, article) in wanted {
            let id = article.id();
            if !self.provisions.under_way.contains_key(&id) {
                self.provisions.under_way.insert(id.clone(), UnderWay { cell, key, waiting: BTreeSet::new() });
                if let Some(provider) = &self.provider {
                    provider.provide(cell, article, self.tell());
                }
            }
            self.provisions.wait(index, &id);
        }
        waits
    }

    /// Takes in what came of providing something; what waited for nothing else is submitted with the next round.
    pub(super) fn provided(&mut self, id: &ArticleId, came: Provided) {
        let Some(UnderWay { cell, key, waiting }) = self.provisions.end(id) else { return };
        let label = self.plan.cells[cell].label.clone();
        let told = |objects, bytes, seconds, missing| {
            let direction = Direction::Push;
            RunEvent::Transferred { label: label.clone(), key, direction, objects, bytes, seconds, missing }
        };
        match came {
            Provided::There { objects, bytes, seconds } => {
                self.provisions.there.insert(id.clone());
                if objects > 0 {
                    self.sinks.event(&told(objects, bytes, seconds, Vec::new()));
                }
            }
            Provided::Nowhere => self.make_what_is_nowhere(cell, id, waiting),
            Provided::Failed(words) => {
                self.sinks.event(&told(0, 0, 0.0, vec![words.clone()]));
                let reason = format!("what its job is to read could not be sent to a remote: {words}");
                self.fail_waiting(waiting, &reason, "`cwm run` tries it again; nothing is made or sent twice");
            }
        }
    }

    /// Files of a result are neither here nor with the remote: whatever made it runs again.
    fn make_what_is_nowhere(&mut self, cell: usize, id: &ArticleId, waiting: BTreeSet<usize>) {
        // What was reopened meanwhile is about to be made, or is made otherwise now.
        let Some(record) = self.schedule.record(cell).filter(|record| ArticleId::of(record) == *id).cloned() else {
            return;
        };
        let label = &self.plan.cells[cell].label;
        if self.ran.contains(&cell) {
            let reason = format!("files of {label} are neither here nor with the remote although it has just run");
            return self.fail_waiting(
                waiting,
                &reason,
                "is something else deleting from the store, or from the remote?",
            );
        }
        let missing = self.store.missing(&record, self.files);
        let cause = match missing.and_then(|missing| Cause::of_missing(self.store, &record, &missing)) {
            Ok(cause) => cause,
            Err(error) => {
                let error = Error::from(error);
                let hint = error.hints.first().cloned().unwrap_or_default();
                return self.fail_waiting(waiting, &error.message, &hint);
            }
        };
        self.summary.cached = self.summary.cached.saturating_sub(1);
        self.to_remake.insert(cell, (cause, record.output_digests()));
        self.schedule.reopen(cell);
        self.withdraw_those_that_cannot_go();
    }

    fn fail_waiting(&mut self, waiting: BTreeSet<usize>, reason: &str, hint: &str) {
        for index in waiting {
            let Some((resolved, _)) = self.for_room.remove(&index) else { continue };
            let key = resolved.components.key();
            let hint = (!hint.is_empty()).then(|| hint.to_owned());
            let fault = Fault { kind: FailedKind::System, reason: reason.to_owned(), hint };
            self.could_not_start(index, key, &fault);
        }
    }

    /// What a job made is with the remote. Whether the cell has to wait until files of it are here.
    pub(super) fn waits_for_made_files(
        &mut self,
        index: usize,
        place: &Place,
        record: &ActionRecord,
    ) -> Result<bool, Error> {
        if !self.is_away(index) || !matches!(place, Place::Job { .. }) {
            return Ok(false);
        }
        self.provisions.there.insert(ArticleId::of(record));
        self.unfetched.remove(&index);
        let is_exported = self.plan.exports.iter().any(|export| export.cell == index);
        let is_wanted = is_exported || !self.schedule.is_read(index);
        if !is_wanted || self.store.unusable(record, self.files)?.is_empty() {
            return Ok(false);
        }
        self.fetch_made(index, record.clone());
        Ok(true)
    }

    /// Has the files come of what a job of this run made; the cell waits for them.
    pub(super) fn fetch_made(&mut self, index: usize, record: ActionRecord) {
        self.schedule.stands[index] = Stand::Waiting;
        self.schedule.ready.remove(&index);
        self.wait_for_remote(index, record.key);
        if let Some(fetcher) = &self.fetcher {
            fetcher.files(index, vec![record.clone()], self.tell());
        }
        self.awaited.insert(index, record);
    }

    /// What a job of this run made, if its files were waited for: whether they are here now.
    pub(super) fn takes_awaited(&mut self, index: usize) -> Result<bool, Error> {
        let Some(record) = self.awaited.remove(&index) else { return Ok(false) };
        match self.unfetched.remove(&index) {
            Some(unfetched) => Err(unfetched.error()),
            None => {
                self.schedule.done(index, record);
                Ok(true)
            }
        }
    }

    /// Files of a recorded result were asked for and did not come: where no remote could be asked, that is the cell's failure,
    /// for what made it would be made a second time.
    pub(super) fn must_be_reached(&self, index: usize) -> Result<(), Error> {
        match self.unfetched.get(&index) {
            Some(unfetched) if !unfetched.reached && self.is_away(index) => Err(unfetched.error()),
            _ => Ok(()),
        }
    }
}
