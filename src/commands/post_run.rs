//! What `cwm run` does after the engine has ended: it exports what `export:` names, and evicts the files of stages with
//! `keep: false`.

use std::collections::HashSet;

use cwm_contract::amount;

use cwm_core::{Error, FileErrorKind, Key};
use cwm_engine::{EventSink, EventSinks, RunEvent, output_of, sources};
use cwm_gc::{EvictionOutcome, evict_content};
use cwm_history::provenance::{self, Disclosure};
use cwm_pipeline::plan::{Cell, Plan};
use cwm_project::lock_file::LockFile;
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, Store};

/// Lets go the files of stages with `keep: false` that everything that reads them has read: not of exports, nor of what
/// nothing reads. Without a lock of the store being held. Where something in the store is damaged nothing goes, which is told:
/// what it names cannot be.
///
/// # Errors
/// The store cannot be read or written.
pub fn evict_unkept(
    plan: &Plan,
    store: &Store,
    locked: &LockFile,
    records: &[Option<ActionRecord>],
    sinks: &mut EventSinks,
) -> Result<(), Error> {
    let mut is_read = vec![false; plan.cells.len()];
    let mut is_wanted = vec![false; plan.cells.len()];
    for (index, cell) in plan.cells.iter().enumerate() {
        for source in sources(cell) {
            is_read[source] = true;
            is_wanted[source] |= records[index].is_none();
        }
    }
    plan.exports.iter().for_each(|export| is_wanted[export.cell] = true);
    let goes = |index: usize| !plan.cells[index].keep && is_read[index] && !is_wanted[index];
    // Another cell may have the same result, and keep it.
    let key_of = |index: usize| match &records[index] {
        Some(record) => Some(record.key),
        None => locked.get(&plan.cells[index].label).map(|line| line.key),
    };
    let (going, staying): (Vec<usize>, Vec<usize>) = (0..plan.cells.len()).partition(|index| goes(*index));
    if going.is_empty() {
        return Ok(());
    }
    let kept: HashSet<Key> = staying.into_iter().filter_map(key_of).collect();
    let cells = going.into_iter().filter_map(|index| Some((&plan.cells[index], records[index].as_ref()?)));
    evict(store, locked, cells.filter(|(_, record)| !kept.contains(&record.key)).collect(), sinks)
}

/// Evicts the files of these cells, as [`evict_unkept`] does.
///
/// # Errors
/// The store cannot be read or written.
pub fn evict(
    store: &Store,
    locked: &LockFile,
    candidates: Vec<(&Cell, &ActionRecord)>,
    sinks: &mut EventSinks,
) -> Result<(), Error> {
    if candidates.is_empty() {
        return Ok(());
    }
    let results: Vec<&ActionRecord> = candidates.iter().map(|(_, record)| *record).collect();
    let dropped = match evict_content(store, &crate::adapters::SlurmJobs, locked.path(), &results) {
        // Of damage elsewhere in the store nothing that was asked for is worse.
        Err(error) if matches!(error.kind(), FileErrorKind::Damaged | FileErrorKind::Refused) => {
            let advice = match error.kind() {
                FileErrorKind::Refused => error.hint().unwrap_or_default(),
                _ => "`cwm verify` sets damaged files aside",
            };
            let message = format!("files that are not kept (`keep: false`) stay for now: {error}; {advice}");
            sinks.event(&RunEvent::Warning { message });
            return Ok(());
        }
        dropped => dropped?,
    };
    match dropped {
        EvictionOutcome::Evicted(dropped) => {
            for (index, bytes) in dropped {
                let message = format!("{} dropped, as `keep: false` says", amount::format_bytes(bytes));
                sinks.event(&RunEvent::Note { label: candidates[index].0.label.clone(), message });
            }
        }
        EvictionOutcome::Busy => {
            let message = "files that are not kept (`keep: false`) stay for now: another process uses the store";
            sinks.event(&RunEvent::Warning { message: message.to_owned() });
        }
    }
    Ok(())
}

/// Puts what `export:` names where it says, if its cell is done in this run, and tells the paths.
///
/// # Errors
/// A place cannot be written, or holds files that are not ours.
pub fn export_all(
    plan: &Plan,
    store: &Store,
    files: &DigestCache,
    records: &[Option<ActionRecord>],
    sinks: &mut EventSinks,
) -> Result<(), Error> {
    let mut failed = None;
    for export in &plan.exports {
        let Some(record) = &records[export.cell] else { continue };
        let output = output_of(record, &export.port)?;
        let record = |index: usize| records[index].as_ref();
        let added = provenance::files(store, plan, export.cell, &export.port, Disclosure::Public, record);
        let exported = added.and_then(|added| Ok(store.export(&export.port, output, &export.path, &added, files)?));
        match exported {
            Ok(exported) => {
                let source = plan.cells[export.cell].label.to_string();
                // Of a folder with a page in it, the page is what people open.
                let page = exported.path.join("index.html");
                let path = if page.is_file() { page } else { exported.path };
                sinks.event(&RunEvent::Exported { source, path });
            }
            // The others are made all the same; the first that could not be is told at the end.
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(()), Err)
}
