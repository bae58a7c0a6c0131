//! `cwm why`: why a stage would run, or where its result comes from.

use std::path::Path;

use crate::cli::WhyArguments;
use crate::commands::remote_hints::print_hints;
use crate::fold::{Entry, Group, fold};
use crate::hints::with_options;
use crate::locate::select_cells;
use crate::output::{is_json, print, print_result};
use crate::workspace::Workspace;
use cwm_action::probe::ProbeRunner;
use cwm_contract::Label;
use cwm_core::{Error, shell_quote};
use cwm_engine::{Cause, CellStatus, Explainer, Explanation, KeyStatus};

/// Runs `cwm why`.
///
/// # Errors
/// No such stage, or the pipeline or the store cannot be read.
pub fn run(store: Option<&Path>, mut arguments: WhyArguments) -> Result<(), Error> {
    arguments.pipeline.take_from(&mut arguments.stages)?;
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let cells = select_cells(&workspace.plan, &arguments.stages)?;
    workspace.print_compared_run();
    let cache_status = workspace.cache_status()?;
    let predictions = workspace.predictions(&cache_status)?;
    let Workspace { plan, .. } = &workspace;
    let explainer = Explainer::new(workspace.context(), &cache_status, &predictions);
    let mut probes = ProbeRunner::default();
    let mut reasons = Vec::new();
    for &index in &cells {
        let mut reason = explainer.explain(index)?;
        if let (KeyStatus::Absent(resolved), [Cause::Code { .. }]) = (&cache_status.states[index], &reason.causes[..])
            && let Some(record) = workspace.context().previous_record(&plan.cells[index].label)?
        {
            let cell = &plan.cells[index];
            let compared = probes.compare(cell.stage(), &cell.values, &resolved.components.code, &record);
            reason.probe = Some(compared.err().unwrap_or_else(|| {
                let label = shell_quote(&reason.label);
                format!("its probe has the same output with the current code: `cwm accept --probed {label}` keeps the result")
            }));
        }
        reasons.push(reason);
    }
    if arguments.stages.is_empty() {
        // Everything that would run goes back to these.
        reasons.retain(|reason| !reason.state.is_cached() && reason.dependencies.is_empty());
    }
    if reasons.is_empty() && !is_json() {
        return print("all cells are cached");
    }
    print_result(&reasons, || {
        let mut text = String::new();
        write_reasons(&reasons.iter().collect::<Vec<_>>(), &workspace.labels(), arguments.verbose, 0, &mut text);
        with_options(&text)
    })?;
    if !is_json() {
        print_hints(&workspace, &cells, reasons.iter().flat_map(|reason| &reason.causes));
    }
    Ok(())
}

/// Writes reasons and those behind them, cells of one stage that have the same once. `all` are the cells of the pipeline.
fn write_reasons<'r>(reasons: &[&'r Explanation], all: &[Label], verbose: bool, depth: usize, text: &mut String) {
    // Each cell is explained by itself, so what is behind several of them may be there more than once.
    let entry = |reason: &&'r Explanation| Entry {
        label: reason.label.parse().unwrap_or_else(|_| Label::stage(reason.label.as_str())),
        lines: lines_of(reason),
        value: &reason.dependencies,
    };
    let indent = "  ".repeat(depth);
    for Group { name, lines, values } in fold(reasons.iter().map(entry).collect(), all, verbose) {
        *text += &format!("{indent}{name}: {}\n", lines[0]);
        lines[1..].iter().for_each(|line| *text += &format!("{indent}  {line}\n"));
        let behind: Vec<&Explanation> = values.into_iter().flatten().collect();
        write_reasons(&behind, all, verbose, depth + 1, text);
    }
}

/// Returns the state of a cell, and the reasons for it.
fn lines_of(reason: &Explanation) -> Vec<String> {
    let state = match reason.state {
        state if state.is_cached() => "cached".to_owned(),
        CellStatus::Waits => "may run, when what it depends on has run".to_owned(),
        other => other.to_string(),
    };
    let head = match reason.origin.as_deref().unwrap_or_default() {
        "" => state.to_owned(),
        origin => format!("{state}: {origin}"),
    };
    let recorded_causes = reason.recorded_causes.iter().map(|line| format!("it ran then because: {line}"));
    let causes = reason.causes.iter().map(Cause::to_string);
    let more = reason.advice.iter().chain(&reason.probe).cloned();
    [head].into_iter().chain(recorded_causes).chain(causes).chain(more).collect()
}
