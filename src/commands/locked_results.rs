//! The results that a lock file names, and how those in the store differ from them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::hints::set_options;
use crate::workspace::Workspace;
use cwm_action::ActionFile;
use cwm_action::source_key::has_unpinned_url;
use cwm_contract::Label;
use cwm_core::Error;
use cwm_engine::{CacheStatus, sources};
use cwm_pipeline::plan;
use cwm_project::lock_file::{LockFile, LockLine, SetValues};
use cwm_project::runs;
use cwm_store::{ActionRecord, Store};

/// A result that a lock file names.
pub struct LockedResult {
    /// The cell.
    pub label: Label,
    /// The line of the cell.
    pub line: LockLine,
    /// The record; `None` if the store has no such result.
    pub record: Option<ActionRecord>,
}

/// Returns the results that a lock file names.
///
/// # Errors
/// The store cannot be read.
pub fn locked_results(store: &Store, lock: &LockFile) -> Result<Vec<LockedResult>, Error> {
    let mut results = Vec::new();
    for (label, line) in lock.cells() {
        let label: Label = label.parse().map_err(Error::usage)?;
        let record = store.candidates(&line.key, Some(&line.outputs))?.into_iter().next();
        let record = record.filter(|record| record.output_digests() == line.outputs);
        results.push(LockedResult { label, line: line.clone(), record });
    }
    Ok(results)
}

/// Returns the records of the results that a lock file names, under the labels that it gives them.
///
/// # Errors
/// The store cannot be read.
pub fn locked_records(store: &Store, lock: &LockFile) -> Result<Vec<ActionRecord>, Error> {
    let results = locked_results(store, lock)?.into_iter();
    Ok(results.filter_map(|LockedResult { label, record, .. }| Some(ActionRecord { label, ..record? })).collect())
}

/// Reads the lock file of the run with these values of `--set`; without any, the pipeline's, which need not exist.
///
/// # Errors
/// The run is not recorded, or its lock file cannot be read.
pub fn lock_of_run(pipeline: &Path, sets: &SetValues) -> Result<LockFile, Error> {
    let lock = LockFile::read(&runs::lock_path(pipeline, sets))?;
    if sets.is_empty() || lock.exists() {
        return Ok(lock);
    }
    // A variable that the pipeline does not have has an error of its own.
    plan::load(pipeline, &Vec::from_iter(sets.clone()), &crate::registry::built_in())?;
    let problem = format!("no run with `{}` is recorded", set_options(sets).trim_start());
    Err(Error::usage(problem).hint("`cwm runs` lists those that are"))
}

impl Workspace {
    /// Returns the result that the lock file names for a cell, if its record is in the store.
    pub(super) fn locked_record(&self, label: &Label) -> Result<Option<ActionRecord>, Error> {
        let Some(line) = self.lock_file.get(label) else { return Ok(None) };
        let record = self.store.preferred_record(&line.key, Some(&line.outputs))?;
        Ok(record.filter(|record| record.output_digests() == line.outputs))
    }

    /// Returns those of `cells` whose result in the lock file is still the right one: their key is that of the lock file if all
    /// that they depend on has the lock file's results, as far as that is known. `cells` are in the plan's order and include their
    /// ancestors.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn locked_cells(&self, cache_status: &CacheStatus, cells: &[usize]) -> Result<BTreeSet<usize>, Error> {
        let mut locked_cells = BTreeSet::new();
        let mut results: BTreeMap<usize, ActionRecord> = BTreeMap::new();
        for &index in cells {
            let cell = &self.plan.cells[index];
            let mut result = cache_status.record(index).cloned();
            if let Some(line) = self.lock_file.get(&cell.label) {
                let is_locked = match self.context().resolve(index, |source| results.get(&source)) {
                    _ if sources(cell).any(|source| !results.contains_key(&source)) => {
                        sources(cell).all(|source| locked_cells.contains(&source))
                    }
                    Ok(ActionFile { key, components, .. }) => {
                        // The key of an unpinned download is known once it is downloaded.
                        has_unpinned_url(&components)
                            || self.context().keys(key, &components).any(|key| key == line.key)
                    }
                    Err(_) => true,
                };
                if is_locked {
                    locked_cells.insert(index);
                    for (output_name, output) in result.iter_mut().flat_map(|result| &mut result.outputs) {
                        output.digest = line.outputs.get(output_name).copied().unwrap_or(output.digest);
                    }
                    result = self.locked_record(&cell.label)?.or(result);
                }
            }
            results.extend(result.map(|result| (index, result)));
        }
        Ok(locked_cells)
    }

    /// Returns a message about results of `cells` that the lock file names and that are not in the store, if there are remotes;
    /// `how` is how to get them. Nothing is requested of the remotes.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn results_elsewhere(&self, cells: &[usize], how: &str) -> Result<Option<String>, Error> {
        let mut absent = Vec::new();
        for &index in cells.iter().filter(|_| !self.config.remotes.is_empty()) {
            if let Some(line) = self.lock_file.get(&self.plan.cells[index].label)
                && self.store.actions(&line.key)?.is_empty()
            {
                absent.push(index);
            }
        }
        if absent.is_empty() {
            return Ok(None);
        }
        let cache_status = self.cache_status()?;
        let locked_cells = self.locked_cells(&cache_status, cells)?;
        absent.retain(|index| locked_cells.contains(index));
        let lock = self.lock_file.path().file_name().unwrap_or_default().to_string_lossy();
        let (results, them) = match absent.len() {
            0 => return Ok(None),
            1 => (format!("1 result that {lock} names is"), "it"),
            count => (format!("{count} results that {lock} names are"), "them"),
        };
        let names: Vec<&str> = self.config.remotes.iter().map(|remote| remote.name.as_str()).collect();
        let remotes = if names.len() == 1 { "the remote" } else { "the remotes" };
        Ok(Some(format!("{results} not here; {remotes} {} may have {them}: {how}", names.join(", "))))
    }
}
