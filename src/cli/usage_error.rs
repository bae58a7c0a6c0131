//! Errors of the command line itself.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::output::print_error_as_json;

/// Commands of earlier versions, and what they are now.
const RENAMED: [(&str, &str); 18] = [
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
];

/// Prints a usage error with a hint, or the text of `--help`, and ends the program. With `--json` the error is JSON as well.
pub fn exit(error: &Error) -> ! {
    let _ = error.print();
    if !error.use_stderr() {
        std::process::exit(error.exit_code());
    }
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let is_before_command = error.kind() == ErrorKind::UnknownArgument && words[0].starts_with('-');
    let renamed = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => RENAMED.iter().find(|(old, _)| old == word),
        _ => None,
    };
    let hint = match renamed {
        Some((_, new)) => Some(format!("it is `cwm {new}` now")),
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
