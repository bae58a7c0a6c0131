//! `cwm show --path`: prints the path of an output in the store.

use serde_json::json;

use crate::output::{is_json, print, print_json};
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode};
use cwm_engine::output_of;

/// Runs `cwm show --path`.
///
/// # Errors
/// There is no such output, or it is not made yet.
pub fn run(workspace: &Workspace, source: &str) -> Result<ExitCode, Error> {
    let (index, port) = workspace.output(source)?;
    let cache_status = workspace.cache_status()?;
    let record = workspace.complete_result(source, &cache_status, index)?;
    let path = workspace.store.path_of(output_of(record, &port)?, &workspace.files)?;
    let path = path.to_string_lossy().into_owned();
    let answer = json!({ "label": workspace.plan.cells[index].label, "output": port, "path": path });
    let printed = if is_json() { print_json(&answer) } else { print(&path) };
    printed.map(|()| ExitCode::OK)
}
