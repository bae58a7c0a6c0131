//! Finishes `cwm run` after the engine: writes the lock files, makes the exports that
//! `export:` names, and evicts the files of stages with `keep: false`.

use std::collections::{BTreeSet, HashSet};

use cwm_contract::amount;
use jiff::Timestamp;

use crate::workspace::Workspace;
use cwm_core::{Error, FileErrorKind, Key, Result};
use cwm_engine::{CellRecords, EventSink, EventSinks, Outcome, RunEvent, output_of, sources};
use cwm_gc::evict_content;
use cwm_history::provenance::{self, Disclosure};
use cwm_project::lock_file::{LockFile, RunHeading};
use cwm_project::runs;
use cwm_store::ActionRecord;

/// Writes the lock files, registers the run's as a root of the store, and makes the exports. All are tried; the first
/// error is returned.
///
/// # Errors
/// One of them cannot be written, or an export would overwrite files that cwm did not write.
pub fn finish_run(workspace: &Workspace, outcome: &Outcome, whole: bool, sinks: &mut EventSinks) -> Result<()> {
    let Outcome { records, ran, summary, .. } = outcome;
    let named = update_lock_files(workspace, records, ran, whole, summary.failed, |message| sinks.warn(message));
    let exported = export_all(workspace, records, sinks);
    workspace.digests.save();
    workspace.store.save_record_cache();
    named.and(exported)
}

/// Writes `sources.lock` and the run's lock file, and registers the latter as a root of the store. All are tried; the
/// first error is returned.
///
/// # Errors
/// One of them cannot be written.
pub fn update_lock_files(
    workspace: &Workspace,
    records: &CellRecords,
    ran: &BTreeSet<usize>,
    whole: bool,
    failed: usize,
    warn: impl FnOnce(String),
) -> Result<()> {
    let Workspace { plan, store, pins, .. } = workspace;
    let pinned = cwm_engine::update_pins(plan, pins, records, ran);
    let run = RunHeading { set: plan.sets.clone(), finished: Timestamp::now(), failed };
    let lock_path = runs::lock_path(&plan.file, &plan.sets);
    let registered = if ran.is_empty() { Ok(()) } else { cwm_gc::register(store, &lock_path) };
    // As it is now, since others (git, another run) may have changed it meanwhile.
    let locked = runs::read_or_create(&plan.file, &run).map_err(Error::from);
    let mut written = locked.and_then(|locked| cwm_engine::update_lock_file(plan, locked, records, whole));
    if !plan.sets.is_empty()
        && let Err(error) = &written
    {
        // It is written beside the pipeline, where this user may not write.
        warn(format!("this run is not recorded: {}", error.message));
        written = Ok(false);
    }
    let is_written = *written.as_ref().unwrap_or(&false);
    let keys = records.iter().flatten().map(|record| record.key);
    let noted = cwm_gc::record_run(store, &lock_path, keys, is_written, !ran.is_empty());
    pinned?;
    registered?;
    written?;
    Ok(noted?)
}

/// Makes the exports of cells that are done, and emits their paths.
fn export_all(workspace: &Workspace, records: &CellRecords, sinks: &mut EventSinks) -> Result<()> {
    let Workspace { plan, store, digests, .. } = workspace;
    let mut outcome = Ok(());
    for export in &plan.exports {
        let Some(record) = &records[export.cell] else { continue };
        let output = output_of(record, &export.output)?;
        let record = |index: usize| records[index].as_deref();
        let added = provenance::files(store, plan, export.cell, &export.output, Disclosure::Public, record);
        let copy = |added| store.export(&export.output, output, &export.path, &added, digests);
        match added.and_then(|added| copy(added).map_err(Error::outside_store)) {
            Ok(exported) => {
                let source = plan.cells[export.cell].label.to_string();
                // People open the page of a folder that has one.
                let page = exported.path.join("index.html");
                let path = if page.is_file() { page } else { exported.path };
                sinks.event(&RunEvent::Exported { source, path });
            }
            Err(error) => outcome = outcome.and(Err(error)),
        }
    }
    outcome
}

/// Evicts the files of stages with `keep: false` once all their readers are done. Files that are exported, and those that nothing
/// reads, stay. The caller holds no lock of the store. Damage in the store, which may hide what else needs these files, is a
/// warning.
///
/// # Errors
/// The store cannot be read or written.
pub fn evict_unkept(workspace: &Workspace, records: &CellRecords, sinks: &mut EventSinks) -> Result<()> {
    let Workspace { plan, store, lock_file, .. } = workspace;
    let mut is_read = vec![false; plan.cells.len()];
    let mut is_needed = vec![false; plan.cells.len()];
    for (index, cell) in plan.cells.iter().enumerate() {
        for source in sources(cell) {
            is_read[source] = true;
            is_needed[source] |= records[index].is_none();
        }
    }
    plan.exports.iter().for_each(|export| is_needed[export.cell] = true);
    let is_evictable = |index: &usize| !plan.cells[*index].keep && is_read[*index] && !is_needed[*index];
    let (evictable, others): (Vec<usize>, Vec<usize>) = (0..plan.cells.len()).partition(is_evictable);
    // Another cell may have the same result, and keep it.
    let key = |index: usize| match &records[index] {
        Some(record) => Some(record.key),
        None => lock_file.get(&plan.cells[index].label).map(|line| line.key),
    };
    let needed_keys: HashSet<Key> = others.into_iter().filter_map(key).collect();
    let results = evictable.into_iter().filter_map(|index| Some((index, records[index].as_deref()?)));
    let (cells, results): (Vec<usize>, Vec<&ActionRecord>) =
        results.filter(|(_, record)| !needed_keys.contains(&record.key)).unzip();
    let own_locks = [LockFile::path_for(&plan.file), runs::folder(&plan.file)];
    let problem = match evict_content(store, &crate::adapters::SLURM_JOBS, &own_locks, &results) {
        Ok(Some(evicted)) => {
            for (index, bytes) in evicted {
                let message = format!("{} evicted (`keep: false`)", amount::format_bytes(bytes));
                sinks.event(&RunEvent::Note { label: plan.cells[cells[index]].label.clone(), message });
            }
            return Ok(());
        }
        Ok(None) => "another process uses the store".to_owned(),
        Err(error) if matches!(error.kind(), FileErrorKind::Damaged | FileErrorKind::Rejected) => {
            format!("{error}; {}", error.hint().unwrap_or_default())
        }
        Err(error) => return Err(error.into()),
    };
    sinks.warn(format!("files that are not kept (`keep: false`) stay for now: {problem}"));
    Ok(())
}
