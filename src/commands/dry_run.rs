//! `cwm run --dry-run`: shows what would run, and why.

use std::collections::{BTreeMap, BTreeSet};

use crate::cli::RunArguments;
use crate::commands::model::devices::reason_unusable;
use crate::workspace::{SkippedRecordsWarning, Workspace};
use cwm_contract::amount::format_bytes;
use cwm_contract::{Label, Type, Value};
use cwm_core::{Error, ExitCode};
use cwm_engine::{CellStatus, Estimates, EventSink, EventSinks, Explainer, Explanation, Machine, RunEvent};
use cwm_pipeline::plan::{Body, Cell};

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
    workspace.print_compared_run();
    let targets: Vec<usize> = targets.iter().copied().collect();
    let cells = plan.ancestors(&targets);
    if !fetches && let Some(message) = workspace.results_elsewhere(&cells, "`cwm run --pull`")? {
        sinks.warn(message);
    }
    let device = arguments.execution.device;
    let (registry, machine) = (crate::registry::built_in(), Machine::detect(arguments.execution.jobs));
    let records = workspace.store.all_records()?;
    let mut estimates = Estimates::new(&records, workspace.digests.sizes(), &registry, machine, device);
    let cache_status = workspace.cache_status()?;
    let predictions = cwm_engine::predict(workspace.context(), &cache_status, &targets, force, fetches)?;
    workspace.digests.save();
    let explainer = Explainer::new(workspace.context(), &cache_status, &predictions);
    let (mut would_run, mut may_run, mut cached, mut would_fail) = (0, 0, 0, 0);
    let mut unmeasured: Vec<&Cell> = Vec::new();
    for index in cells {
        let cell = &plan.cells[index];
        let label = cell.label.clone();
        let Explanation { state, sentences, advice, origin, .. } = explainer.explain(index)?;
        if let Some(record) = cache_status.record(index).filter(|_| state.is_cached()) {
            cached += 1;
            estimates.add_cached(index, record);
            sinks.event(&RunEvent::Cached { label, key: record.key, origin: origin.unwrap_or_default() });
            continue;
        }
        let uncertain = matches!(state, CellStatus::MayRun | CellStatus::Waits);
        let problem = match &cell.body {
            _ if state == CellStatus::WouldFail => origin.clone(),
            Body::Stage(stage) if stage.uses_devices() => reason_unusable(device.unwrap_or(cell.settings.device)),
            Body::Stage(_) | Body::Command(_) => None,
        };
        let preview = match problem {
            Some(problem) => Err(problem),
            None if uncertain => Ok(None),
            None => cwm_engine::preview(&workspace.context(), &cache_status, index).map_err(|error| error.message),
        };
        if let Err(problem) = &preview {
            let condition = if uncertain { " if it has to run" } else { "" };
            sinks.warn(format!("{label} would fail{condition}: {problem}"));
            if !uncertain {
                would_fail += 1;
                continue;
            }
        }
        *(if uncertain { &mut may_run } else { &mut would_run }) += 1;
        let estimate = estimates.add_cell(plan, index);
        unmeasured.extend(estimate.is_none().then_some(cell));
        let cause = sentences.into_iter().chain(origin).chain(advice).chain(preview.ok().flatten()).collect();
        sinks.event(&RunEvent::WouldRun { label, cause, uncertain, estimate });
    }
    for finding in workspace.store.take_damaged_records() {
        sinks.warn(SkippedRecordsWarning::message(&finding));
    }
    let (total, known, measure) = (estimates.total(), known_amounts(&unmeasured), cell_to_measure(&unmeasured));
    sinks.event(&RunEvent::DrySummary { would_run, may_run, cached, would_fail, total, known, measure });
    Ok(if would_fail > 0 { ExitCode::STAGE_FAILED } else { ExitCode::OK })
}

/// Returns the values given to those of `cells` that read no other cell, by stage: they decide how much there is to do.
fn known_amounts(cells: &[&Cell]) -> Vec<String> {
    let sources: Vec<(&str, String)> =
        cells.iter().filter_map(|cell| Some((&cell.label.stage[..], given_values(cell)?))).collect();
    let text = |alike: &[(&str, String)]| match alike {
        [(stage, values)] => format!("{stage} ({values})"),
        _ => format!("{} cells of {} ({} each)", alike.len(), alike[0].0, alike[0].1),
    };
    sources.chunk_by(|one, other| one == other).map(text).collect()
}

/// Returns the numbers and words given to a cell that reads no other cell, but for those of its axes, and its size if it is known.
fn given_values(cell: &Cell) -> Option<String> {
    let stage = cell.stage().filter(|_| cell.inputs.is_empty())?;
    let shown = stage.parameters().into_iter().filter(|spec| is_number_or_word(&spec.kind));
    let explicit = shown.filter(|spec| cell.explicit.contains_key(spec.name));
    let texts = explicit.filter_map(|spec| match cell.values.get(spec.name)? {
        Value::Null => None,
        value => Some((spec.name, value.to_string())),
    });
    let is_axis = |text: &str| cell.label.coordinates.iter().any(|(_, label)| label == text);
    let values = texts.filter(|(_, text)| !is_axis(text)).map(|(name, text)| format!("{name} {text}"));
    let bytes = stage.work(&cell.values, &BTreeMap::new()).map_or(0.0, |work| work.bytes.values().sum::<f64>()) as u64;
    let values: Vec<String> = values.chain((bytes > 0).then(|| format_bytes(bytes))).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

fn is_number_or_word(kind: &Type) -> bool {
    match kind {
        Type::Optional(inner) => is_number_or_word(inner),
        kind => matches!(kind, Type::Integer { .. } | Type::Text | Type::Choice(_)),
    }
}

/// Returns the first of `cells` that may compute on a device, if its stage has several.
fn cell_to_measure(cells: &[&Cell]) -> Option<Label> {
    let first = cells.iter().find(|cell| cell.stage().is_some_and(|stage| stage.uses_devices()))?;
    let alike = cells.iter().filter(|cell| cell.label.stage == first.label.stage);
    (alike.count() > 1).then(|| first.label.clone())
}
