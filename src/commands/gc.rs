//! `cwm gc`: what nothing names any more, and letting it go.

use std::path::Path;

use cwm_contract::amount;
use jiff::Timestamp;
use serde::Serialize;

use crate::adapters::SlurmJobs;
use crate::cli::GcArguments;
use crate::locate::open_existing_store;
use crate::output::{print_json, print_text};
use cwm_core::{Error, ExitCode, list_some, plural};
use cwm_gc::{GcOptions, GcPlan, ReclaimedStage, Retention};
use cwm_store::Store;

/// Version of what `--json` prints.
const FORMAT: u32 = 1;

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    format: u32,
    /// True if it was deleted, or would be.
    deleted: bool,
    /// Bytes that go, all together.
    bytes: u64,
    /// Results whose files go, by stage, the most bytes first.
    stages: &'a [ReclaimedStage],
    /// Bytes of content that no record names: of interrupted runs.
    unnamed_bytes: u64,
    /// Work folders of stages that failed or were stopped long ago.
    work: Vec<Work<'a>>,
    /// Bytes that interrupted writes left.
    leftover_bytes: u64,
    /// Bytes of transfers with remotes that were interrupted long ago.
    transfer_bytes: u64,
    /// Bytes of those that were interrupted lately, and stay.
    staying_transfer_bytes: u64,
    /// Bytes that `cwm verify` set aside long ago.
    quarantine_bytes: u64,
    /// Bytes that an interrupted `cwm gc` had set aside.
    aside_bytes: u64,
    /// Bytes of results that stay, all together.
    staying_bytes: u64,
    /// Of these, by why they stay: `root`, `source`, `recent`, `free` (within `--max-size`).
    stays: std::collections::BTreeMap<Retention, u64>,
    /// What names results.
    roots: Vec<RootTold<'a>>,
}

#[derive(Serialize)]
struct Work<'a> {
    /// The stage, or its key where that cannot be told.
    label: &'a str,
    bytes: u64,
}

#[derive(Serialize)]
struct RootTold<'a> {
    /// The path of a lock file, `tag:NAME`, or a running stage.
    name: &'a str,
    /// How many results it names.
    results: usize,
    /// What is to be known of it, such as that its file is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

/// Runs `cwm gc`. Records stay: `cwm why` needs them.
///
/// # Errors
/// The store cannot be read, or, to delete, written; or something in it is damaged, so that what is wanted cannot be told.
pub fn run(store: Option<&Path>, arguments: &GcArguments) -> Result<ExitCode, Error> {
    let store = open_existing_store(store, arguments.file.as_deref())?;
    if let Some(lock) = &arguments.forget
        && !cwm_gc::forget(&store, lock)?
    {
        return Err(Error::usage(format!("the store has never seen {}", lock.display()))
            .hint("`cwm gc` lists the lock files that it has seen"));
    }
    let wish = GcOptions { keep: arguments.keep, max_size: arguments.max_size, sources: arguments.sources };
    let now = Timestamp::now();
    let collection = if arguments.delete && store.exists() {
        let users = users(&store)?;
        cwm_gc::collect(&store, &SlurmJobs, wish, now, |_| eprintln!("waiting for those who use the store{users}"))?
    } else {
        let _shared = store.lock_shared(|holder| eprintln!("waiting for the store: {holder}"))?;
        cwm_gc::plan(&store, &SlurmJobs, wish, now)?
    };
    if arguments.json {
        print_json(&answer(&collection, arguments.delete))?;
    } else {
        print_text(&text(&collection, arguments))?;
    }
    Ok(ExitCode::OK)
}

/// Whom a collection may wait for, as far as it can be told.
fn users(store: &Store) -> Result<String, Error> {
    let mut users = Vec::new();
    for work in store.work_folders()? {
        users.extend(store.holder(work.key())?.map(|holder| holder.to_string()));
    }
    users.dedup();
    Ok(if users.is_empty() { String::new() } else { format!(": {}", list_some(users, 3)) })
}

fn answer(collection: &GcPlan, deleted: bool) -> Answer<'_> {
    Answer {
        format: FORMAT,
        deleted,
        bytes: collection.bytes(),
        stages: &collection.stages,
        unnamed_bytes: collection.unnamed_bytes,
        work: collection.work.iter().map(|(label, bytes)| Work { label, bytes: *bytes }).collect(),
        leftover_bytes: collection.leftover_bytes,
        transfer_bytes: collection.transfer_bytes,
        staying_transfer_bytes: collection.staying_transfer_bytes,
        quarantine_bytes: collection.quarantine_bytes,
        aside_bytes: collection.aside_bytes,
        staying_bytes: collection.staying_bytes(),
        stays: collection.stays.clone(),
        roots: collection
            .roots
            .iter()
            .map(|root| RootTold { name: &root.name, results: root.results.len(), note: root.note.as_deref() })
            .collect(),
    }
}

fn text(collection: &GcPlan, arguments: &GcArguments) -> String {
    let mut rows: Vec<(String, u64, String)> = collection
        .stages
        .iter()
        .map(|stage| (stage.stage.clone(), stage.bytes, plural(stage.results, "result", "results")))
        .collect();
    rows.extend(
        collection
            .work
            .iter()
            .map(|(label, bytes)| (label.clone(), *bytes, "the work folder of a stage that did not finish".to_owned())),
    );
    for (bytes, what) in [
        (collection.unnamed_bytes, "content of interrupted runs"),
        (collection.leftover_bytes, "left by interrupted writes"),
        (collection.transfer_bytes, "of pushes and pulls with which nobody went on for 14 days"),
        (collection.quarantine_bytes, "set aside by `cwm verify`, more than 30 days ago"),
        (collection.aside_bytes, "set aside by a `cwm gc` that was interrupted"),
    ] {
        if bytes > 0 {
            rows.push((String::new(), bytes, what.to_owned()));
        }
    }
    let width = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, bytes, what) in rows {
        text += &format!("{name:<width$}  {:>9}  {what}\n", amount::format_bytes(bytes));
    }
    if collection.staying_transfer_bytes > 0 {
        let bytes = amount::format_bytes(collection.staying_transfer_bytes);
        text += &format!(
            "note: {bytes} of interrupted pushes and pulls stay for 14 days: the next one goes on with them\n"
        );
    }
    for root in &collection.roots {
        if let Some(note) = &root.note {
            text += &format!("note: {} {note}\n", root.name);
        }
    }
    let (goes, stays) = (amount::format_bytes(collection.bytes()), amount::format_bytes(collection.staying_bytes()));
    let why: Vec<String> = collection.stays.iter().map(|(stands, bytes)| why(*stands, *bytes)).collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(", ")) };
    let roots = plural(collection.roots.len() as u64, "root", "roots");
    text += &match (collection.is_empty(), arguments.delete) {
        (true, _) => format!("nothing to delete; {stays} stay{why}; {roots}"),
        (false, true) => format!("deleted {goes}; {stays} stay{why}; {roots}"),
        (false, false) => format!("{goes} would go, with `--delete`; {stays} stay{why}; {roots}"),
    };
    if let Some(most) = arguments.max_size.filter(|most| collection.staying_bytes() > *most) {
        text += &format!("\nwhat must stay is more than {}", amount::format_bytes(most));
    }
    text
}

fn why(stands: Retention, bytes: u64) -> String {
    let bytes = amount::format_bytes(bytes);
    match stands {
        Retention::Root => format!("{bytes} that roots name"),
        Retention::Source => format!("{bytes} from outside"),
        Retention::Recent => format!("{bytes} used lately"),
        Retention::Free => format!("{bytes} for which there is room"),
    }
}
