//! Updates the lock file and the pins after a run.

use std::collections::{BTreeSet, HashSet};

use cwm_contract::{ExternalSource, FetchRequest, FetchResult, Origin};

use crate::lookup::CellRecords;
use cwm_core::Result;
use cwm_pipeline::plan::{Cell, Plan};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_project::pins::Pins;

/// Writes the lines of the cells that are done into `lock_file`, the run's lock file as it is now. A partial run
/// (`whole` is false) changes only its own lines. Returns true if the file was written, which it is only if it changes.
///
/// # Errors
/// The lock file cannot be written.
pub fn update_lock_file(plan: &Plan, mut lock_file: LockFile, records: &CellRecords, whole: bool) -> Result<bool> {
    if whole {
        let known: HashSet<String> = plan.cells.iter().map(|cell| cell.label.to_string()).collect();
        lock_file.keep_only(|label| known.contains(label));
    }
    lock_file.update(plan.cells.iter().zip(records).filter_map(|(cell, record)| {
        let record = record.as_ref()?;
        Some((cell.label.clone(), LockLine { key: record.key, outputs: record.output_digests() }))
    }));
    lock_file.save()
}

/// Pins the downloads of the cells that are done. A cell that `ran` replaces an older pin; another cell does not. A run with
/// `--set` pins as well, since a pin is a fact about a URL.
///
/// # Errors
/// The file of pins cannot be read or written.
pub fn update_pins(plan: &Plan, pins: &Pins, records: &CellRecords, ran: &BTreeSet<usize>) -> Result<()> {
    let mut new = Vec::new();
    for (index, (cell, record)) in plan.cells.iter().zip(records).enumerate() {
        let Some(record) = record else { continue };
        let fetches = fetch_requests(cell);
        let is_new = |one: &&FetchResult| match pins.get(&one.fetch) {
            None => true,
            Some(pin) => ran.contains(&index) && pin.sha256 != one.sha256,
        };
        // A result of these sums may have been made of other URLs.
        new.extend(record.fetched.iter().filter(|one| fetches.contains(&one.fetch)).filter(is_new).cloned());
    }
    pins.save(new)
}

/// Returns the external sources that a cell declares.
pub(crate) fn external_sources(cell: &Cell) -> Vec<ExternalSource> {
    cell.stage().and_then(|stage| stage.external_sources(&cell.values)).unwrap_or_default()
}

/// Returns the requests of a cell to the network.
pub fn fetch_requests(cell: &Cell) -> Vec<FetchRequest> {
    let fetch = |source: ExternalSource| match source.from {
        Origin::Url(fetch) => Some(fetch),
        Origin::File { .. } => None,
    };
    external_sources(cell).into_iter().filter_map(fetch).collect()
}

/// Describes each checksum in the pipeline that differs from the pin of its URL. The pipeline has priority.
pub fn checksum_conflicts(plan: &Plan, pins: &Pins) -> BTreeSet<String> {
    let mut conflicts = BTreeSet::new();
    for cell in &plan.cells {
        for one in external_sources(cell) {
            if let (Origin::Url(fetch), Some(sum)) = (&one.from, &one.sha256)
                && let Some(pin) = pins.get(fetch).filter(|pin| pin.sha256 != *sum)
            {
                conflicts.insert(format!(
                    "{}: `sha256` is {sum} for {fetch}, and sources.lock pins {}; the pipeline's is used",
                    cell.label.stage, pin.sha256
                ));
            }
        }
    }
    conflicts
}
