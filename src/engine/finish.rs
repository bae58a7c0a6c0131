//! After a run: the lock file for git, and what goes where people find it.

use std::collections::{BTreeSet, HashSet};

use cwm_contract::{Fetch, Fetched, Origin, amount};

use crate::engine::components::output_of;
use crate::engine::status::sources;
use crate::events::{Reader, Readers, RunEvent};
use crate::provenance::{self, Telling};
use cwm_core::digest::Key;
use cwm_core::error::Error;
use cwm_core::files::Trouble;
use cwm_gc::{NotKept, drop_not_kept};
use cwm_pipeline::plan::{Body, Cell, Plan};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_project::pins::Pins;
use cwm_store::outside::Files;
use cwm_store::{ActionRecord, Store};

/// Writes the lines of the cells that are done. A run with `--set` writes nothing; a partial one (`whole` false) changes
/// only its own lines; the file is touched only when it changes. What others (git, another run) changed in it since
/// this run began stays. Returns whether it was written.
///
/// # Errors
/// The lock file cannot be written.
pub fn update_lock_file(
    plan: &Plan,
    locked: &LockFile,
    records: &[Option<ActionRecord>],
    whole: bool,
) -> Result<bool, Error> {
    if plan.sets {
        return Ok(false);
    }
    let mut locked = locked.again()?;
    if whole {
        let known: HashSet<String> = plan.cells.iter().map(|cell| cell.label.to_string()).collect();
        locked.keep_only(|label| known.contains(label));
    }
    locked.update(plan.cells.iter().zip(records).filter_map(|(cell, record)| {
        let record = record.as_ref()?;
        Some((cell.label.clone(), LockLine { key: record.key, outputs: record.output_digests() }))
    }));
    Ok(locked.save()?)
}

/// Lets go the files of stages with `keep: false` that everything that reads them has read: not of exports, nor of what
/// nothing reads. Without a lock of the store being held. Where something in the store is damaged nothing goes, which is told:
/// what it names cannot be.
///
/// # Errors
/// The store cannot be read or written.
pub fn let_go(
    plan: &Plan,
    store: &Store,
    locked: &LockFile,
    records: &[Option<ActionRecord>],
    readers: &mut Readers,
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
    let_go_of(store, locked, cells.filter(|(_, record)| !kept.contains(&record.key)).collect(), readers)
}

/// The same, of these cells with their results.
///
/// # Errors
/// The store cannot be read or written.
pub fn let_go_of(
    store: &Store,
    locked: &LockFile,
    candidates: Vec<(&Cell, &ActionRecord)>,
    readers: &mut Readers,
) -> Result<(), Error> {
    if candidates.is_empty() {
        return Ok(());
    }
    let results: Vec<&ActionRecord> = candidates.iter().map(|(_, record)| *record).collect();
    let dropped = match drop_not_kept(store, &crate::adapters::SlurmJobs, locked.path(), &results) {
        // Of damage elsewhere in the store nothing that was asked for is worse.
        Err(error) if matches!(error.trouble(), Trouble::Damaged | Trouble::Refused) => {
            let advice = match error.trouble() {
                Trouble::Refused => error.hint().unwrap_or_default(),
                _ => "`cwm verify` sets damaged files aside",
            };
            let message = format!("files that are not kept (`keep: false`) stay for now: {error}; {advice}");
            readers.read(&RunEvent::Warning { message });
            return Ok(());
        }
        dropped => dropped?,
    };
    match dropped {
        NotKept::Dropped(dropped) => {
            for (index, bytes) in dropped {
                let message = format!("{} dropped, as `keep: false` says", amount::in_words(bytes));
                readers.read(&RunEvent::Note { label: candidates[index].0.label.clone(), message });
            }
        }
        NotKept::Busy => {
            let message = "files that are not kept (`keep: false`) stay for now: another process uses the store";
            readers.read(&RunEvent::Warning { message: message.to_owned() });
        }
    }
    Ok(())
}

/// Pins what was fetched for the cells that are done: of those that `ran` in place of an older pin, of those that were
/// done before only where there is none. Also in a run with `--set`, since a pin is a fact about a URL.
///
/// # Errors
/// The file of pins cannot be read or written.
pub fn update_pins(
    plan: &Plan,
    pins: &Pins,
    records: &[Option<ActionRecord>],
    ran: &BTreeSet<usize>,
) -> Result<(), Error> {
    let mut new = Vec::new();
    for (index, (cell, record)) in plan.cells.iter().zip(records).enumerate() {
        let Some(record) = record else { continue };
        let fetches = fetches(cell);
        let is_new = |one: &&Fetched| match pins.get(&one.fetch) {
            None => true,
            Some(pin) => ran.contains(&index) && pin.sha256 != one.sha256,
        };
        // A result of these sums may have been made of other URLs.
        new.extend(record.fetched.iter().filter(|one| fetches.contains(&one.fetch)).filter(is_new).cloned());
    }
    pins.save(new)
}

/// What a cell fetches from the network.
pub fn fetches(cell: &Cell) -> Vec<Fetch> {
    let Body::Stage(stage) = &cell.body else { return Vec::new() };
    let brought = stage.brings(&cell.values).unwrap_or_default();
    brought
        .into_iter()
        .filter_map(|one| match one.from {
            Origin::Url(fetch) => Some(fetch),
            Origin::File { .. } => None,
        })
        .collect()
}

/// Where a sum in the pipeline differs from the pin of its URL, in words: the pipeline's counts.
pub fn contradictions(plan: &Plan, pins: &Pins) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for cell in &plan.cells {
        let Body::Stage(stage) = &cell.body else { continue };
        for one in stage.brings(&cell.values).unwrap_or_default() {
            if let (Origin::Url(fetch), Some(sum)) = (&one.from, &one.sha256)
                && let Some(pin) = pins.get(fetch).filter(|pin| pin.sha256 != *sum)
            {
                words.insert(format!(
                    "{}: `sha256` says {sum} of {fetch}, and sources.lock pins {}; the pipeline's counts",
                    cell.label.stage, pin.sha256
                ));
            }
        }
    }
    words
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
        let record = |index: usize| records[index].as_ref();
        let added = provenance::files(store, plan, export.cell, &export.port, Telling::Public, record);
        let exported = added.and_then(|added| Ok(store.export(&export.port, output, &export.path, &added, files)?));
        match exported {
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
    failed.map_or(Ok(()), Err)
}
