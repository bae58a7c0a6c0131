//! After a run: the lock file for git, and what goes where people find it.

use std::collections::BTreeSet;

use crate::engine::components::output_of;
use crate::error::Error;
use crate::events::{Reader, Readers, RunEvent};
use crate::lock_file::{LockFile, LockLine};
use crate::outside::Files;
use crate::plan::Plan;
use crate::store::{ActionRecord, Store};

/// Writes the lines of the cells that are done. A run with `--set` writes nothing; a partial one (`whole` false) changes
/// only its own lines; the file is touched only when it changes. What others (git, another run) changed in it since
/// this run began stays.
///
/// # Errors
/// The lock file cannot be written.
pub fn update_lock_file(
    plan: &Plan,
    locked: &LockFile,
    records: &[Option<ActionRecord>],
    whole: bool,
) -> Result<(), Error> {
    if plan.sets {
        return Ok(());
    }
    let mut locked = LockFile::read(locked.path())?;
    if whole {
        let known: BTreeSet<_> = plan.cells.iter().map(|cell| &cell.label).collect();
        locked.keep_only(|label| known.contains(label));
    }
    locked.update(plan.cells.iter().zip(records).filter_map(|(cell, record)| {
        let record = record.as_ref()?;
        Some((cell.label.clone(), LockLine { key: record.key, outputs: record.output_digests() }))
    }));
    locked.save()?;
    Ok(())
}

/// Puts what `export:` names where it says, if its cell is done in this run, and tells the paths.
///
/// # Errors
/// A place cannot be written, or holds files that are not ours.
pub fn export_all(
    plan: &Plan,
    store: &Store,
    files: &Files,
    records: &[Option<ActionRecord>],
    readers: &mut Readers,
) -> Result<(), Error> {
    let mut failed = None;
    for export in &plan.exports {
        let Some(record) = &records[export.cell] else { continue };
        let output = output_of(record, &export.port)?;
        match store.export(&export.port, output, &export.path, files) {
            Ok(exported) => {
                let source = plan.cells[export.cell].label.to_string();
                // Of a folder with a page in it, the page is what people open.
                let page = exported.path.join("index.html");
                let path = if page.is_file() { page } else { exported.path };
                readers.read(&RunEvent::Exported { source, path });
            }
            // The others are made all the same; the first that could not be is told at the end.
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}
