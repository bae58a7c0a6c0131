//! A command line that is none: told as `--json` asks for it, and with what was probably meant.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Error};

use super::Cli;
use crate::commands::refused;
use cwm_core::text::shell_quote;

/// Tells what is wrong with the command line, or what it asked to be told (`--help`), and ends the program.
pub fn end(error: &Error) -> ! {
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
        // The rest of what clap says is usage.
        let text = error.to_string();
        let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ").trim();
        let error = cwm_core::error::Error::usage(message);
        refused::print(&hint.into_iter().fold(error, cwm_core::error::Error::hint), false);
    }
    std::process::exit(error.exit_code());
}

/// Options that stand before the command, after which they belong: how it should be typed.
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
