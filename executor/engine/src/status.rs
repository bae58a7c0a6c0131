//! What is known of every cell before anything runs: the same survey serves `status`, `why`, `--dry-run` and a run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cwm_contract::Label;

use crate::components::{Resolved, resolve};
use cwm_action::source_key;
use cwm_core::{Components, Error, Key};
use cwm_pipeline::plan::{Cell, Origin, Plan};
use cwm_project::accepted::Accepted;
use cwm_project::lock_file::LockFile;
use cwm_project::pins::Pins;
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, Store};

/// The result of looking up the key of a cell.
pub enum KeyStatus {
    /// Its result is recorded.
    Cached(Box<ActionRecord>),
    /// Its key has no result.
    Absent(Box<Resolved>),
    /// A cell that it depends on has no result yet, so its key is not known.
    KeyUnknown,
    /// It names a pipe, whose content is known only when a run reads it.
    PipeUnread(PathBuf),
    /// A file or secret that it depends on cannot be read.
    Unreadable(Error),
}

/// The state of every cell of a plan.
pub struct CacheStatus {
    /// By cell index.
    pub states: Vec<KeyStatus>,
    /// Cells whose results are those of older code, which was accepted.
    accepted: BTreeSet<usize>,
}

impl CacheStatus {
    /// Looks at every cell; reads records and digests of outside files, runs nothing, writes nothing but the digest
    /// cache of `files`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn query(plan: &Plan, store: &Store, files: &DigestCache, known: ProjectState<'_>) -> Result<Self, Error> {
        let mut cache_status = CacheStatus::empty(plan);
        let all: Vec<usize> = (0..plan.cells.len()).collect();
        cache_status.refresh(&all, plan, store, files, known)?;
        Ok(cache_status)
    }

    /// Returns true if a cell's result is one of older code, which was accepted.
    pub fn is_accepted(&self, index: usize) -> bool {
        self.accepted.contains(&index)
    }

    /// The result of a cell that is cached.
    pub fn record(&self, index: usize) -> Option<&ActionRecord> {
        match &self.states[index] {
            KeyStatus::Cached(record) => Some(record),
            _ => None,
        }
    }

    /// Where the result `record` of a cell comes from, in words.
    pub fn origin(&self, index: usize, record: &ActionRecord) -> String {
        origin(record, self.is_accepted(index))
    }

    /// Before anything was looked at.
    pub fn empty(plan: &Plan) -> Self {
        CacheStatus { states: plan.cells.iter().map(|_| KeyStatus::KeyUnknown).collect(), accepted: BTreeSet::new() }
    }

    /// Looks at those of `cells`, given in the plan's order and with all that they rest on, that have no result as far as is
    /// known; as [`CacheStatus::query`] does.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn refresh(
        &mut self,
        cells: &[usize],
        plan: &Plan,
        store: &Store,
        files: &DigestCache,
        known: ProjectState<'_>,
    ) -> Result<(), Error> {
        for &index in cells {
            let cell = &plan.cells[index];
            let is_cached = |index: usize| matches!(self.states[index], KeyStatus::Cached(_));
            if is_cached(index) || !sources(cell).all(is_cached) {
                continue;
            }
            let record = |index: usize| match &self.states[index] {
                KeyStatus::Cached(record) => record.as_ref(),
                _ => unreachable!("all sources are cached"),
            };
            self.states[index] = match resolve(cell, files, known.pins, record) {
                Err(error) => match plan.pipe_of(index) {
                    Some(path) => KeyStatus::PipeUnread(path),
                    None => KeyStatus::Unreadable(error),
                },
                Ok(resolved) => match find_result(store, files, &resolved.components, &cell.label, known)? {
                    Some(record) => {
                        if is_of_older_code(&record, &resolved.components) {
                            self.accepted.insert(index);
                        }
                        KeyStatus::Cached(Box::new(record))
                    }
                    None => KeyStatus::Absent(Box::new(resolved)),
                },
            };
        }
        Ok(())
    }
}

