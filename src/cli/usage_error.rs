//! Errors of the command line itself.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};

use super::Cli;
use crate::output::print_error_as_json;

/// Prints a usage error with a hint, or the text of `--help`, and ends the program. With `--json` the error is JSON as well. If it
/// `is_from_environment`, the command line alone is right.
pub fn exit(error: &Error, is_from_environment: bool) -> ! {
    let renamed = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => new_name(word).map(|new| (word, new)),
        _ => None,
    };
    match &renamed {
        // Without clap's guess at a similar name.
        Some((old, _)) => eprintln!("error: there is no command `{old}`"),
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
    let hint = match renamed {
        Some((_, new)) => Some(format!("use `cwm {new}`")),
        None if is_from_environment => {
            Some("the value is that of CWM_STORE or CWM_DEVICE in the environment: correct or unset it".to_owned())
        }
        None => is_before_command.then(|| "options stand after the command: `cwm COMMAND [OPTIONS]`".to_owned()),
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

/// Returns the name here of a command of an earlier version or of another program; or of one that is in a group now.
fn new_name(old: &str) -> Option<String> {
    let new = match old {
        "watch" => "run --watch",
        "dag" | "graph" => "status --graph",
        "tensorboard" => "log --tensorboard DIR",
        "path" => "show --path STAGE",
        "take" => "accept STAGE --files FILE",
        "pin" => "lock",
        "exp" | "metrics" => "runs",
        "repro" | "resume" => "run",
        _ => {
            let program = Cli::command();
            let group = program.get_subcommands().find(|group| group.find_subcommand(old).is_some())?;
            return Some(format!("{} {old}", group.get_name()));
        }
    };
    Some(new.to_owned())
}
