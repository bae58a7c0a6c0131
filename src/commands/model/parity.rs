//! `cwm model parity`: compares our models with fixtures of the authors' code.

use cwm_contract::{ParityOutcome, ParityRequest};

use crate::cli::ParityArguments;
use crate::output::{is_json, print};
use crate::registry::require_model_tools;
use cwm_core::{Error, ExitCode, plural};

/// Runs `cwm model parity`: prints a line for each file, then their counts on standard error.
///
/// # Errors
/// There is nothing to compare, or no such family, option or device; or this build has no models.
pub fn run(arguments: &ParityArguments) -> Result<ExitCode, Error> {
    let request = ParityRequest {
        paths: arguments.files.clone(),
        family: arguments.family.clone(),
        options: arguments.options.iter().cloned().collect(),
        device: arguments.device.clone(),
    };
    let mut outcomes = Vec::new();
    let mut printed = Ok(());
    require_model_tools()?.parity(&request, &mut |comparison| {
        outcomes.push(comparison.outcome());
        comparison.notes.iter().for_each(|note| eprintln!("note: {}: {note}", comparison.name));
        let line = if is_json() { comparison.to_json().to_string() } else { comparison.to_string() };
        if printed.is_ok() {
            printed = print(&line);
        }
    })?;
    printed?;
    let (summary, exit_code) = summarize(&outcomes);
    eprintln!("{summary}");
    Ok(exit_code)
}

/// Counts the outcomes. Succeeds only if at least one file was compared and all are within the tolerances.
fn summarize(outcomes: &[ParityOutcome]) -> (String, ExitCode) {
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    let within = count(ParityOutcome::Within);
    let mut summary = format!("{}: {within} within the tolerances", plural(outcomes.len() as u64, "file", "files"));
    let others = [(ParityOutcome::Beyond, "outside them"), (ParityOutcome::Failed, "could not be compared")];
    for (outcome, description) in others {
        if count(outcome) > 0 {
            summary += &format!(", {} {description}", count(outcome));
        }
    }
    let is_sound = within > 0 && within == outcomes.len();
    (summary, if is_sound { ExitCode::OK } else { ExitCode::DISPARITY })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ParityOutcome::{Beyond, Failed, Within};

    #[test]
    fn only_what_is_compared_and_within_is_sound() {
        assert_eq!(summarize(&[Within]), ("1 file: 1 within the tolerances".to_owned(), ExitCode::OK));
        for outcomes in [&[][..], &[Within, Beyond], &[Within, Failed]] {
            assert_eq!(summarize(outcomes).1, ExitCode::DISPARITY, "{outcomes:?}");
        }
        let expected = "3 files: 1 within the tolerances, 1 outside them, 1 could not be compared";
        assert_eq!(summarize(&[Within, Beyond, Failed]).0, expected);
    }
}
