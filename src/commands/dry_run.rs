//! `cwm run --dry-run`: what would run, and why.

use std::collections::BTreeSet;

use cwm_contract::DeviceChoice;

use crate::cli::RunArguments;
use crate::commands::devices::missing;
use crate::workspace::{SkippedRecordsWarning, Workspace};
use cwm_core::{Error, ExitCode};
use cwm_engine::{Cause, Estimates, Explainer, IncompleteResult, KeyStatus, Machine, Rebuild, RunPrediction};
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
    let prediction =
        RunPrediction::of(plan, &workspace.store, &workspace.files, &cache_status, &targets, force, fetches)?;
    workspace.files.save_if_possible();
    let explainer =
        Explainer::new(plan, &workspace.store, &workspace.files, workspace.project_state(), &cache_status, &prediction);
    for index in cells {
        let label = plan.cells[index].label.clone();
        let is_done = matches!(&cache_status.states[index], KeyStatus::Cached(_) | KeyStatus::Unreadable(_));
        let rebuilt = prediction.rebuilt(index);
        let on_forced = prediction.forced_input_note(plan, index);
        if (!is_done || force.contains(&index) || rebuilt.is_some() || on_forced.is_some())
            && let Some(missing) = unusable(plan, index, arguments.device)
        {
            let is_certain = force.contains(&index)
                || !matches!(&cache_status.states[index], KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_))
                    && (!matches!(&cache_status.states[index], KeyStatus::Cached(_))
                        || rebuilt.is_some_and(|incomplete| incomplete.rebuild == Rebuild::Yes));
            let would = if is_certain { "would fail" } else { "would fail if it has to run" };
            sinks.event(&RunEvent::Warning { message: format!("{label} {would}: {missing}") });
            if is_certain {
                failed += 1;
                continue;
            }
        }
        let estimate = match &cache_status.states[index] {
            KeyStatus::Cached(record) if !force.contains(&index) && rebuilt.is_none() && on_forced.is_none() => {
                estimates.add_cached(index, record);
                None
            }
            KeyStatus::Unreadable(_) => None,
            _ => estimates.add_cell(plan, index),
        };
        match &cache_status.states[index] {
            state if force.contains(&index) && !matches!(state, KeyStatus::Unreadable(_)) => {
                let shared = prediction.shared_key_note(plan, index);
                let uncertain = shared.is_some();
                *(if uncertain { &mut may_run } else { &mut would_run }) += 1;
                let mut cause = vec![Cause::Forced.to_string()];
                match state {
                    KeyStatus::Absent(_) | KeyStatus::KeyUnknown => cause.extend(explainer.sentences(index)?),
                    KeyStatus::PipeUnread(path) => cause.push(cwm_engine::describe_unread_pipe(path)),
                    KeyStatus::Cached(_) | KeyStatus::Unreadable(_) => {}
                }
                cause.extend(shared);
                sinks.event(&RunEvent::WouldRun { label, cause, uncertain, estimate });
            }
            KeyStatus::Cached(record) if rebuilt.is_some() || on_forced.is_some() => {
                let uncertain = rebuilt.is_none_or(|incomplete| incomplete.rebuild == Rebuild::Perhaps);
                *(if uncertain { &mut may_run } else { &mut would_run }) += 1;
                let lacks =
                    rebuilt.map(|incomplete| incomplete.cause_and_advice(&workspace.store, record)).transpose()?;
                let cause = lacks.into_iter().chain(on_forced.filter(|_| uncertain)).collect();
                sinks.event(&RunEvent::WouldRun { label, cause, uncertain, estimate });
            }
            KeyStatus::Cached(record) => {
                cached += 1;
                let mut origin = cache_status.origin(index, record);
                if prediction.incomplete(index).is_some() {
                    origin += &format!("; {}", IncompleteResult::describe(&workspace.store, record)?);
                }
                if let Some(note) = prediction.rebuilt_input_note(plan, index) {
                    origin += &format!("; {note}");
                }
                sinks.event(&RunEvent::Cached { label, key: record.key, origin });
            }
            KeyStatus::Absent(_) => {
                let shared = prediction.shared_key_note(plan, index);
                let uncertain = shared.is_some();
                *(if uncertain { &mut may_run } else { &mut would_run }) += 1;
                let mut cause = explainer.sentences(index)?;
                cause.extend(shared);
                sinks.event(&RunEvent::WouldRun { label, cause, uncertain, estimate });
            }
            KeyStatus::KeyUnknown => {
                may_run += 1;
                let cause = explainer.sentences(index)?;
                sinks.event(&RunEvent::WouldRun { label, cause, uncertain: true, estimate });
            }
            KeyStatus::PipeUnread(path) => {
                may_run += 1;
                sinks.event(&RunEvent::WouldRun {
                    label,
                    cause: vec![cwm_engine::describe_unread_pipe(path)],
                    uncertain: true,
                    estimate,
                });
            }
            KeyStatus::Unreadable(error) => {
                failed += 1;
                sinks.event(&RunEvent::Warning { message: format!("{label} would fail: {}", error.message) });
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
