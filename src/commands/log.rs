//! `cwm log`: the log of the last run of a stage, also while it runs.

mod follow;
mod tensorboard;

use std::io::IsTerminal;
use std::path::Path;

use serde_json::json;

use crate::cli::LogArguments;
use crate::output::{is_json, print, print_json, print_result, reject_json_with};
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode, strip_ansi};
use cwm_engine::{KeyStatus, describe_unread_pipe};

/// Runs `cwm log`: prints the log of a run that failed or is running, else that of the recorded result; without a stage, it lists
/// the cells that have a log.
///
/// # Errors
/// There is no log, or it cannot be read.
pub fn run(store: Option<&Path>, mut arguments: LogArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.stages)?;
    if let Some(folder) = &arguments.tensorboard {
        return tensorboard::run(store, &arguments, folder);
    }
    if arguments.follow {
        reject_json_with("--follow")?;
    }
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    match &arguments.stages[..] {
        [stage] if arguments.follow => follow::run(&workspace, workspace.cell(stage)?),
        [stage] => show(&workspace, stage),
        [] if !arguments.follow => list(&workspace),
        [] => Err(Error::usage("`--follow` needs a stage").hint("`cwm log` lists those that have a log")),
        [_, other, ..] => Err(Error::usage(format!("one log at a time: `{other}` is a second stage"))),
    }
}

fn show(workspace: &Workspace, stage: &str) -> Result<ExitCode, Error> {
    let index = workspace.cell(stage)?;
    let cache_status = workspace.cache_status()?;
    let Some((path, _)) = workspace.last_log(&cache_status, index)? else {
        return Err(Error::usage(match &cache_status.states[index] {
            KeyStatus::Cached(record) if record.log.is_some() => format!("the log of {stage} is not in the store"),
            KeyStatus::Cached(_) => format!("{stage} wrote no log"),
            KeyStatus::Absent(_) => format!("{stage} has no log: it has not run"),
            KeyStatus::KeyUnknown => format!("{stage} has not run: it waits for stages that it depends on"),
            KeyStatus::PipeUnread(path) => describe_unread_pipe(path),
            KeyStatus::Unreadable(error) => error.message.clone(),
        }));
    };
    let bytes = std::fs::read(&path).map_err(|error| Error::io("read the log", &path, error))?;
    let text = String::from_utf8_lossy(&bytes);
    if is_json() {
        let label = &workspace.plan.cells[index].label;
        print_json(&json!({ "label": label, "path": path.display().to_string(), "text": text }))?;
    } else if std::io::stdout().is_terminal() {
        print(&text.lines().map(strip_ansi).collect::<Vec<_>>().join("\n"))?;
    } else {
        print(&text)?;
    }
    Ok(ExitCode::OK)
}

fn list(workspace: &Workspace) -> Result<ExitCode, Error> {
    let cache_status = workspace.cache_status()?;
    let mut rows = Vec::new();
    for (index, cell) in workspace.plan.cells.iter().enumerate() {
        if let Some((_, state)) = workspace.last_log(&cache_status, index)? {
            rows.push((&cell.label, state));
        }
    }
    if rows.is_empty() && !is_json() {
        return Err(Error::usage("no stage of this pipeline has a log yet").hint("`cwm run` writes them"));
    }
    let json: Vec<_> = rows.iter().map(|(label, state)| json!({ "label": label, "state": state })).collect();
    print_result(&json, || rows.iter().map(|(label, state)| format!("{state:<8} {label}\n")).collect())?;
    Ok(ExitCode::OK)
}
