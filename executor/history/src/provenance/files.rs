//! What an export of a report adds to the copy.

use std::collections::BTreeMap;

use cwm_contract::{Format, provenance};

use super::compact::compact;
use super::{Disclosure, Provenance, gather};
use cwm_core::Error;
use cwm_pipeline::plan::Plan;
use cwm_store::{ActionRecord, OutputRecord, OutputShape, Store};

/// The files to export in place of those of the output `port` of `cell`, or beside them, by name: of a report the page
/// with its provenance in it, and `provenance.json`; of anything else none. `record` gives the record of each cell
/// upstream.
///
/// # Errors
/// The report's page is missing from the store or damaged, or the report holds a `provenance.json` of its own.
pub fn files<'r>(
    store: &Store,
    plan: &Plan,
    cell: usize,
    port: &str,
    telling: Disclosure,
    record: impl Fn(usize) -> Option<&'r ActionRecord>,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let Some(output) = record(cell).and_then(|record| record.outputs.get(port)) else { return Ok(BTreeMap::new()) };
    if output.format != Format::REPORT || output.shape != OutputShape::Folder {
        return Ok(BTreeMap::new());
    }
    let page = page(store, plan, cell, output)?;
    let told = gather(plan, cell, port, telling, record);
    let json = serde_json::to_string_pretty(&told).map_err(|error| cannot_write(&told, &error))? + "\n";
    let mut files = BTreeMap::from([(provenance::JSON_FILE.to_owned(), json.into_bytes())]);
    if let Some(page) = page.filter(|page| page.contains(provenance::PLACEHOLDER)) {
        let small = serde_json::to_value(&told).map(compact).and_then(|small| serde_json::to_string(&small));
        let element = provenance::fill(&small.map_err(|error| cannot_write(&told, &error))?);
        files
            .insert(provenance::PAGE_FILE.to_owned(), page.replacen(provenance::PLACEHOLDER, &element, 1).into_bytes());
    }
    Ok(files)
}

/// The report's page, if it has one that is text.
fn page(store: &Store, plan: &Plan, cell: usize, output: &OutputRecord) -> Result<Option<String>, Error> {
    let manifest = store.manifest(&output.digest)?;
    if manifest.files().contains_key(provenance::JSON_FILE) {
        let label = &plan.cells[cell].label;
        return Err(Error::usage(format!("the report of {label} holds a `{}` of its own", provenance::JSON_FILE))
            .hint("that name is cwm's; have the stage choose another"));
    }
    let Some(file) = manifest.files().get(provenance::PAGE_FILE) else { return Ok(None) };
    Ok(String::from_utf8(store.read_checked(&file.digest)?).ok())
}

fn cannot_write(told: &Provenance, error: &serde_json::Error) -> Error {
    Error::internal(format!("cannot write the provenance of {}: {error}", told.report))
}
