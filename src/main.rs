//! The command line of cwm.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    ExitCode::from(cwm::commands::main(cwm::cli::Cli::parse()).0)
}
