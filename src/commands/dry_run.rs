//! `cwm run --dry-run`: shows what would run, and why.

use std::collections::BTreeSet;

use crate::cli::RunArguments;
use crate::commands::model::devices::missing;
use crate::workspace::{SkippedRecordsWarning, Workspace};
use cwm_core::{Error, ExitCode};
use cwm_engine::{CellStatus, Estimates, Explainer, Machine, Reason, RunPrediction};
use cwm_engine::{EventSink, EventSinks, RunEvent};
use cwm_pipeline::plan::Body;

/// Emits the predicted status of each cell. `fetches` is true if the run would fetch results from remotes.
///
/// # Errors
/// The store cannot be read.
pub fn run(
    workspace: &Workspace,
    targets: &BTreeSet<usize>,
    force: &BTreeSet<usize>,
    arguments: &RunArguments,
    fetches: bool,
    sinks: &mut EventSinks,
) -> Result<ExitCode, Error> {
    let plan = &workspace.plan;
    workspace.note_compared_run();
    let targets: Vec<usize> = targets.iter().copied().collect();
    let cells = plan.ancestors(&targets);
    if !fetches && let Some(message) = workspace.results_elsewhere(&cells, "`cwm run --pull`")? {
        sinks.warn(message);
    }
    let (registry, machine) = (crate::registry::built_in(), Machine::detect(arguments.jobs));
    let mut estimates = Estimates::of(&workspace.store, &registry, machine, arguments.device, &workspace.files)?;
    let cache_status = workspace.cache_status()?;
    let prediction = RunPrediction::of(workspace.inputs(), &cache_status, &targets, force, fetches)?;
    workspace.files.save();
    let explainer = Explainer::new(workspace.inputs(), &cache_status, &prediction);
    let (mut would_run, mut may_run, mut cached, mut would_fail) = (0, 0, 0, 0);
    for index in cells {
        let cell = &plan.cells[index];
        let label = cell.label.clone();
        let Reason { state, because, advice, origin, .. } = explainer.reason(index)?;
        if let Some(record) = cache_status.record(index).filter(|_| state.is_cached()) {
            cached += 1;
            estimates.add_cached(index, record);
            sinks.event(&RunEvent::Cached { label, key: record.key, origin: origin.unwrap_or_default() });
            continue;
        }
        let uncertain = matches!(state, CellStatus::MayRun | CellStatus::Waits);
        let problem = match &cell.body {
            _ if state == CellStatus::WouldFail => origin.clone(),
            Body::Stage(stage) if stage.uses_devices() => missing(arguments.device.unwrap_or(cell.settings.device)),
            Body::Stage(_) | Body::Command(_) => None,
        };
        if let Some(problem) = &problem {
            let condition = if uncertain { " if it has to run" } else { "" };
            sinks.warn(format!("{label} would fail{condition}: {problem}"));
        }
        if !uncertain && (problem.is_some() || state == CellStatus::WouldFail) {
            would_fail += 1;
            continue;
        }
        *(if uncertain { &mut may_run } else { &mut would_run }) += 1;
        let estimate = estimates.add_cell(plan, index);
        let cause = because.into_iter().chain(origin).chain(advice).collect();
        sinks.event(&RunEvent::WouldRun { label, cause, uncertain, estimate });
    }
    for finding in workspace.store.take_damaged_records() {
        sinks.warn(SkippedRecordsWarning::message(&finding));
    }
    sinks.event(&RunEvent::DrySummary { would_run, may_run, cached, would_fail, total: estimates.total() });
    Ok(if would_fail > 0 { ExitCode::STAGE_FAILED } else { ExitCode::OK })
}
