//! What is known of every cell before anything runs: the same survey serves `status`, `why`, `--dry-run` and a run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cwm_contract::Label;

use crate::brought;
use crate::digest::Key;
use crate::engine::cause::{Cause, differences};
use crate::engine::components::{Resolved, resolve};
use crate::error::Error;
use crate::key::Components;
use crate::lock_file::LockFile;
use crate::outside::Files;
use crate::pins::Pins;
use crate::plan::{Body, Cell, Origin, Plan};
use crate::store::{ActionRecord, Store};

/// What is known of a cell.
pub enum CellState {
    /// Its result is recorded.
    Cached(Box<ActionRecord>),
    /// Its key has no result.
    Absent(Box<Resolved>),
    /// A cell that it depends on has no result yet, so its key is not known.
    Open,
    /// It names a pipe, whose content is known only when a run reads it.
    Unread(PathBuf),
    /// A file or secret that it depends on cannot be read.
    Unreadable(Error),
}

/// The state of every cell of a plan.
pub struct Survey {
    /// By cell index.
    pub states: Vec<CellState>,
}

impl Survey {
    /// Looks at every cell; reads records and digests of outside files, runs nothing, writes nothing but the digest
    /// cache of `files`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn take(plan: &Plan, store: &Store, files: &Files, locked: &LockFile, pins: &Pins) -> Result<Self, Error> {
        let mut survey = Survey::of_nothing(plan);
        let all: Vec<usize> = (0..plan.cells.len()).collect();
        survey.again(&all, plan, store, files, locked, pins)?;
        Ok(survey)
    }

    /// Before anything was looked at.
    pub fn of_nothing(plan: &Plan) -> Self {
        Survey { states: plan.cells.iter().map(|_| CellState::Open).collect() }
    }

    /// Looks at those of `cells`, given in the plan's order and with all that they rest on, that have no result as far as is
    /// known; as [`Survey::take`] does.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn again(
        &mut self,
        cells: &[usize],
        plan: &Plan,
        store: &Store,
        files: &Files,
        locked: &LockFile,
        pins: &Pins,
    ) -> Result<(), Error> {
        for &index in cells {
            let cell = &plan.cells[index];
            let is_cached = |index: usize| matches!(self.states[index], CellState::Cached(_));
            if is_cached(index) || !sources(cell).all(is_cached) {
                continue;
            }
            let record = |index: usize| match &self.states[index] {
                CellState::Cached(record) => record.as_ref(),
                _ => unreachable!("all sources are cached"),
            };
            self.states[index] = match resolve(cell, files, pins, record) {
                Err(error) => match plan.pipe_of(index) {
                    Some(path) => CellState::Unread(path),
                    None => CellState::Unreadable(error),
                },
                Ok(resolved) => match find(store, files, &resolved.components, &cell.label, locked)? {
                    Some(record) => CellState::Cached(Box::new(record)),
                    None => CellState::Absent(Box::new(resolved)),
                },
            };
        }
        Ok(())
    }
}

/// What is to be said of a cell that names the pipe `path`.
pub fn unread(path: &Path) -> String {
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
/// it is what came last, as it is recorded under its sum.
///
/// # Errors
/// The store cannot be read.
pub fn find(
    store: &Store,
    files: &Files,
    components: &Components,
    label: &Label,
    locked: &LockFile,
) -> Result<Option<ActionRecord>, Error> {
    let key = components.key();
    if brought::is_open(components) {
        return last_by_sum(store, &key);
    }
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

/// Of what is known by its URL only: the record, under its sums, of what came last.
///
/// # Errors
/// The store cannot be read.
pub fn last_by_sum(store: &Store, key: &Key) -> Result<Option<ActionRecord>, Error> {
    store.actions(key)?.pop().map_or(Ok(None), |last| by_sum(store, last))
}

/// The record under its sums of what is recorded under its URLs; that of anything else is its own. Nothing if it is gone.
///
/// # Errors
/// The store cannot be read.
pub fn by_sum(store: &Store, record: ActionRecord) -> Result<Option<ActionRecord>, Error> {
    if !brought::is_open(&record.components) {
        return Ok(Some(record));
    }
    let Some(components) = brought::settled(&record.components, &record.fetched) else { return Ok(None) };
    let settled = store.recorded(&components.key(), Some(&record.output_digests()))?;
    // What came from where is told by the record that was asked for by that.
    Ok(settled.map(|settled| ActionRecord { fetched: record.fetched, ..settled }))
}

/// The components of the last result of `label` that the lock file knows, if the store still has its record.
///
/// # Errors
/// The store cannot be read.
pub fn previous_components(store: &Store, label: &Label, locked: &LockFile) -> Result<Option<Components>, Error> {
    let Some(line) = locked.get(label) else { return Ok(None) };
    Ok(store.recorded(&line.key, Some(&line.outputs))?.map(|record| record.components))
}

/// Why a cell that is resolved so would run, against what the lock file knows of it.
///
/// # Errors
/// The store cannot be read.
pub fn why_now(
    plan: &Plan,
    index: usize,
    resolved: &Resolved,
    store: &Store,
    locked: &LockFile,
) -> Result<Vec<Cause>, Error> {
    let cell = &plan.cells[index];
    let components = &resolved.components;
    let open = components.parameters.get(brought::SOURCE).map_or(0, brought::open);
    let not_pinned = (open > 0).then_some(Cause::NotPinned { count: open });
    let Some(previous) = previous_components(store, &cell.label, locked)? else {
        return Ok([Cause::NeverRan].into_iter().chain(not_pinned).collect());
    };
    let names: HashMap<(String, String), String> = cell
        .inputs
        .iter()
        .flat_map(|input| {
            input.sources.iter().enumerate().map(|(ordinal, source)| {
                let label = input.key_label(ordinal);
                let from = match &source.from {
                    Origin::Cell { index, .. } => plan.cells[*index].label.to_string(),
                    Origin::File(path) => path.display().to_string(),
                };
                ((input.name.clone(), label), from)
            })
        })
        .collect();
    let mut causes = differences(
        &previous,
        components,
        |parameter| cell.given.get(parameter).map(|place| place.line as usize),
        |input, label| {
            let key = (input.to_owned(), label.to_owned());
            names.get(&key).cloned().unwrap_or_else(|| label.to_owned())
        },
    );
    if let Body::Stage(stage) = &cell.body
        && stage.brings(&cell.values).is_some()
    {
        causes.iter_mut().for_each(|cause| about_source(cause, !resolved.expected.is_empty()));
    }
    causes.extend(not_pinned);
    Ok(causes)
}

/// What a stage brings in is one parameter in the key, whatever its parameters are called.
fn about_source(cause: &mut Cause, pinned: bool) {
    if let Cause::Parameter { name, old, new, .. } = cause
        && name == brought::SOURCE
    {
        *cause = Cause::Source { old: old.take(), new: new.take(), pinned };
    }
}
