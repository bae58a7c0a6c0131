//! `cwm store`: inspects, verifies and cleans the store.

mod du;
mod gc;
mod ls;
mod tag;
mod verify;

use std::path::Path;

use crate::cli::StoreCommand;
use cwm_core::{Error, ExitCode};

/// Runs a command of `cwm store`.
///
/// # Errors
/// Those of the command.
pub fn run(store: Option<&Path>, command: &StoreCommand) -> Result<ExitCode, Error> {
    match command {
        StoreCommand::Ls(arguments) => ls::run(store, arguments),
        StoreCommand::Du(arguments) => du::run(store, arguments),
        StoreCommand::Gc(arguments) => gc::run(store, arguments),
        StoreCommand::Verify(arguments) => verify::run(store, arguments),
        StoreCommand::Tag(arguments) => tag::run(store, arguments),
    }
}
