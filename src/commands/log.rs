//! `cwm log`: what a stage wrote when it last ran, or writes while it runs.

mod follow;
mod list;

use std::io::IsTerminal;
use std::path::Path;

use serde::Serialize;

use crate::cli::LogArguments;
use crate::output::{is_json, print, print_json, reject_json_with};
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode, strip_ansi};
use cwm_engine::{KeyStatus, describe_unread_pipe};

/// The log of a cell, for `--json`.
#[derive(Serialize)]
struct Written {
    /// The cell.
    label: String,
    /// The file.
    path: String,
    /// What stands in it; what is no UTF-8 is replaced.
    text: String,
}

/// Runs `cwm log`: the log of a run that failed or is under way, else that of the recorded result; without a stage, what
/// logs there are.
///
/// # Errors
/// There is no log, or it cannot be read.
pub fn run(store: Option<&Path>, arguments: &LogArguments) -> Result<ExitCode, Error> {
    if arguments.follow {
        reject_json_with("--follow")?;
    }
    let mut workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline())?;
    let Some(stage) = &arguments.stage else {
        if arguments.follow {
            return Err(Error::usage("which stage is to be followed?").hint("`cwm log` lists those that have a log"));
        }
        return list::run(&mut workspace);
    };
    let index = workspace.cell(stage)?;
    if arguments.follow {
        return follow::run(&mut workspace, index);
    }
    let cache_status = workspace.cache_status()?;
    let path = match &cache_status.states[index] {
        KeyStatus::Cached(record) => {
            let of_attempt = workspace.store.work(&record.key).log();
            match &record.log {
                // It runs again, or failed when it was forced to.
                _ if of_attempt.exists() => of_attempt,
                Some(digest) => workspace.store.object_path(digest),
                None => return Err(Error::usage(format!("{stage} wrote no log"))),
            }
        }
        KeyStatus::Absent(resolved) => workspace.store.work(&resolved.components.key()).log(),
        KeyStatus::KeyUnknown => {
            return Err(Error::usage(format!("{stage} has not run: it waits for what comes before it")));
        }
        KeyStatus::PipeUnread(path) => return Err(Error::usage(describe_unread_pipe(path))),
        KeyStatus::Unreadable(error) => return Err(Error::usage(error.message.clone())),
    };
    match std::fs::read(&path) {
        Ok(bytes) if is_json() => print_json(&Written {
            label: workspace.plan.cells[index].label.to_string(),
            path: path.display().to_string(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        })?,
        Ok(bytes) if std::io::stdout().is_terminal() => {
            let text = String::from_utf8_lossy(&bytes);
            print(&text.lines().map(strip_ansi).collect::<Vec<_>>().join("\n"))?;
        }
        Ok(bytes) => print(&String::from_utf8_lossy(&bytes))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::usage(format!("{stage} has no log: it has not run")));
        }
        Err(error) => return Err(Error::io("read the log", &path, error)),
    }
    Ok(ExitCode::OK)
}
