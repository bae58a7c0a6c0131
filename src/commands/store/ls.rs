//! `cwm store ls`: the results that a store has.

use std::collections::BTreeSet;
use std::path::Path;

use cwm_contract::amount;
use serde::Serialize;

use crate::cli::LsArguments;
use crate::commands::locked_results::{LockedResult, locked_results};
use crate::locate::{open_existing_store, pipeline_file};
use crate::output::{columns, print_result, print_warnings};
use crate::workspace::{SkippedRecordsWarning, warn_about_tags};
use cwm_core::{Digest, Error, Key, OutputDigests, list_some};
use cwm_gc::{selection, tags};
use cwm_project::fold_problems;
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_project::runs;
use cwm_store::{ActionRecord, DigestCache, EvictionReason, Store};

/// The most runs that a line names.
const MAX_RUNS: usize = 3;

/// One output of a result.
#[derive(Serialize)]
struct Row {
    /// The cell.
    label: String,
    /// The output.
    output: String,
    /// Its format. This and the other facts of a record are absent if the store has none.
    format: Option<String>,
    /// Bytes, of all files together.
    bytes: Option<u64>,
    /// BLAKE3 of the file, or of the folder's manifest.
    digest: Digest,
    /// The key of the result.
    key: Key,
    /// When it was made, in UTC.
    computed_at: Option<String>,
    /// The user and machine, as text.
    origin: Option<String>,
    /// `present`; `changed` since it was stored; `not kept` (`keep: false`), `collected` (by `cwm store gc`), `not
    /// pulled`, or `missing`; `not here`: the store has no such result.
    state: &'static str,
    /// True if the pipeline's lock file names it.
    locked: bool,
    /// The recorded runs with `--set` that name it.
    runs: Vec<String>,
    /// The tags that name it.
    tags: Vec<String>,
}

/// Runs `cwm store ls`. Nothing is written.
///
/// # Errors
/// The store cannot be read, or has nothing of what is named.
pub fn run(store: Option<&Path>, arguments: &LsArguments) -> Result<(), Error> {
    let locks = match pipeline_file(arguments.file.as_deref()) {
        Ok(file) => runs::all(&file)?,
        // With `--store` alone, all that there is.
        Err(_) if store.is_some() && arguments.all => Vec::new(),
        Err(error) => return Err(error),
    };
    let (store, _warning) = SkippedRecordsWarning::watch(open_existing_store(store, arguments.file.as_deref())?);
    locks.iter().for_each(|lock| print_warnings(fold_problems(lock.problems())));
    let tags = tags::list(&store)?;
    warn_about_tags(&tags);
    let (mut listed, mut selection) = (Vec::new(), Vec::new());
    for what in &arguments.what {
        match what.strip_prefix(tags::PREFIX) {
            Some(name) => listed.extend(locked_results(&store, &tags::read(&store, name)?.lock)?),
            None => selection.push(what.clone()),
        }
    }
    if !selection.is_empty() || arguments.what.is_empty() {
        let mut found: Vec<LockedResult> = Vec::new();
        for lock in &locks {
            found.extend(locked_results(&store, lock)?);
        }
        found.sort_by_cached_key(|result| (result.label.to_string(), result.line.key, result.line.outputs.clone()));
        // A result that several runs name is listed once.
        found.dedup_by(|one, other| one.label == other.label && one.line == other.line);
        if arguments.all {
            found.retain(|result| result.record.is_none());
            let mut records = store.all_records()?;
            records.sort_by(|a, b| (&a.label, a.run_info.started).cmp(&(&b.label, b.run_info.started)));
            found.extend(records.into_iter().map(|record| {
                let line = LockLine { key: record.key, outputs: record.output_digests() };
                LockedResult { label: record.label.clone(), line, record: Some(record) }
            }));
        }
        let selected = selection::stages(&selection, found.iter().map(|result| &result.label))?;
        found.retain(|result| selection::matches_selection(&result.label, &selected));
        listed.extend(found);
    }
    listed.sort_by_key(|result| result.record.is_none());
    let digests = DigestCache::of_store(&store);
    let runs: Vec<NamedResults<'_>> = locks.iter().map(|lock| named_results(runs::name(lock), lock)).collect();
    let tags: Vec<NamedResults<'_>> = tags.iter().map(|tag| named_results(tag.name.clone(), &tag.lock)).collect();
    let mut rows = Vec::new();
    for result in &listed {
        rows.extend(rows_of(result, &store, &digests, &runs, &tags)?);
    }
    print_result(&rows, || text(&rows, arguments.all))
}

