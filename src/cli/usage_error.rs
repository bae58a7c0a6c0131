//! Errors of the command line itself.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Error};

use super::Cli;
use crate::output::print_error_as_json;
use cwm_core::shell_quote;

/// Prints a usage error with a hint, or the text of `--help`, and ends the program. With `--json` the error is JSON as well.
pub fn exit(error: &Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let hint = (error.kind() == ErrorKind::UnknownArgument).then(|| after_command(&words)).flatten();
    let _ = error.print();
    if let Some(hint) = &hint {
        eprintln!("hint: {hint}");
    }
    if words.iter().any(|word| word == "--json") {
        // The rest of clap's message is the usage.
        let text = error.to_string();
        let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ").trim();
        let error = cwm_core::Error::usage(message);
        print_error_as_json(&hint.into_iter().fold(error, cwm_core::Error::hint), false);
    }
    std::process::exit(error.exit_code());
}

/// Returns the right order of words where options stand before the command.
fn after_command(words: &[OsString]) -> Option<String> {
    let commands: Vec<String> = Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let at =
        words.iter().position(|word| word.to_str().is_some_and(|word| commands.iter().any(|name| name == word)))?;
    let is_ours = words.first()?.to_str()?.starts_with('-');
    let typed = |words: &[OsString]| -> String {
        words.iter().map(|word| format!(" {}", shell_quote(&word.to_string_lossy()))).collect()
    };
    let (before, command, after) = (typed(&words[..at]), typed(&words[at..=at]), typed(&words[at + 1..]));
    is_ours.then(|| format!("options stand after the command: `cwm{command}{before}{after}`"))
}
