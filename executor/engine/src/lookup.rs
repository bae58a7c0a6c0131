//! Looks up a cell: its key, and the recorded result that a run would take. Runs, checks and predictions all look up here.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use cwm_contract::Label;

use crate::scheduler::CellSpec;
use cwm_action::{ActionFile, source_key};
use cwm_core::{Components, Key, OutputDigests, Result};
use cwm_pipeline::plan::{ArtifactOrigin, Cell, Plan};
use cwm_project::accepted::AcceptedChanges;
use cwm_project::lock_file::LockFile;
use cwm_project::pins::Pins;
use cwm_store::{ActionRecord, DigestCache, Store};

/// The record of every cell of a plan that is done, by index.
pub type CellRecords = [Option<Arc<ActionRecord>>];

/// The inputs of a run, which it does not change.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// The plan to carry out.
    pub plan: &'a Plan,
    /// The store of results.
    pub store: &'a Store,
    /// The digests of external files.
    pub digests: &'a DigestCache,
    /// The lock file.
    pub lock_file: &'a LockFile,
    /// `sources.lock`.
    pub pins: &'a Pins,
    /// `accepted.lock`.
    pub accepted_changes: &'a AcceptedChanges,
}

impl<'a> RunContext<'a> {
    /// Returns a cell of the plan.
    pub fn cell(&self, index: usize) -> &'a Cell {
        &self.plan.cells[index]
    }

    /// Returns these cells for the scheduler of a run on this machine, by index. An input comes before its readers.
    pub(crate) fn cell_specs(&self, cells: &[usize]) -> Vec<Option<CellSpec>> {
        let mut specs: Vec<Option<CellSpec>> = self.plan.cells.iter().map(|_| None).collect();
        let exported: HashSet<usize> = self.plan.exports.iter().map(|export| export.cell).collect();
        for &index in cells {
            let inputs: BTreeSet<usize> = sources(self.cell(index)).collect();
            specs[index] = Some(CellSpec {
                inputs: inputs.into_iter().collect(),
                is_exported: exported.contains(&index),
                retry: self.cell(index).settings.retry,
                ..CellSpec::default()
            });
        }
        specs
    }

    /// Returns the outputs of a cell that the lock file names, if they are of this key.
    pub fn locked_outputs(&self, index: usize, key: &Key) -> Option<&'a OutputDigests> {
        self.lock_file.get(&self.cell(index).label).filter(|line| line.key == *key).map(|line| &line.outputs)
    }

    /// Returns true if the lock file names another result of the key of `record`.
    pub fn differs_from_lock(&self, index: usize, record: &ActionRecord) -> bool {
        self.locked_outputs(index, &record.key).is_some_and(|locked| *locked != record.output_digests())
    }

    /// Returns the last result of `label` that the lock file names, if the store still has its record.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn previous_record(&self, label: &Label) -> Result<Option<ActionRecord>> {
        let Some(line) = self.lock_file.get(label) else { return Ok(None) };
        Ok(self.store.preferred_record(&line.key, Some(&line.outputs))?)
    }

    /// Returns the recorded result of a cell: the one in the lock file if it is available, else the first that is, else the first.
    /// The files of a single result are not looked at: its readers do that. Of an unpinned download it is the last one.
    /// If today's code has no result, it is one of older code whose change was accepted.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn find_result(&self, index: usize, action: &ActionFile) -> Result<Option<ActionRecord>> {
        if source_key::has_unpinned_url(&action.components) {
            return latest_by_checksum(self.store, &action.key);
        }
        for key in self.keys(action.key, &action.components) {
            let locked = self.locked_outputs(index, &key);
            let candidates = self.store.candidates(&key, locked)?;
            let available = if candidates.len() > 1 { self.store.available(&key, locked, self.digests)? } else { None };
            if let Some(found) = available.or(candidates.into_iter().next()) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the keys of results that count for `key`, that of these components: itself, then those of older code whose change
    /// was accepted.
    pub fn keys(&self, key: Key, components: &Components) -> impl Iterator<Item = Key> {
        [key].into_iter().chain(self.accepted_changes.equivalent_keys(components))
    }
}

/// Returns the indices of the cells that `cell` reads.
pub fn sources(cell: &Cell) -> impl Iterator<Item = usize> + '_ {
    cell.inputs.iter().flat_map(|input| &input.sources).filter_map(|source| match source.from {
        ArtifactOrigin::Cell { index, .. } => Some(index),
        ArtifactOrigin::File(_) => None,
    })
}

/// Returns the origins of what a cell reads, by the input's name and the artifact's label in its key.
pub fn input_origins(cell: &Cell) -> HashMap<(&str, String), &ArtifactOrigin> {
    let mut origins = HashMap::new();
    for input in &cell.inputs {
        for (ordinal, source) in input.sources.iter().enumerate() {
            origins.insert((input.name.as_str(), input.key_label(ordinal)), &source.from);
        }
    }
    origins
}

/// Describes the origin of a result.
pub fn origin(record: &ActionRecord, accepted: bool) -> String {
    let accepted = if accepted { ", of older code, accepted" } else { "" };
    format!("{}{accepted}", record.origin())
}

/// Returns the last record, under its checksums, of an unpinned download.
///
/// # Errors
/// The store cannot be read.
pub fn latest_by_checksum(store: &Store, key: &Key) -> Result<Option<ActionRecord>> {
    store.actions(key)?.pop().map_or(Ok(None), |last| by_checksum(store, last))
}

/// Returns the record under its checksums of an unpinned download, and any other record as it is. None if it is gone.
///
/// # Errors
/// The store cannot be read.
pub fn by_checksum(store: &Store, record: ActionRecord) -> Result<Option<ActionRecord>> {
    if !source_key::has_unpinned_url(&record.components) {
        return Ok(Some(record));
    }
    let Some(components) = source_key::with_checksums(&record.components, &record.fetched) else { return Ok(None) };
    let pinned = store.preferred_record(&components.key(), Some(&record.output_digests()))?;
    // The record by URL has the checksum of each URL.
    Ok(pinned.map(|pinned| ActionRecord { fetched: record.fetched, ..pinned }))
}
