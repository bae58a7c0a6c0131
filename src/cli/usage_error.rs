//! Errors of the command line itself.

use clap::Error;
use clap::error::ErrorKind;

use crate::output::print_error_as_json;

/// Prints a usage error with a hint, or the text of `--help`, and ends the program. With `--json` the error is JSON as well.
pub fn exit(error: &Error) -> ! {
    let _ = error.print();
    if !error.use_stderr() {
        std::process::exit(error.exit_code());
    }
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let is_before_command = error.kind() == ErrorKind::UnknownArgument && words[0].starts_with('-');
    let hint = is_before_command.then_some("options stand after the command: `cwm COMMAND [OPTIONS]`");
    if let Some(hint) = hint {
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
