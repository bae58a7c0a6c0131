//! Errors of the command line itself.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};

use super::Cli;
use crate::output::print_error_as_json;

/// Prints a usage error with a hint, or the text of `--help`, and ends the program. With `--json` the error is JSON as well. If it
/// `is_from_environment`, the command line alone is right.
pub fn exit(error: &Error, is_from_environment: bool) -> ! {
    let other = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => name_here(word).map(|here| (word, here)),
        _ => None,
    };
    match &other {
        // Without clap's guess at a similar name.
        Some((word, _)) => eprintln!("error: there is no command `{word}`"),
        None => _ = error.print(),
    }
    if !error.use_stderr() {
        std::process::exit(error.exit_code());
    }
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let first_word = words.iter().position(|word| !word.starts_with('-')).unwrap_or(words.len());
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => words.iter().position(|word| word == option),
        _ => None,
    };
    let is_before_command = error.kind() == ErrorKind::UnknownArgument && unknown.is_some_and(|at| at < first_word);
    let hint = match other {
        Some((_, here)) => Some(format!("use `cwm {here}`")),
        None if is_from_environment => {
            Some("the value is that of CWM_STORE or CWM_DEVICE in the environment: correct or unset it".to_owned())
        }
        None => is_before_command.then(|| "options come after the command: `cwm COMMAND [OPTIONS]`".to_owned()),
    };
    if let Some(hint) = &hint {
        eprintln!("hint: {hint}");
    }
    if words.iter().any(|word| word == "--json") {
        // The rest of clap's message is the usage.
        let text = error.to_string();
        let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ").trim();
        print_error_as_json(&hint.into_iter().fold(cwm_core::Error::usage(message), cwm_core::Error::hint), false);
    }
    std::process::exit(error.exit_code());
}

/// Returns the name here of a command of another program, or of one that is in a group.
fn name_here(other: &str) -> Option<String> {
    Some(match other {
        "dag" | "graph" => "status --graph".to_owned(),
        "exp" | "metrics" => "runs".to_owned(),
        "repro" | "resume" => "run".to_owned(),
        _ => {
            let program = Cli::command();
            let group = program.get_subcommands().find(|group| group.find_subcommand(other).is_some())?;
            format!("{} {other}", group.get_name())
        }
    })
}
