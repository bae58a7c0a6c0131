//! `cwm export`: copies an output to a folder, or converts it for other programs.

use std::path::Path;

use serde_json::json;

use crate::cli::ExportArguments;
use crate::commands::expand;
use crate::output::{is_json, print, print_json, reject_json_with};
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode};
use cwm_engine::{KeyStatus, output_of};
use cwm_history::provenance::{self, Disclosure};

/// Runs `cwm export`.
///
/// # Errors
/// The output is not made yet, has no such form, or the destination cannot be written.
pub fn run(store: Option<&Path>, arguments: &ExportArguments) -> Result<ExitCode, Error> {
    if arguments.is_stream() {
        reject_json_with("-")?;
    }
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let (index, port) = workspace.output(&arguments.source)?;
    let cache_status = workspace.cache_status()?;
    let record = workspace.complete_result(&arguments.source, &cache_status, index)?;
    let output = output_of(record, &port)?;
    if arguments.is_stream() {
        expand::to_stdout(&workspace, output, arguments)?;
        return Ok(ExitCode::OK);
    }
    if let Some((problem, hint)) = workspace.store.export_preflight(&arguments.destination) {
        return Err(Error::usage(problem).hint(hint));
    }
    let exported = if arguments.labels || arguments.limit.is_some() {
        expand::to_folder(&workspace, output, arguments)?
    } else {
        let record = |index: usize| match &cache_status.states[index] {
            KeyStatus::Cached(record) => Some(record.as_ref()),
            _ => None,
        };
        let disclosure = if arguments.names { Disclosure::Full } else { Disclosure::Public };
        let added = provenance::files(&workspace.store, &workspace.plan, index, &port, disclosure, record)?;
        workspace.store.export(&port, output, &arguments.destination, &added, &workspace.files)?
    };
    let path = exported.path.to_string_lossy().into_owned();
    if is_json() {
        let label = &workspace.plan.cells[index].label;
        print_json(&json!({ "label": label, "output": port, "path": path, "replaced": exported.replaced }))?;
        return Ok(ExitCode::OK);
    }
    if exported.replaced {
        eprintln!("replaced what was exported there before");
    }
    print(&path)?;
    Ok(ExitCode::OK)
}
