//! Finds the changes that can be accepted, and the results that they keep.

use std::collections::BTreeMap;

use crate::workspace::Workspace;
use cwm_action::key_parameters;
use cwm_action::probe::ProbeRunner;
use cwm_core::{Error, shell_quote};
use cwm_engine::{CacheStatus, Cause, KeyStatus, differences_of, sources};
use cwm_pipeline::plan::Body;
use cwm_project::accepted::AcceptedChange;
use cwm_store::ActionRecord;

/// The assessment of a cell.
pub enum Assessment {
    /// Its code changed, and nothing else.
    Change(Box<AcceptedChange>),
    /// Its result is of today's code, or was accepted.
    UpToDate,
    /// Its key is not known, as this cell, on which it depends, would run.
    KeyUnknown(String),
    /// The change cannot be accepted, for this reason.
    Rejected(String),
    /// A command of which not only the code changed: its text is a parameter to cwm, and a script an input. Only
    /// people can decide what of them is code.
    ChangedCommand(String),
}

/// Decides whether the change of a cell can be accepted.
///
/// # Errors
/// The store cannot be read.
pub fn assess(workspace: &Workspace, cache_status: &CacheStatus, index: usize) -> Result<Assessment, Error> {
    let Workspace { plan, .. } = workspace;
    let cell = &plan.cells[index];
    let resolved = match &cache_status.states[index] {
        KeyStatus::Cached(_) => return Ok(Assessment::UpToDate),
        KeyStatus::Absent(resolved) => resolved,
        KeyStatus::KeyUnknown => {
            let open = sources(cell).find(|source| !matches!(cache_status.states[*source], KeyStatus::Cached(_)));
            let open = open.map(|source| plan.cells[source].label.to_string()).unwrap_or_default();
            return Ok(Assessment::KeyUnknown(open));
        }
        KeyStatus::PipeUnread(path) => return Ok(Assessment::Rejected(cwm_engine::describe_unread_pipe(path))),
        KeyStatus::Unreadable(error) => return Ok(Assessment::Rejected(error.message.clone())),
    };
    let Some(record) = workspace.context().previous_record(&cell.label)? else {
        let label = shell_quote(&cell.label.to_string());
        return Ok(Assessment::Rejected(format!("it never ran, so there is no result to keep: `cwm run {label}`")));
    };
    let causes = differences_of(plan, index, &record.components, &resolved.components);
    let others: Vec<String> =
        causes.iter().filter(|cause| !matches!(cause, Cause::Code { .. })).map(ToString::to_string).collect();
    if !others.is_empty() {
        let reason = format!("not only its code changed: {}", others.join("; "));
        return Ok(match cell.body {
            Body::Command(_) => Assessment::ChangedCommand(reason),
            Body::Stage(_) => Assessment::Rejected(reason),
        });
    }
    Ok(match AcceptedChange::between(&cell.kind, &record.components.code, &resolved.components.code) {
        Some(entry) => Assessment::Change(Box::new(entry)),
        None => Assessment::Rejected("its code did not change".into()),
    })
}

/// Finds the cells of the pipeline whose results would stay, named or not, with these results.
///
/// # Errors
/// The store cannot be read.
pub fn affected(workspace: &Workspace, entry: &AcceptedChange) -> Result<Vec<(usize, ActionRecord)>, Error> {
    let Workspace { plan, digests, .. } = workspace;
    let mut affected = Vec::new();
    for (index, cell) in plan.cells.iter().enumerate().filter(|(_, cell)| cell.kind == entry.kind) {
        let (Body::Stage(stage), Some(code)) = (&cell.body, cell.code()?) else { continue };
        let Some(record) = workspace.context().previous_record(&cell.label)? else { continue };
        if entry.before(&code).as_ref() != Some(&record.components.code) {
            continue;
        }
        // One whose parameters changed runs anyway.
        if key_parameters::parameters(*stage, &cell.values, digests, &mut Vec::new())? == record.components.parameters {
            affected.push((index, record));
        }
    }
    Ok(affected)
}

/// Returns those of them whose probes do not give the same, with the reason.
///
/// # Errors
/// A parameter's file cannot be read.
pub fn rejected(
    workspace: &Workspace,
    affected: &[(usize, ActionRecord)],
    probes: &mut ProbeRunner,
) -> Result<BTreeMap<String, String>, Error> {
    let mut rejected = BTreeMap::new();
    for (index, record) in affected {
        let cell = &workspace.plan.cells[*index];
        let code = cell.code()?.unwrap_or_default();
        if let Err(reason) = probes.compare(cell.stage(), &cell.values, &code, record) {
            rejected.insert(cell.label.to_string(), reason);
        }
    }
    Ok(rejected)
}
