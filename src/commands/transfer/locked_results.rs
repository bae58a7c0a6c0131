//! Finds results of the lock file where the store has other ones, and the cells that depend on those.

use std::collections::{BTreeSet, HashSet};

use crate::workspace::Workspace;
use cwm_core::{Components, Digest, Error, Key};
use cwm_engine::{CacheStatus, KeyStatus, sources};
use cwm_project::lock_file::LockLine;
use cwm_store::ActionRecord;

/// Returns whether the lock file names another result of the key than `record`, which stands in for it.
pub(super) fn is_other(workspace: &Workspace, index: usize, record: &ActionRecord) -> bool {
    let line = workspace.locked.get(&workspace.plan.cells[index].label).filter(|line| line.key == record.key);
    line.is_some_and(|line| line.outputs != record.output_digests())
}

/// Returns the lock file's result, if its record is in the store.
pub(super) fn of_line(workspace: &Workspace, line: &LockLine) -> Result<Option<ActionRecord>, Error> {
    let recorded = workspace.store.preferred_record(&line.key, Some(&line.outputs))?;
    Ok(recorded.filter(|record| record.output_digests() == line.outputs))
}

/// The lock file's results of cells that have another one here, each once: their files are not here, or not all.
pub(super) fn locked_results(
    workspace: &Workspace,
    cache_status: &CacheStatus,
    cells: &[usize],
    known: &mut HashSet<Key>,
) -> Result<Vec<(usize, ActionRecord)>, Error> {
    let mut locked = Vec::new();
    for &index in cells {
        let cell = &workspace.plan.cells[index];
        let KeyStatus::Cached(here) = &cache_status.states[index] else { continue };
        let Some(line) = workspace.locked.get(&cell.label).filter(|_| cell.keep && is_other(workspace, index, here))
        else {
            continue;
        };
        if let Some(record) = of_line(workspace, line)?
            && known.insert(line.key)
        {
            locked.push((index, record));
        }
    }
    Ok(locked)
}

/// Cells whose keys are not those of the lock file, as they rest on results that are others than the lock file's, where that one
/// is nowhere, or its files are not: `tried` are the keys whose files were asked for. What the lock file names of such cells is
/// today's once that result is made again and comes out the same.
pub(super) fn depends_on_divergent(
    workspace: &Workspace,
    cache_status: &CacheStatus,
    cells: &[usize],
    tried: &HashSet<Key>,
) -> Result<BTreeSet<usize>, Error> {
    let mut found = BTreeSet::new();
    // Those that are others themselves, or rest on such.
    let mut others = BTreeSet::new();
    for &index in cells {
        let rests = sources(&workspace.plan.cells[index]).any(|source| others.contains(&source));
        let line = workspace.locked.get(&workspace.plan.cells[index].label);
        let key = match &cache_status.states[index] {
            KeyStatus::Cached(record) => Some(record.key),
            KeyStatus::Absent(resolved) => Some(resolved.components.key()),
            KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) | KeyStatus::Unreadable(_) => None,
        };
        let is_displaced = match (&cache_status.states[index], line) {
            (KeyStatus::Cached(record), Some(line)) if is_other(workspace, index, record) => {
                tried.contains(&line.key) || of_line(workspace, line)?.is_none()
            }
            _ => false,
        };
        if rests || is_displaced {
            others.insert(index);
        }
        if rests && line.zip(key).is_some_and(|(line, key)| line.key != key) {
            found.insert(index);
        }
    }
    Ok(found)
}

/// The lock file's result of a cell that rests on others: it differs from what the cell is today in what it reads alone.
pub(super) fn locked_of(
    workspace: &Workspace,
    cache_status: &CacheStatus,
    index: usize,
) -> Result<Option<ActionRecord>, Error> {
    let Some(line) = workspace.locked.get(&workspace.plan.cells[index].label) else { return Ok(None) };
    let today = match &cache_status.states[index] {
        KeyStatus::Cached(record) => &record.components,
        KeyStatus::Absent(resolved) => &resolved.components,
        KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) | KeyStatus::Unreadable(_) => return Ok(None),
    };
    let of_any_input = |components: &Components| {
        let blank = |(label, _): &(String, _)| (label.clone(), Digest::of(b""));
        let inputs = components.inputs.iter();
        let inputs = inputs.map(|(name, given)| (name.clone(), given.iter().map(blank).collect())).collect();
        Components { inputs, ..components.clone() }
    };
    let is_same = |components: &Components| {
        let theirs = of_any_input(components);
        theirs == of_any_input(today)
            || workspace.accepted.equivalent_keys(today).any(|older| theirs == of_any_input(&older))
    };
    Ok(of_line(workspace, line)?.filter(|record| is_same(&record.components)))
}
