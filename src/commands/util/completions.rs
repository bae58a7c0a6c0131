//! `cwm util completions`: prints the script by which a shell completes words of `cwm` command lines.

use clap_complete::Shell;
use clap_complete::env::Shells;
use serde_json::json;

use crate::cli::COMPLETION_VARIABLE;
use crate::output::{is_json, print, print_json};
use cwm_core::Error;

/// The function that joins bash's words, which it breaks at `=` and `:`.
const BASH_FUNCTION: &str = include_str!("completions.bash");

/// Runs `cwm util completions`: prints a few lines by which the shell runs this program whenever it completes a word, so that the
/// stages and cells of the pipeline at hand are among the candidates.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(shell: Shell) -> Result<(), Error> {
    let name = shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&name).ok_or_else(|| Error::internal(format!("no completions for {name}")))?;
    let mut script = Vec::new();
    let written = shell.write_registration(COMPLETION_VARIABLE, "cwm", "cwm", "cwm", &mut script);
    written.map_err(|error| Error::internal(error.to_string()))?;
    let mut script = String::from_utf8_lossy(&script).trim().to_owned();
    if name == "bash" {
        script = format!("{BASH_FUNCTION}{}", script.replace("-F _clap_complete_cwm", "-F _cwm"));
    }
    if is_json() { print_json(&json!({ "shell": name, "script": script })) } else { print(&script) }
}