/// The files beside a pipeline: which results it stands for, what its URLs gave, which changes of code change nothing.
#[derive(Clone, Copy)]
pub struct ProjectState<'k> {
    /// The lock file.
    pub locked: &'k LockFile,
    /// `sources.lock`.
    pub pins: &'k Pins,
    /// `accepted.lock`.
    pub accepted: &'k Accepted,
}

/// Returns true if a result that was found for `components` is one of older code.
pub fn is_of_older_code(record: &ActionRecord, components: &Components) -> bool {
    record.components.code != components.code
}

/// Where a result comes from, in words.
pub fn origin(record: &ActionRecord, accepted: bool) -> String {
    let accepted = if accepted { ", of older code, accepted" } else { "" };
    format!("{}{accepted}", record.origin())
}

/// Describes a cell that names the pipe `path`.
pub fn describe_unread_pipe(path: &Path) -> String {
    format!("{} can be read only once: what it holds is known when `cwm run` has read it", path.display())
}

/// Indices of the cells that `cell` reads.
pub fn sources(cell: &Cell) -> impl Iterator<Item = usize> + '_ {
    cell.inputs.iter().flat_map(|input| &input.sources).filter_map(|source| match source.from {
        Origin::Cell { index, .. } => Some(index),
        Origin::File(_) => None,
    })
}

/// The recorded result of these components: the one in the lock file if it can be had, else the first that can, else the
/// first. With one result, whether its files are there is left to whoever reads them. Of what is known by its URL only,
/// it is what came last, as it is recorded under its sum. Where today's code has no result, it is one of older code of which
/// somebody said that the change changes nothing.
///
/// # Errors
/// The store cannot be read.
pub fn find_result(
    store: &Store,
    files: &DigestCache,
    components: &Components,
    label: &Label,
    known: ProjectState<'_>,
) -> Result<Option<ActionRecord>, Error> {
    if source_key::has_unpinned_url(components) {
        return latest_by_checksum(store, &components.key());
    }
    let found = preferred_result(store, files, components.key(), label, known.locked)?;
    if found.is_some() {
        return Ok(found);
    }
    for older in known.accepted.equivalent_keys(components) {
        let found = preferred_result(store, files, older.key(), label, known.locked)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The result of one key that is to be taken.
fn preferred_result(
    store: &Store,
    files: &DigestCache,
    key: Key,
    label: &Label,
    locked: &LockFile,
) -> Result<Option<ActionRecord>, Error> {
    let preferred = locked.get(label).filter(|line| line.key == key).map(|line| &line.outputs);
    let mut candidates = store.candidates(&key, preferred)?;
    if candidates.len() > 1 {
        for (index, record) in candidates.iter().enumerate() {
            if store.missing(record, files)?.is_empty() {
                return Ok(Some(candidates.swap_remove(index)));
            }
        }
    }
    Ok(candidates.into_iter().next())
}

/// Returns the last record, under its checksums, of what is known by its URL only.
///
/// # Errors
/// The store cannot be read.
pub fn latest_by_checksum(store: &Store, key: &Key) -> Result<Option<ActionRecord>, Error> {
    store.actions(key)?.pop().map_or(Ok(None), |last| by_checksum(store, last))
}

/// The record under its sums of what is recorded under its URLs; that of anything else is its own. Nothing if it is gone.
///
/// # Errors
/// The store cannot be read.
pub fn by_checksum(store: &Store, record: ActionRecord) -> Result<Option<ActionRecord>, Error> {
    if !source_key::has_unpinned_url(&record.components) {
        return Ok(Some(record));
    }
    let Some(components) = source_key::with_checksums(&record.components, &record.fetched) else { return Ok(None) };
    let settled = store.preferred_record(&components.key(), Some(&record.output_digests()))?;
    // What came from where is told by the record that was asked for by that.
    Ok(settled.map(|settled| ActionRecord { fetched: record.fetched, ..settled }))
}
