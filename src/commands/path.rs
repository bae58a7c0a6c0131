//! `cwm path`: where an output lies.

use std::path::Path;

use crate::cli::PathArguments;
use crate::commands::{Workspace, print};
use crate::engine::output_of;
use crate::error::Error;
use crate::exit_code::ExitCode;

/// Runs `cwm path`.
///
/// # Errors
/// There is no such output, or it is not made yet.
pub fn run(store: Option<&Path>, arguments: &PathArguments) -> Result<ExitCode, Error> {
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let (index, port) = workspace.output(&arguments.source)?;
    let survey = workspace.survey()?;
    let record = workspace.made(&arguments.source, &survey.states[index])?;
    let path = workspace.store.path_of(output_of(record, &port)?, &workspace.files)?;
    print(&path.to_string_lossy())?;
    Ok(ExitCode::OK)
}
