//! `cwm run --dry-run`: what would run, and why.

use std::collections::BTreeSet;

use cwm_contract::DeviceChoice;

use crate::cli::RunArguments;
use crate::commands::devices::missing;
use crate::workspace::{SkippedRecordsWarning, Workspace};
use cwm_core::{Error, ExitCode};
use cwm_engine::{CellStatus, Estimates, Explainer, IncompleteResult, KeyStatus, Machine, Reason, RunPrediction};
use cwm_engine::{EventSink, EventSinks, RunEvent};
use cwm_pipeline::plan::{Body, Plan};

/// Tells what would run, and why.
///
/// # Errors
/// The store cannot be read.
pub fn run(
    workspace: &mut Workspace,
    targets: &BTreeSet<usize>,
    force: &BTreeSet<usize>,
    arguments: &RunArguments,
    fetches: bool,
    sinks: &mut EventSinks,
) -> Result<ExitCode, Error> {
    let cache_status = workspace.cache_status()?;
    let plan = &workspace.plan;
    let (mut would_run, mut may_run, mut cached, mut failed) = (0, 0, 0, 0);
    let (registry, machine) = (crate::registry::built_in(), Machine::detect(arguments.jobs));
    let mut estimates = Estimates::of(&workspace.store, &registry, machine, arguments.device, &workspace.files)?;
    let cells = plan.ancestors(&targets.iter().copied().collect::<Vec<_>>());
    if let Some(message) = (!arguments.pull && !fetches)
        .then(|| workspace.elsewhere(&cache_status, &cells, "`cwm run --pull`"))
        .transpose()?
        .flatten()
    {
        sinks.event(&RunEvent::Warning { message });
    }
    let targets: Vec<usize> = targets.iter().copied().collect();
    let prediction = RunPrediction::of(workspace.inputs(), &cache_status, &targets, force, fetches)?;
    workspace.files.save_if_possible();
    let explainer = Explainer::new(workspace.inputs(), &cache_status, &prediction);
    for index in cells {
        let label = plan.cells[index].label.clone();
        let Reason { state, because, advice, origin, .. } = explainer.reason(index)?;
        let uncertain = matches!(state, CellStatus::MayRun | CellStatus::Waits);
        let unusable = unusable(plan, index, arguments.device);
        if let Some(problem) = unusable.filter(|_| uncertain || state == CellStatus::WouldRun) {
            let would = if uncertain { "would fail if it has to run" } else { "would fail" };
            sinks.event(&RunEvent::Warning { message: format!("{label} {would}: {problem}") });
            if !uncertain {
                failed += 1;
                continue;
            }
        }
        match (state, &cache_status.states[index]) {
            (CellStatus::WouldFail, _) => {
                failed += 1;
                let reason = origin.unwrap_or_default();
                sinks.event(&RunEvent::Warning { message: format!("{label} would fail: {reason}") });
            }
            (state, KeyStatus::Cached(record)) if state.is_cached() => {
                cached += 1;
                estimates.add_cached(index, record);
                let mut origin = cache_status.origin(index, record);
                if prediction.incomplete(index).is_some() {
                    origin += &format!("; {}", IncompleteResult::describe(&workspace.store, record)?);
                }
                if let Some(note) = prediction.rebuilt_input_note(plan, index) {
                    origin += &format!("; {note}");
                }
                sinks.event(&RunEvent::Cached { label, key: record.key, origin });
            }
            _ => {
                *(if uncertain { &mut may_run } else { &mut would_run }) += 1;
                let estimate = estimates.add_cell(plan, index);
                let cause = because.into_iter().chain(origin).chain(advice).collect();
                sinks.event(&RunEvent::WouldRun { label, cause, uncertain, estimate });
            }
        }
    }
    for finding in workspace.store.take_damaged_records() {
        sinks.event(&RunEvent::Warning { message: SkippedRecordsWarning::message(&finding) });
    }
    let total = estimates.total();
    sinks.event(&RunEvent::DrySummary { would_run, may_run, cached, would_fail: failed, total });
    Ok(if failed > 0 { ExitCode::STAGE_FAILED } else { ExitCode::OK })
}

/// Why a cell cannot be computed where this run, or else the pipeline, says.
fn unusable(plan: &Plan, index: usize, asked: Option<DeviceChoice>) -> Option<String> {
    let cell = &plan.cells[index];
    match &cell.body {
        Body::Stage(stage) if stage.uses_devices() => missing(asked.unwrap_or(cell.device)),
        Body::Stage(_) | Body::Command(_) => None,
    }
}
