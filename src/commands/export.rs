//! `cwm export`: copy an output to where people want it, or hand it out in a form that other programs read.

use std::path::Path;

use crate::cli::ExportArguments;
use crate::commands::{Workspace, expand, print};
use crate::engine::output_of;
use crate::error::Error;
use crate::exit_code::ExitCode;

/// Runs `cwm export`.
///
/// # Errors
/// The output is not made yet, has no such form, or the destination cannot be written.
pub fn run(store: Option<&Path>, arguments: &ExportArguments) -> Result<ExitCode, Error> {
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let (index, port) = workspace.output(&arguments.source)?;
    let survey = workspace.survey()?;
    let record = workspace.made(&arguments.source, &survey.states[index])?;
    let output = output_of(record, &port)?;
    if arguments.is_stream() {
        expand::to_stdout(&workspace, output, arguments)?;
        return Ok(ExitCode::OK);
    }
    let exported = if arguments.labels || arguments.limit.is_some() {
        expand::to_folder(&workspace, output, arguments)?
    } else {
        workspace.store.export(&port, output, &arguments.destination, &workspace.files)?
    };
    print(&exported.path.to_string_lossy())?;
    Ok(ExitCode::OK)
}
