//! Decides on a cell whose inputs are done: it has a result, remotes may have it, or it has to be built, and for which causes.
//! `predict.rs` predicts these decisions; `tests/suite/dry_run_predictions.rs` compares the two.

use std::sync::Arc;

use super::{Engine, Work};
use crate::action::needs_of;
use crate::cause::Cause;
use crate::event::{EventSink, RunEvent};
use crate::find_causes::rerun_causes;
use crate::lookup::origin;
use crate::retry;
use crate::scheduler::Decision;
use cwm_action::{ActionFailure, ActionFile, source_key};
use cwm_core::{Error, Key, Result, list_some};
use cwm_store::ActionRecord;

impl Engine<'_> {
    /// Decides on a cell. An error is its failure.
    pub(super) fn decide(&mut self, index: usize) -> Decision {
        self.work.insert(index, Work::default());
        let decision = if self.options.check { self.decide_check(index) } else { self.decide_run(index) };
        for finding in self.context.store.take_damaged_records() {
            self.sinks.warn(format!("{}: {finding}", self.label(index)));
        }
        decision.unwrap_or_else(|error| {
            self.work_of(index).failure = Some(error.into());
            Decision::Failed
        })
    }

    fn decide_run(&mut self, index: usize) -> Result<Decision> {
        let context = self.context;
        let action = context.resolve(index, |source| self.records[source].as_deref())?;
        let key = action.key;
        if self.scheduler.is_in_flight(&key) {
            return Ok(Decision::SharesKey(key));
        }
        let is_built = self.scheduler.is_built(&key);
        if let (Some(cause), false) = (self.lost_files.to_rebuild.get(&index).cloned(), is_built) {
            return self.build(index, action, vec![cause]);
        }
        let is_own = is_built && self.scheduler.was_built(index);
        let found = match self.records[index].clone().filter(|record| is_own && record.key == key) {
            Some(built) => Some(built),
            None => context.find_result(index, &action)?.map(Arc::new),
        };
        let is_forced = self.options.force.contains(&index) && !is_built;
        if !is_own && !is_forced && self.may_fetch_records(index, &action, found.as_deref()) {
            let keys = if found.is_some() { vec![key] } else { context.keys(key, &action.components).collect() };
            self.transfers.fetch_records(index, keys);
            return Ok(Decision::Fetch(key));
        }
        let record = match found {
            Some(record) if !is_forced => record,
            found => {
                let mut causes: Vec<Cause> = is_forced.then_some(Cause::Forced).into_iter().collect();
                // A forced cell without a result would have run anyway.
                if found.is_none() {
                    let record = |source: usize| self.records[source].as_deref();
                    causes.extend(rerun_causes(context, index, &action.components, Some(&key), &record)?);
                }
                return self.build(index, action, causes);
            }
        };
        if self.may_fetch_locked(index, &record)? {
            return self.request_files(index, &record.key);
        }
        // A reader checks the files of all other cells when it needs them.
        let is_wanted = self.scheduler.has_final_output(index) || self.lost_files.wanted.contains(&index);
        let missing = if is_wanted { self.missing_files(index, &record)? } else { Vec::new() };
        if missing.is_empty() {
            let is_accepted = record.components.code != action.components.code;
            self.hit(index, record, is_accepted, is_own);
            return Ok(Decision::Hit);
        }
        if self.may_fetch_files(&record.key) {
            return self.request_files(index, &record.key);
        }
        self.require_remotes_answered(index, is_own)?;
        let cause = self.rebuild(index, &record, &missing)?;
        self.records[index] = Some(record);
        self.build(index, action, vec![cause])
    }

    /// Has a cell built, after its lost inputs.
    pub(super) fn build(&mut self, index: usize, mut action: ActionFile, causes: Vec<Cause>) -> Result<Decision> {
        let key = action.key;
        self.work_of(index).key = Some(key);
        if let Some(failure) = self.failure_of_same_key(index, &key) {
            self.work_of(index).failure = Some(failure);
            return Ok(Decision::Failed);
        }
        // A job without the shared store does not read the files that are here.
        let lost_inputs = if self.executors.is_remote(index) { Vec::new() } else { self.lost_inputs(index)? };
        if lost_inputs.is_empty() {
            action.cause = causes.iter().map(Cause::to_string).collect();
            self.work_of(index).action = Some(action);
        }
        Ok(Decision::Miss { key, lost_inputs })
    }

    /// Takes this result for a cell. One that was built in this run is not reported again.
    fn hit(&mut self, index: usize, record: Arc<ActionRecord>, is_accepted: bool, is_own: bool) {
        if !is_own {
            let label = self.label(index);
            if self.context.differs_from_lock(index, &record) {
                let pull = match self.options.has_remotes && !self.transfers.can_fetch() {
                    true => "; to use the lock file's result, restore the lock file from git and run `cwm run --pull`",
                    false => "",
                };
                self.sinks.warn(format!(
                    "{label}: the store has another result than the lock file; the store's is used, and the lock file names it \
                     from now on{pull}"
                ));
            }
            self.sinks.event(&RunEvent::Cached { label, key: record.key, origin: origin(&record, is_accepted) });
        }
        self.records[index] = Some(record);
    }

    /// Returns true if records of a cell are fetched: it has none here, or not the one of the lock file.
    fn may_fetch_records(&self, index: usize, action: &ActionFile, found: Option<&ActionRecord>) -> bool {
        let key = action.key;
        let locked = self.context.locked_outputs(index, &key);
        let is_enough = found.is_some_and(|found| locked.is_none_or(|locked| *locked == found.output_digests()));
        let was_requested = self.transfers.records_requested.contains(&key);
        self.transfers.can_fetch() && !is_enough && !was_requested && !source_key::has_unpinned_url(&action.components)
    }

    /// Returns true if the files of a result can be fetched, and were not requested yet.
    fn may_fetch_files(&self, key: &Key) -> bool {
        self.transfers.can_fetch() && !self.transfers.files_requested.contains(key)
    }

    /// Returns true if the lock file names another result than `found`, which is recorded and whose files can be fetched.
    fn may_fetch_locked(&self, index: usize, found: &ActionRecord) -> Result<bool> {
        if !self.context.differs_from_lock(index, found) || !self.may_fetch_files(&found.key) {
            return Ok(false);
        }
        let preferred =
            self.context.store.preferred_record(&found.key, self.context.locked_outputs(index, &found.key))?;
        Ok(preferred.is_some_and(|preferred| !self.context.differs_from_lock(index, &preferred)))
    }

    fn request_files(&mut self, index: usize, key: &Key) -> Result<Decision> {
        let candidates = self.context.store.candidates(key, self.context.locked_outputs(index, key))?;
        self.transfers.fetch_files(index, self.label(index), *key, candidates);
        Ok(Decision::Fetch(*key))
    }

    /// Fails if the files of a result that a job made could not be fetched, unless all remotes answered and the job is of an
    /// earlier run: else the job would run a second time.
    fn require_remotes_answered(&self, index: usize, is_own: bool) -> Result<()> {
        let failure = self.transfers.failures.get(&index).filter(|failure| is_own || !failure.all_remotes_answered);
        let Some(failure) = failure.filter(|_| self.executors.is_remote(index)) else { return Ok(()) };
        let missing = list_some(&failure.missing, 1);
        let message = format!("its result is on a remote, and files of it could not be fetched: {missing}");
        Err(Error::system(message).hint(
            "`cwm run` fetches them when it can be reached; `cwm run --force` of the stage computes and uploads them \
             again",
        ))
    }

    /// Returns the failure of another cell with the same key and limits, unless this one may be attempted more often.
    fn failure_of_same_key(&self, index: usize, key: &Key) -> Option<ActionFailure> {
        let known = self.scheduler.key(key)?;
        let other = known.failed.filter(|other| *other != index)?;
        let failure = self.work.get(&other)?.failure.as_ref()?;
        let cells = &self.context.plan.cells;
        let (one, two) = (cells[index].settings.retry, cells[other].settings.retry);
        let needs = |index: usize| needs_of(&cells[index], self.options.device);
        let has_same_limits = (one.time, one.memory) == (two.time, two.memory) && needs(index) == needs(other);
        let is_transient = retry::is_transient(failure.kind, &self.context.store.work_folder(key));
        let is_tried_again = is_transient && retry::max_attempts(one) > known.attempts;
        let reason = format!("does the same as {}, which failed: {}", cells[other].label, failure.message);
        (has_same_limits && !is_tried_again).then(|| ActionFailure { message: reason, ..failure.clone() })
    }

    /// Returns the inputs of which files are lost. They are fetched or built again before the cell is, unless this run has built
    /// them.
    fn lost_inputs(&mut self, index: usize) -> Result<Vec<usize>> {
        let mut lost = Vec::new();
        for source in self.scheduler.spec(index).inputs.clone() {
            let Some(record) = self.records[source].clone() else { continue };
            if self.missing_files(source, &record)?.is_empty() {
                continue;
            }
            if self.scheduler.is_built(&record.key) && !self.may_fetch_files(&record.key) {
                let message = format!(
                    "files of its input from {} are gone from the store, or were changed there, although this run has just computed them",
                    self.label(source)
                );
                return Err(Error::store(message).hint(
                    "does another stage write into the store, or does somebody delete from it? `cwm run` computes them again",
                ));
            }
            self.lost_files.wanted.insert(source);
            lost.push(source);
        }
        Ok(lost)
    }
}
