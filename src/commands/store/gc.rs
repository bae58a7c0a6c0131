//! `cwm store gc`: deletes what nothing names any more.

use std::path::Path;

use cwm_contract::amount;
use jiff::Timestamp;

use crate::adapters::SLURM_JOBS;
use crate::cli::GcArguments;
use crate::locate::open_existing_store;
use crate::output::{columns, print_note, print_result};
use cwm_core::{Error, list_some, plural};
use cwm_gc::{GcOptions, GcReport, Retention};
use cwm_store::Store;

/// Runs `cwm store gc`. Records stay: `cwm why` needs them.
///
/// # Errors
/// The store cannot be read, or, to delete, written; or something in it is damaged, so that the results that it names are not
/// known.
pub fn run(store: Option<&Path>, arguments: &GcArguments) -> Result<(), Error> {
    let store = open_existing_store(store, arguments.file.as_deref())?;
    if let Some(lock) = &arguments.forget {
        if !cwm_gc::forget(&store, lock)? {
            return Err(Error::usage(format!("the store has no record of the lock file {}", lock.display()))
                .hint("`cwm store gc --json` lists those that it has"));
        }
        if lock.exists() {
            let effect = "until its pipeline runs again, `cwm store gc --delete` deletes what only it names";
            print_note(&format!("warning: {} still exists; {effect}", lock.display()));
        }
    }
    let options = GcOptions { keep: arguments.keep, max_size: arguments.max_size, sources: arguments.sources };
    let now = Timestamp::now();
    let plan = if arguments.delete && store.exists() {
        let users = users(&store)?;
        cwm_gc::collect(&store, &SLURM_JOBS, options, now, || eprintln!("waiting for users of the store{users}"))?
    } else {
        let _shared = store.lock_shared(|owner| eprintln!("waiting for the store: {owner}"))?;
        cwm_gc::plan(&store, &SLURM_JOBS, options, now)?
    };
    print_result(&plan.report, || text(&plan.report, plan.is_empty(), arguments))
}

/// Names the processes that a collection may wait for, as far as they are known.
fn users(store: &Store) -> Result<String, Error> {
    let mut users = Vec::new();
    for work in store.work_folders()? {
        users.extend(store.lock_owner(&work.key)?);
    }
    users.dedup();
    Ok(if users.is_empty() { String::new() } else { format!(": {}", list_some(users, 3)) })
}

fn text(report: &GcReport, is_empty: bool, arguments: &GcArguments) -> String {
    let stages = report.stages.iter();
    let stages = stages.map(|stage| (stage.stage.as_str(), stage.bytes, plural(stage.results, "result", "results")));
    let unfinished = "the work folder of a stage that did not finish";
    let work = report.work.iter().map(|work| (work.label.as_str(), work.bytes, unfinished.to_owned()));
    let others = [
        (report.unnamed_bytes, "content of interrupted runs"),
        (report.temporary_bytes, "left by interrupted writes"),
        (report.transfer_bytes, "of pushes and pulls that were not resumed for 14 days"),
        (report.quarantine_bytes, "moved to quarantine by `cwm store verify`, more than 30 days ago"),
        (report.garbage_bytes, "left over from an interrupted `cwm store gc`"),
    ];
    let others = others.into_iter().filter(|(bytes, _)| *bytes > 0).map(|(bytes, what)| ("", bytes, what.to_owned()));
    let rows = stages.chain(work).chain(others);
    let mut text =
        columns(rows.map(|(name, bytes, what)| [name.to_owned(), format!("{:>9}", amount::format_bytes(bytes)), what]));
    if report.retained_transfer_bytes > 0 {
        let bytes = amount::format_bytes(report.retained_transfer_bytes);
        text += &format!("note: {bytes} of interrupted pushes and pulls stay for 14 days: the next one resumes them\n");
    }
    for root in &report.roots {
        text += &root.note.as_ref().map(|note| format!("note: {} {note}\n", root.name)).unwrap_or_default();
    }
    let (removed, remaining) = (amount::format_bytes(report.bytes), amount::format_bytes(report.retained_bytes));
    let why: Vec<String> = report.retained_by_reason.iter().map(|(retention, bytes)| why(*retention, *bytes)).collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(", ")) };
    let roots = plural(report.roots.len() as u64, "root", "roots");
    text += &match (is_empty, arguments.delete) {
        (true, _) => format!("nothing to delete; {remaining} stay{why}; {roots}"),
        (false, true) => format!("deleted {removed}; {remaining} stay{why}; {roots}"),
        (false, false) => format!("{removed} to delete with `--delete`; {remaining} stay{why}; {roots}"),
    };
    if let Some(most) = arguments.max_size.filter(|most| report.retained_bytes > *most) {
        text += &format!("\nwhat must stay is more than {}", amount::format_bytes(most));
    }
    text
}

fn why(retention: Retention, bytes: u64) -> String {
    let bytes = amount::format_bytes(bytes);
    match retention {
        Retention::Root => format!("{bytes} that roots name"),
        Retention::External => format!("{bytes} external"),
        Retention::Recent => format!("{bytes} used lately"),
        Retention::Unprotected => format!("{bytes} within `--max-size`"),
    }
}