/// The name of a run or tag, and the results that it names.
type NamedResults<'l> = (String, BTreeSet<(Key, &'l OutputDigests)>);

fn named_results(name: String, lock: &LockFile) -> NamedResults<'_> {
    (name, lock.cells().map(|(_, line)| (line.key, &line.outputs)).collect())
}

/// Returns the rows of a result, one an output.
fn rows_of(
    LockedResult { label, line, record }: &LockedResult,
    store: &Store,
    digests: &DigestCache,
    runs: &[NamedResults<'_>],
    tags: &[NamedResults<'_>],
) -> Result<Vec<Row>, Error> {
    let record = record.as_ref();
    let names = |all: &[NamedResults<'_>]| -> Vec<String> {
        let naming = all.iter().filter(|(_, results)| results.contains(&(line.key, &line.outputs)));
        naming.map(|(name, _)| name.clone()).collect()
    };
    let (mut runs, tags) = (names(runs), names(tags));
    let locked = runs.iter().any(|name| name == runs::RUN_WITHOUT_SET);
    runs.retain(|name| name != runs::RUN_WITHOUT_SET);
    let missing = record.map_or(Ok(Vec::new()), |record| store.missing_or_damaged(record, digests))?;
    let state = match record.map(|record| record.evicted) {
        None => "not here",
        _ if missing.is_empty() => "present",
        _ if missing.iter().any(|missing| missing.damage.is_some()) => "changed",
        Some(Some(EvictionReason::NotKept)) => "not kept",
        Some(Some(EvictionReason::Collected)) => "collected",
        Some(Some(EvictionReason::NotPulled)) => "not pulled",
        Some(None) => "missing",
    };
    let row = |(name, digest): (&String, &Digest)| {
        let output = record.and_then(|record| record.outputs.get(name));
        Row {
            label: label.to_string(),
            output: name.clone(),
            format: output.map(|output| output.format.to_string()),
            bytes: output.map(|output| output.size),
            digest: *digest,
            key: line.key,
            computed_at: record.map(|record| record.run_info.started.to_string()),
            origin: record.map(ActionRecord::origin),
            state,
            locked,
            runs: runs.clone(),
            tags: tags.clone(),
        }
    };
    Ok(line.outputs.iter().map(row).collect())
}

fn text(rows: &[Row], all: bool) -> String {
    if rows.is_empty() {
        let more = if all { "" } else { "; `--all` lists what it does not name" };
        return format!("no results that a lock file of the pipeline names{more}");
    }
    columns(rows.iter().map(|row| {
        let unlocked = match &row.runs[..] {
            _ if row.locked => None,
            [] => all.then(|| "in no lock file".to_owned()),
            runs => Some(format!("run {}", list_some(runs, MAX_RUNS))),
        };
        let state = (row.state != "present").then(|| row.state.to_owned());
        let tags = row.tags.iter().map(|tag| format!("{}{tag}", tags::PREFIX));
        let notes: Vec<String> = state.into_iter().chain(unlocked).chain(tags).collect();
        let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) };
        let origin = row.origin.as_deref().unwrap_or("no record of it in this store");
        [
            format!("{}.{}", row.label, row.output),
            row.format.clone().unwrap_or_default(),
            format!("{:>9}", row.bytes.map(amount::format_bytes).unwrap_or_default()),
            row.digest.short(),
            format!("{origin}{notes}"),
        ]
    }))
}
