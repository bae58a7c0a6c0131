//! `cwm util`: prints or writes what describes the program to editors, shells and people.

mod completions;
mod man;
mod schema;

use crate::cli::UtilCommand;
use cwm_core::{Error, ExitCode};

/// Runs a command of `cwm util`.
///
/// # Errors
/// Those of the command.
pub fn run(command: &UtilCommand) -> Result<ExitCode, Error> {
    match command {
        UtilCommand::Schema(arguments) => schema::run(arguments),
        UtilCommand::Completions(arguments) => completions::run(arguments),
        UtilCommand::Man(arguments) => man::run(arguments),
    }
}
