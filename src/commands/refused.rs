//! What went wrong, for `--json`: one line, so that it fits among the events of a run.

use serde::Serialize;

use cwm_core::diagnostics::Report;
use cwm_core::error::Error;

#[derive(Serialize)]
struct Refused {
    /// Among the events of a run: `refused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    /// Every fault of a pipeline, in the order of the text; else the one error.
    errors: Vec<Report>,
    /// What the process ends with.
    exit_code: u8,
}

/// Prints an error to standard output; `is_event` of a run, whose events stand there. Where that is closed or full, standard
/// error has told it.
pub fn print(error: &Error, is_event: bool) {
    let mut errors = error.diagnostics.as_ref().map(|diagnostics| diagnostics.reports()).unwrap_or_default();
    if !error.message.is_empty() {
        let hint = (!error.hints.is_empty()).then(|| error.hints.join("; "));
        errors.push(Report { message: error.message.clone(), at: None, related: Vec::new(), hint });
    }
    let refused = Refused { event: is_event.then_some("refused"), errors, exit_code: error.exit_code().0 };
    let _ = serde_json::to_string(&refused).map(|line| super::print(&line));
}
