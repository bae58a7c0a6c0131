//! `cwm log` without a stage: which cells have a log.

use crate::commands::{Workspace, print};
use crate::engine::CellState;
use crate::error::Error;
use crate::exit_code::ExitCode;

/// Prints a line for each cell that has a log, in the order of the plan: how it stands, and what `cwm log` calls it.
///
/// # Errors
/// The store cannot be read.
pub fn run(workspace: &mut Workspace) -> Result<ExitCode, Error> {
    let survey = workspace.survey()?;
    let mut text = String::new();
    for (cell, state) in workspace.plan.cells.iter().zip(&survey.states) {
        let (key, recorded) = match state {
            CellState::Cached(record) => (record.key, record.log.is_some()),
            CellState::Absent(resolved) => (resolved.components.key(), false),
            CellState::Open | CellState::Unread(_) | CellState::Unreadable(_) => continue,
        };
        let of_attempt = workspace.store.work(&key).log().exists();
        let stands = match (of_attempt, recorded) {
            (true, _) if workspace.store.holder(&key)?.is_some() => "running",
            (true, _) => "failed",
            (false, true) => "done",
            (false, false) => continue,
        };
        text += &format!("{stands:<8} {}\n", cell.label);
    }
    if text.is_empty() {
        return Err(Error::usage("no stage of this pipeline has a log yet").hint("`cwm run` makes them"));
    }
    print(text.trim_end())?;
    Ok(ExitCode::OK)
}
