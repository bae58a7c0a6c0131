//! `cwm model`: imports, tests and follows models, and lists devices for them.

pub mod devices;
mod import;
mod parity;
mod track;

use std::path::Path;

use crate::cli::ModelCommand;
use cwm_core::{Error, ExitCode};

/// Runs a command of `cwm model`.
///
/// # Errors
/// Those of the command.
pub fn run(store: Option<&Path>, command: &ModelCommand) -> Result<ExitCode, Error> {
    match command {
        ModelCommand::Import(arguments) => import::run(arguments),
        ModelCommand::Track(arguments) => track::run(store, arguments),
        ModelCommand::Parity(arguments) => parity::run(arguments),
        ModelCommand::Devices => devices::run(),
    }
}
