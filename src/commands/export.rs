//! `cwm export`: copy an output to where people want it.

use std::path::Path;

use crate::cli::ExportArguments;
use crate::commands::{Workspace, print};
use crate::engine::output_of;
use crate::error::Error;
use crate::exit_code::ExitCode;

/// Runs `cwm export`.
///
/// # Errors
/// The output is not made yet, or the destination cannot be written.
pub fn run(store: Option<&Path>, arguments: &ExportArguments) -> Result<ExitCode, Error> {
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let (index, port) = workspace.output(&arguments.source)?;
    let survey = workspace.survey()?;
    let record = workspace.made(&arguments.source, &survey.states[index])?;
    let output = output_of(record, &port)?;
    let exported = workspace.store.export(&port, output, &arguments.destination, &workspace.files)?;
    print(&exported.path.to_string_lossy())?;
    Ok(ExitCode::OK)
}
