//! `cwm log` without a stage: which cells have a log.

use serde::Serialize;

use crate::output::{is_json, print, print_json};
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode};
use cwm_engine::KeyStatus;

/// A cell that has a log, for `--json`.
#[derive(Serialize)]
struct Listed {
    /// The cell.
    label: String,
    /// `running`, `failed` or `done`.
    state: &'static str,
}

/// Prints a line for each cell that has a log, in the order of the plan: how it stands, and what `cwm log` calls it.
///
/// # Errors
/// The store cannot be read.
pub fn run(workspace: &mut Workspace) -> Result<ExitCode, Error> {
    let cache_status = workspace.cache_status()?;
    let mut listed = Vec::new();
    for (cell, state) in workspace.plan.cells.iter().zip(&cache_status.states) {
        let (key, recorded) = match state {
            KeyStatus::Cached(record) => (record.key, record.log.is_some()),
            KeyStatus::Absent(resolved) => (resolved.components.key(), false),
            KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) | KeyStatus::Unreadable(_) => continue,
        };
        let of_attempt = workspace.store.work(&key).log().exists();
        let stands = match (of_attempt, recorded) {
            (true, _) if workspace.store.holder(&key)?.is_some() => "running",
            (true, _) => "failed",
            (false, true) => "done",
            (false, false) => continue,
        };
        listed.push(Listed { label: cell.label.to_string(), state: stands });
    }
    if is_json() {
        print_json(&listed)?;
        return Ok(ExitCode::OK);
    }
    if listed.is_empty() {
        return Err(Error::usage("no stage of this pipeline has a log yet").hint("`cwm run` makes them"));
    }
    let lines: Vec<String> = listed.iter().map(|one| format!("{:<8} {}", one.state, one.label)).collect();
    print(&lines.join("\n"))?;
    Ok(ExitCode::OK)
}
