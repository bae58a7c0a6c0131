//! `cwm lock`: lists the pins of downloads, or fetches anew and pins the new content.

use std::collections::BTreeSet;
use std::path::Path;

use cwm_contract::{FetchRequest, amount};
use serde::Serialize;

use crate::cli::{LockArguments, OutputStyle};
use crate::events::{RunLog, sink_for_people};
use crate::hints::invocation;
use crate::output::print_result;
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode};
use cwm_engine::{EventSinks, Machine, Options};
use cwm_project::pins::Pins;

/// One source of a pipeline.
#[derive(Serialize)]
struct Row {
    stage: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_bytes: Option<u64>,
    /// The sum that it is pinned to.
    sha256: Option<String>,
    bytes: Option<u64>,
    /// After an update, the sum that it was pinned to before.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Option<String>>,
}

/// Runs `cwm lock`.
///
/// # Errors
/// No such stage, or the pipeline, the store or the pins cannot be read or written; a download that fails gives
/// [`ExitCode::STAGE_FAILED`].
pub fn run(store: Option<&Path>, arguments: &LockArguments) -> Result<ExitCode, Error> {
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let mut cells = workspace.plan.select_all(&arguments.stages)?;
    cells.retain(|&index| !cwm_engine::fetch_requests(&workspace.plan.cells[index]).is_empty());
    if cells.is_empty() && !arguments.stages.is_empty() {
        let stages = arguments.stages.join(", ");
        return Err(Error::usage(format!("{stages} fetches nothing from the network, so there is nothing to pin")));
    }
    let mut sources = BTreeSet::new();
    for cell in cells.iter().map(|&index| &workspace.plan.cells[index]) {
        sources.extend(cwm_engine::fetch_requests(cell).into_iter().map(|fetch| (cell.label.stage.clone(), fetch)));
    }
    let rows = |pins: &Pins, before: Option<&Pins>| -> Vec<Row> {
        let sha256 = |pins: &Pins, fetch: &FetchRequest| pins.get(fetch).map(|pin| pin.sha256.clone());
        let row = |(stage, fetch): &(String, FetchRequest)| Row {
            stage: stage.clone(),
            url: fetch.url.clone(),
            first_bytes: fetch.first_bytes,
            sha256: sha256(pins, fetch),
            bytes: pins.get(fetch).map(|pin| pin.bytes),
            before: before.map(|before| sha256(before, fetch)),
        };
        sources.iter().map(row).collect()
    };
    if !arguments.update {
        return show(&rows(&workspace.pins, None)).map(|()| ExitCode::OK);
    }
    let before = workspace.pins.clone();
    workspace.pins.remove(sources.iter().map(|(_, fetch)| fetch));
    let code = update(&workspace, &cells)?;
    let now = Pins::for_pipeline(&workspace.plan.file)?;
    show(&rows(&now, Some(&before)))?;
    Ok(code)
}

/// Fetches anew, with nothing pinned, and pins the new content.
fn update(workspace: &Workspace, cells: &[usize]) -> Result<ExitCode, Error> {
    let missing = workspace.plan.missing_files(&workspace.plan.ancestors(cells));
    if !missing.is_empty() {
        return Err(missing.into());
    }
    let mut sinks = EventSinks(vec![sink_for_people(OutputStyle::Auto, false, workspace.labels())]);
    sinks.0.push(Box::new(RunLog::new(workspace.store.root().join("runs"))));
    workspace.store.create()?;
    let _lock = workspace.lock_shared(&mut sinks)?;
    let options = Options {
        targets: cells.iter().copied().collect(),
        force: cells.iter().copied().collect(),
        machine: Machine::detect(None),
        command: invocation(None, ""),
        ..Options::default()
    };
    let outcome = cwm_engine::run(workspace.context(), options, &mut sinks)?;
    cwm_engine::update_pins(&workspace.plan, &workspace.pins, &outcome.records, &outcome.ran)?;
    workspace.digests.save();
    Ok(super::run::exit_code(&outcome.summary, ExitCode::OK))
}

fn show(rows: &[Row]) -> Result<(), Error> {
    print_result(&rows, || match rows {
        [] => "this pipeline fetches nothing from the network".to_owned(),
        rows => rows.iter().map(describe).collect(),
    })
}

fn describe(row: &Row) -> String {
    let sum = |sum: &Option<String>| sum.clone().unwrap_or_else(|| "not pinned".into());
    let state = match &row.before {
        Some(before) if *before == row.sha256 => format!("unchanged: {}", sum(before)),
        Some(before) => format!("{} -> {}", sum(before), sum(&row.sha256)),
        None => sum(&row.sha256),
    };
    let size = row.bytes.map(|size| format!("  ({})", amount::format_bytes(size))).unwrap_or_default();
    let fetch = FetchRequest { url: row.url.clone(), first_bytes: row.first_bytes };
    format!("{}: {fetch}\n  {state}{size}\n", row.stage)
}
