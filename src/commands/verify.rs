//! `cwm verify`: is everything in the store what it says it is?

use std::path::Path;

use cwm_contract::amount;

use crate::cli::VerifyArguments;
use crate::commands::{pipeline_file, print, print_json};
use crate::error::Error;
use crate::events::plural;
use crate::exit_code::ExitCode;
use crate::store::Store;

/// Runs `cwm verify`. Damaged files are set aside; a run that needs them makes them again.
///
/// # Errors
/// The store cannot be read.
pub fn run(store: Option<&Path>, arguments: &VerifyArguments) -> Result<ExitCode, Error> {
    let root = match store {
        Some(root) => root.to_owned(),
        None => {
            let file = pipeline_file(arguments.pipeline.file.as_deref())?;
            file.parent().unwrap_or(Path::new(".")).join("artifacts")
        }
    };
    let store = Store::at(&root)?;
    let report = store.verify(|_| {})?;
    if arguments.json {
        print_json(&report)?;
    } else {
        let mut text = String::new();
        for finding in &report.findings {
            let aside = finding.quarantined.as_ref().map(|path| format!(" (set aside in {})", path.display()));
            text += &format!("{} {}{}\n", finding.path.display(), finding.what, aside.unwrap_or_default());
        }
        for note in &report.notes {
            text += &format!("note: {note}\n");
        }
        text += &format!(
            "{}, {} checked; {}, {}",
            plural(report.objects, "object", "objects"),
            amount::in_words(report.bytes),
            plural(report.actions, "action", "actions"),
            if report.findings.is_empty() {
                "all sound".to_owned()
            } else {
                plural(report.findings.len() as u64, "finding", "findings")
            }
        );
        print(&text)?;
    }
    Ok(if report.findings.is_empty() { ExitCode::OK } else { ExitCode::DAMAGED })
}
