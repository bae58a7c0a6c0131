//! The provenance of a report: every cell that it depends on, as the records of the store have it.
//!
//! A report is a function of its inputs, so it does not have the time, machine and cost of their making. The executor
//! has them, and adds them when the report is exported ([`files`]). It does not depend on chess: the place in the page is
//! [`cwm_contract::provenance`]'s.

mod compact;
mod gather;
mod public;

use std::collections::BTreeMap;

use cwm_contract::{Format, Value, provenance};
use serde::Serialize;

use compact::compact;
use cwm_core::Error;
use cwm_pipeline::plan::Plan;
use cwm_store::{ActionRecord, OutputRecord, OutputShape, Store};
use gather::gather;

/// Version of the format of [`Provenance`].
const PROVENANCE_FORMAT: u32 = 1;

/// The extent of the disclosure in an exported report: reports are published, records are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disclosure {
    /// No names of people and machines, no folders, nothing that may be a secret.
    Public,
    /// Names of people and machines, and paths; never secrets.
    Full,
}

/// Returns the files to export in place of those of the output `output_name` of `cell`, or beside them, by name: of a
/// report the page with its provenance in it, and `provenance.json`; of anything else none. `record` gives the record
/// of each cell upstream.
///
/// # Errors
/// The report's page is missing from the store or damaged, or the report holds a `provenance.json` of its own.
pub fn files<'r>(
    store: &Store,
    plan: &Plan,
    cell: usize,
    output_name: &str,
    disclosure: Disclosure,
    record: impl Fn(usize) -> Option<&'r ActionRecord>,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let output = record(cell).and_then(|record| record.outputs.get(output_name));
    let is_report = |output: &&OutputRecord| output.format == Format::REPORT && output.shape == OutputShape::Folder;
    let Some(output) = output.filter(is_report) else { return Ok(BTreeMap::new()) };
    let manifest = store.manifest(&output.digest)?;
    if manifest.files().contains_key(provenance::JSON_FILE) {
        let (label, file) = (&plan.cells[cell].label, provenance::JSON_FILE);
        return Err(Error::usage(format!("the report of {label} holds a `{file}` of its own"))
            .hint("that name is reserved for cwm; have the stage use another"));
    }
    let whole = gather(plan, cell, output_name, disclosure, record);
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

/// `provenance.json`: `docs/formats.md` describes each field.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Provenance {
    /// [`PROVENANCE_FORMAT`].
    pub format: u32,
    /// The version of cwm that wrote this.
    pub cwm: &'static str,
    /// The pipeline's file name without extension.
    pub pipeline: String,
    /// The report's own cell and output: `report.report`.
    pub report: String,
    /// Stages in the order of the pipeline, with the sums of their cells.
    pub stages: Vec<StageTotals>,
    /// The machines, in the order of `cells`.
    pub machines: Vec<MachineProvenance>,
    /// Code by fingerprint, with the digests of its parts; not in a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<BTreeMap<String, BTreeMap<String, String>>>,
    /// Every cell that the report depends on, and its own, by label.
    pub cells: BTreeMap<String, CellProvenance>,
}

/// Sums over the cells of a stage. A result that two cells share counts once.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct StageTotals {
    pub name: String,
    pub kind: String,
    /// The number of cells that the report depends on.
    pub cells: usize,
    /// Seconds from start to end.
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// The most memory that one cell's process held, in bytes.
    pub peak_memory_bytes: u64,
    /// Bytes of all outputs.
    pub bytes: u64,
    /// Parameters that are the same in all cells; in a page alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<BTreeMap<String, Value>>,
    /// Parameters that the pipeline gives to all cells; in a page alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explicit: Option<Vec<String>>,
}

/// A machine that results were made on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct MachineProvenance {
    /// Its host name; `machine 1` where names are not disclosed.
    pub name: String,
    /// Operating system and architecture: `linux x86_64`.
    pub os: String,
    /// The most cores that a result made on it could use.
    pub cores: usize,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct CellProvenance {
    /// Kind of stage.
    pub stage: String,
    pub key: String,
    /// Its parameters as in the key, without secrets.
    pub parameters: BTreeMap<String, Value>,
    /// The parameters that the pipeline gives; the others have their defaults.
    pub explicit: Vec<String>,
    /// In [`Provenance::code`]; nothing for stages whose code is in no key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// True if that is older code than the one at hand, and the change was accepted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
    pub inputs: BTreeMap<String, Vec<InputProvenance>>,
    pub outputs: BTreeMap<String, OutputProvenance>,
    /// Content from the network, by its address without user and query.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fetched: Vec<serde_json::Value>,
    /// The time, machine and cost.
    pub run_info: serde_json::Value,
}

/// One artifact that a cell read: another's output, or an external file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct InputProvenance {
    /// The cell that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// The output of that cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The external file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Digest of its content; None if the cell is a source, which is known by its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// One output of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct OutputProvenance {
    pub format: String,
    pub digest: String,
    pub size: u64,
}
