//! Prints data and events to standard output, and errors to standard error.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write, stderr, stdout};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde_json::json;

use crate::hints::with_options;
use cwm_core::{Error, escape_controls_in_lines};

/// Prints data to standard output.
///
/// # Errors
/// Standard output cannot be written, for example on a full disk. A closed pipe ends the program before that.
pub fn print(text: &str) -> Result<(), Error> {
    write(text).map_err(|error| Error::system(format!("cannot write to standard output: {error}")))
}

fn write(text: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{text}{end}").and_then(|()| out.flush())
}

/// Prints text for people. Control characters are escaped, since records may come from anywhere.
///
/// # Errors
/// As [`print`].
pub fn print_text(text: &str) -> Result<(), Error> {
    print(&escape_controls_in_lines(text))
}

/// True if this process prints JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Sets whether commands print JSON: the option `--json`.
pub fn set_json(is_json: bool) {
    IS_JSON.store(is_json, Ordering::Relaxed);
}

/// Returns true if commands print JSON.
pub fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// Rejects `--json` together with an option that sets another form of output.
///
/// # Errors
/// Both are on the command line.
pub fn reject_json_with(option: &str) -> Result<(), Error> {
    if is_json() { Err(Error::usage(format!("`--json` cannot be used with `{option}`"))) } else { Ok(()) }
}

/// Prints the answer of a command: with `--json` the value, else the text for people.
///
/// # Errors
/// As [`print`].
pub fn print_result(value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Error> {
    if is_json() { print_json(value) } else { print_text(&text()) }
}

/// Prints a value as JSON to standard output.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::internal(error.to_string()))?;
    print(&text)
}

/// Lays out rows in columns, each as wide as its widest cell, with two spaces between them.
pub fn columns<R: AsRef<[String]>>(rows: impl IntoIterator<Item = R>) -> String {
    let rows: Vec<R> = rows.into_iter().collect();
    let widest = |column: usize| rows.iter().map(|row| row.as_ref()[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, |row| row.as_ref().len())).map(widest).collect();
    let line = |row: &R| {
        let cells: String = row.as_ref().iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
        cells.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Returns the width of the terminal that standard output is; nothing if it is none.
pub fn terminal_width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(stdout())?;
    Some(usize::from(width.0)).filter(|width| *width > 0)
}

/// Prints warnings about files on standard error.
pub fn print_warnings(problems: impl IntoIterator<Item = impl Display>) {
    for problem in problems {
        eprintln!("warning: {}", escape_controls_in_lines(&problem.to_string()));
    }
}

/// Prints a hint or note on standard error.
pub fn print_note(text: &str) {
    eprintln!("{}", escape_controls_in_lines(&with_options(text)));
}

/// Prints an error and its hints.
pub fn print_error(error: &Error) {
    let mut err = stderr().lock();
    if let Some(diagnostics) = &error.diagnostics {
        let width = terminal_size::terminal_size_of(stderr()).map_or(120, |(width, _)| usize::from(width.0));
        let _ = writeln!(err, "{}", diagnostics.render(has_colour(&stderr()), width));
    }
    if !error.message.is_empty() {
        let _ = writeln!(err, "error: {}", escape_controls_in_lines(&error.message));
    }
    for hint in &error.hints {
        let _ = writeln!(err, "hint: {}", escape_controls_in_lines(&with_options(hint)));
    }
}

/// Returns true if a stream is a terminal that obeys control sequences, which one without abilities (`TERM=dumb`) prints.
pub fn supports_escapes(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("TERM").is_none_or(|name| name != "dumb")
}

/// Returns true if a stream is a terminal with colours, and `NO_COLOR` is not set.
pub fn has_colour(stream: &impl IsTerminal) -> bool {
    supports_escapes(stream) && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints an error to standard output as one line of JSON, which fits among the events of a run (`is_event`). A closed or full
/// standard output is no error here, since standard error has the message.
pub fn print_error_as_json(error: &Error, is_event: bool) {
    let mut errors = error.diagnostics.as_ref().map(|diagnostics| diagnostics.reports()).unwrap_or_default();
    if !error.message.is_empty() {
        let hint = (!error.hints.is_empty()).then(|| with_options(&error.hints.join("; ")));
        errors.push(json!({ "message": error.message, "at": null, "related": [], "hint": hint }));
    }
    let mut line = json!({ "errors": errors, "exit_code": error.exit_code().0 });
    if is_event {
        line["event"] = "error".into();
    }
    let _ = print(&line.to_string());
}

/// The first error of an event that could not be printed.
static FIRST_ERROR: OnceLock<String> = OnceLock::new();

/// Prints an event as one line of JSON. The first error is kept for [`event_error`], and the run continues, since a stage should
/// not fail for it. A reader that closes the pipe is no error.
pub fn print_event(event: &impl Serialize) {
    let Ok(line) = serde_json::to_string(event) else { return };
    if let Err(error) = write(&line)
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        FIRST_ERROR.get_or_init(|| error.to_string());
    }
}

/// Returns the error that keeps events from standard output, if there was one.
pub fn event_error() -> Option<Error> {
    let error = FIRST_ERROR.get()?;
    let problem = format!("cannot write to standard output: {error}; events are missing there");
    Some(Error::system(problem).hint("what ran is recorded: the same command finds it cached"))
}
