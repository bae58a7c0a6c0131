//! `cwm store verify`: rehashes the objects of the store.

use std::path::Path;

use cwm_contract::amount;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::VerifyArguments;
use crate::commands::locked_results::{lock_of_run, locked_records};
use crate::hints;
use crate::locate::{open_existing_store, pipeline_file};
use crate::output::{is_json, print_note, print_result};
use cwm_core::{Error, ExitCode, plural, shell_quote};
use cwm_gc::selection;
use cwm_pipeline::plan::set_values;
use cwm_store::VerifyReport;

/// Runs `cwm store verify`. Damaged files are quarantined; a run that needs them makes them again.
///
/// # Errors
/// The store cannot be read.
pub fn run(store: Option<&Path>, arguments: &VerifyArguments) -> Result<ExitCode, Error> {
    hints::record_options(store, arguments.pipeline.file.as_deref(), &arguments.pipeline.sets);
    let store = open_existing_store(store, arguments.pipeline.file.as_deref())?;
    let style = ProgressStyle::with_template(
        "{bar:30} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left",
    )
    .expect("the template is well-formed");
    // Shown on a terminal only.
    let bar = ProgressBar::new(0).with_style(style);
    let progress = |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    };
    let report = if arguments.stages.is_empty() {
        let mut report = store.verify(None, progress)?;
        report.findings.extend(cwm_gc::check(&store)?);
        report.findings.sort_by(|a, b| a.path.cmp(&b.path));
        report
    } else {
        let file = pipeline_file(arguments.pipeline.file.as_deref())?;
        let lock = lock_of_run(&file, &set_values(&arguments.pipeline.sets))?;
        let mut results = locked_records(&store, &lock)?;
        let selected = selection::stages(&arguments.stages, results.iter().map(|record| &record.label))?;
        results.retain(|record| selection::matches_selection(&record.label, &selected));
        store.verify(Some(&results), progress)?
    };
    bar.finish_and_clear();
    print_result(&report, || text(&report))?;
    if !report.findings.is_empty() && !is_json() {
        let stages: String = report.incomplete.iter().map(|stage| format!(" {}", shell_quote(stage))).collect();
        let rest = "`cwm store gc --delete` removes other results; remove files that are not cwm's by hand";
        print_note(&format!("hint: `cwm run{stages}` computes what is needed; {rest}"));
    }
    Ok(if report.findings.is_empty() { ExitCode::OK } else { ExitCode::DAMAGED })
}

fn text(report: &VerifyReport) -> String {
    let findings = report.findings.iter().map(|finding| format!("{finding}\n"));
    let notes = report.notes.iter().map(|note| format!("note: {note}\n"));
    let outcome = match report.findings.len() as u64 {
        0 => "all intact".to_owned(),
        count => plural(count, "finding", "findings"),
    };
    let (objects, size) = (plural(report.objects, "object", "objects"), amount::format_bytes(report.bytes));
    let records = plural(report.records, "record", "records");
    let summary = format!("{objects}, {size} checked; {records}, {outcome}");
    findings.chain(notes).chain([summary]).collect()
}
