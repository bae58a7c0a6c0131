//! Errors of the command line itself.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::output::print_error_as_json;

/// Commands of earlier versions and of other programs, and what they are here.
const RENAMED: [(&str, &str); 23] = [
    ("watch", "run --watch"),
    ("dag", "status --graph"),
    ("tensorboard", "log --tensorboard DIR"),
    ("path", "show --path STAGE"),
    ("take", "accept STAGE --files FILE"),
    ("pin", "lock"),
    ("verify", "store verify"),
    ("gc", "store gc"),
    ("du", "store du"),
    ("ls", "store ls"),
    ("tag", "store tag"),
    ("import", "model import"),
    ("track", "model track"),
    ("parity", "model parity"),
    ("devices", "model devices"),
    ("schema", "util schema"),
    ("completions", "util completions"),
    ("man", "util man"),
    ("graph", "status --graph"),
    ("exp", "runs"),
    ("metrics", "runs"),
    ("repro", "run"),
    ("resume", "run"),
];

/// Prints a usage error with a hint, or the text of `--help`, and ends the program. With `--json` the error is JSON as well.
pub fn exit(error: &Error) -> ! {
    let renamed = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => RENAMED.iter().find(|(old, _)| old == word),
        _ => None,
    };
    match renamed {
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
