//! `cwm why`: why a stage would run, or where its result comes from.

use std::path::Path;

use crate::cli::WhyArguments;
use crate::commands::remote_hints::print_hints;
use crate::output::{is_json, print_answer};
use crate::workspace::Workspace;
use cwm_action::probe::ProbeRunner;
use cwm_core::{Error, ExitCode};
use cwm_engine::{Cause, CellStatus, Explainer, KeyStatus, Reason};

/// Runs `cwm why`.
///
/// # Errors
/// No such stage, or the pipeline or the store cannot be read.
pub fn run(store: Option<&Path>, mut arguments: WhyArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.stages)?;
    if arguments.stages.is_empty() {
        return Err(Error::usage("no stage is named").hint("`cwm status` lists them"));
    }
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let cells = workspace.plan.select_all(&arguments.stages)?;
    let cache_status = workspace.cache_status()?;
    let prediction = workspace.prediction(&cache_status)?;
    let Workspace { plan, .. } = &workspace;
    let explainer = Explainer::new(workspace.inputs(), &cache_status, &prediction);
    let mut probes = ProbeRunner::default();
    let mut reasons = Vec::new();
    for &index in &cells {
        let mut reason = explainer.reason(index)?;
        if let (KeyStatus::Absent(resolved), [Cause::Code { .. }]) = (&cache_status.states[index], &reason.causes[..])
            && let Some(record) = workspace.inputs().previous_record(&plan.cells[index].label)?
        {
            let cell = &plan.cells[index];
            let comparison = probes.compare(cell.stage(), &cell.values, &resolved.components, &record);
            reason.probe = Some(comparison.describe(&reason.label));
        }
        reasons.push(reason);
    }
    print_answer(&reasons, || {
        let mut text = String::new();
        reasons.iter().for_each(|reason| write_reason(reason, 0, &mut text));
        text
    })?;
    if !is_json() {
        print_hints(&workspace, &cells, reasons.iter().flat_map(|reason| &reason.causes));
    }
    Ok(ExitCode::OK)
}

fn write_reason(reason: &Reason, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let origin = reason.origin.as_deref().unwrap_or_default();
    let state = match reason.state {
        state if state.is_cached() => "cached",
        CellStatus::Waits => "may run, when what it depends on has run",
        other => other.as_verb(),
    };
    let origin = if origin.is_empty() { String::new() } else { format!(": {origin}") };
    *text += &format!("{indent}{}: {state}{origin}\n", reason.label);
    let made_because = reason.made_because.iter().map(|line| format!("it ran then because: {line}"));
    let causes = reason.causes.iter().map(Cause::to_string);
    for line in made_because.chain(causes).chain(reason.advice.clone()).chain(reason.probe.clone()) {
        *text += &format!("{indent}  {line}\n");
    }
    reason.because_of.iter().for_each(|reason| write_reason(reason, depth + 1, text));
}
