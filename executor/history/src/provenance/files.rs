//! The files that an export of a report adds to the copy.

use std::collections::BTreeMap;

use cwm_contract::{Format, provenance};

use super::compact::compact;
use super::{Disclosure, gather};
use cwm_core::Error;
use cwm_pipeline::plan::Plan;
use cwm_store::{ActionRecord, OutputRecord, OutputShape, Store};

/// Returns the files to export in place of those of the output `port` of `cell`, or beside them, by name: of a report the page
/// with its provenance in it, and `provenance.json`; of anything else none. `record` gives the record of each cell upstream.
///
/// # Errors
/// The report's page is missing from the store or damaged, or the report holds a `provenance.json` of its own.
pub fn files<'r>(
    store: &Store,
    plan: &Plan,
    cell: usize,
    port: &str,
    disclosure: Disclosure,
    record: impl Fn(usize) -> Option<&'r ActionRecord>,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let output = record(cell).and_then(|record| record.outputs.get(port));
    let is_report = |output: &&OutputRecord| output.format == Format::REPORT && output.shape == OutputShape::Folder;
    let Some(output) = output.filter(is_report) else { return Ok(BTreeMap::new()) };
    let manifest = store.manifest(&output.digest)?;
    if manifest.files().contains_key(provenance::JSON_FILE) {
        let (label, file) = (&plan.cells[cell].label, provenance::JSON_FILE);
        return Err(Error::usage(format!("the report of {label} holds a `{file}` of its own"))
            .hint("that name is cwm's; have the stage choose another"));
    }
    let whole = gather(plan, cell, port, disclosure, record);
    let cannot_write = |error: serde_json::Error| Error::internal(format!("cannot write the provenance: {error}"));
    let json = serde_json::to_string_pretty(&whole).map_err(cannot_write)? + "\n";
    let mut files = BTreeMap::from([(provenance::JSON_FILE.to_owned(), json.into_bytes())]);
    if let Some(page) = manifest.files().get(provenance::PAGE_FILE)
        && let Ok(page) = String::from_utf8(store.read_checked(&page.digest)?)
        && page.contains(provenance::PLACEHOLDER)
    {
        let element = provenance::fill(&serde_json::to_string(&compact(whole)).map_err(cannot_write)?);
        let page = page.replacen(provenance::PLACEHOLDER, &element, 1);
        files.insert(provenance::PAGE_FILE.to_owned(), page.into_bytes());
    }
    Ok(files)
}
