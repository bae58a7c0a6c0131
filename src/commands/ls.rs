//! `cwm ls`: the results that a store has.

use std::path::Path;

use cwm_contract::{Label, amount};
use serde::Serialize;

use crate::cli::LsArguments;
use crate::locate::{open_store, pipeline_file};
use crate::output::print_answer;
use crate::workspace::{SkippedRecordsWarning, warn_about_lock_file, warn_about_tags};
use cwm_core::{Digest, Error, ExitCode, Key};
use cwm_gc::selection;
use cwm_gc::tags::{self, Tag};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, EvictionReason, Store};

/// One output of a result.
#[derive(Serialize)]
struct Row {
    /// The cell.
    label: String,
    /// The output.
    output: String,
    /// What it holds. Nothing of this and of what else a record tells where the store has none.
    format: Option<String>,
    /// Bytes, of all files together.
    bytes: Option<u64>,
    /// BLAKE3 of the file, or of the folder's manifest.
    digest: Digest,
    /// What it is a result of.
    key: Key,
    /// When it was made, in UTC.
    made: Option<String>,
    /// By whom and where, in words.
    origin: Option<String>,
    /// `present`; `changed` since it was stored; `dropped` (`keep: false`), `collected` (by `cwm gc`), `not pulled`, or `missing`;
    /// `not here`: the store has no such result.
    state: &'static str,
    /// True if the pipeline's lock file names it.
    locked: bool,
    /// The tags that name it.
    tags: Vec<String>,
}

/// Runs `cwm ls`. Nothing is written.
///
/// # Errors
/// The store cannot be read, or has nothing of what is named.
pub fn run(store: Option<&Path>, arguments: &LsArguments) -> Result<ExitCode, Error> {
    let lock = match pipeline_file(arguments.file.as_deref()) {
        Ok(file) => LockFile::read(&LockFile::path_for(&file))?,
        // With `--store` alone, all that there is.
        Err(_) if store.is_some() && arguments.all => LockFile::default(),
        Err(error) => return Err(error),
    };
    let (store, _passed_over) = SkippedRecordsWarning::watch(open_store(store, arguments.file.as_deref())?);
    warn_about_lock_file(&lock);
    let tags = tags::list(&store)?;
    warn_about_tags(&tags);
    let (mut listed, mut selection) = (Vec::new(), Vec::new());
    for what in &arguments.what {
        match what.strip_prefix(tags::PREFIX) {
            Some(name) => {
                let tag = tags::find(&store, name)?.ok_or_else(|| no_tag(name))?;
                listed.extend(results_of_lock(&store, &tag.lock)?);
            }
            None => selection.push(what.clone()),
        }
    }
    if !selection.is_empty() || arguments.what.is_empty() {
        let mut found = results_of_lock(&store, &lock)?;
        if arguments.all {
            found.retain(|result| result.record.is_none());
            found.extend(all_results(&store)?);
        }
        let selected = selection::stages(&selection, found.iter().map(|result| &result.label))?;
        found.retain(|result| selection::matches_selection(&result.label, &selected));
        listed.extend(found);
    }
    listed.sort_by_key(|result| result.record.is_none());
    let files = DigestCache::of_store(&store);
    let mut rows = Vec::new();
    for result in &listed {
        rows.extend(rows_of(result, &store, &files, &lock, &tags)?);
    }
    print_answer(&rows, || text(&rows, arguments.all))?;
    Ok(ExitCode::OK)
}

/// There is no such tag.
pub fn no_tag(name: &str) -> Error {
    Error::usage(format!("there is no tag `{name}`")).hint("`cwm tag` lists them")
}

/// A result that is listed.
struct ListedResult {
    label: Label,
    line: LockLine,
    /// Its record; nothing if the store has no such result.
    record: Option<ActionRecord>,
}

/// Returns the rows of a result, one an output.
fn rows_of(
    result: &ListedResult,
    store: &Store,
    files: &DigestCache,
    lock: &LockFile,
    tags: &[Tag],
) -> Result<Vec<Row>, Error> {
    let ListedResult { label, line, record } = result;
    let record = record.as_ref();
    let is_named_by = |lock: &LockFile| lock.cells().any(|(_, other)| other == line);
    let tagged = tags.iter().filter(|tag| is_named_by(&tag.lock)).map(|tag| tag.name.clone());
    let (tagged, locked): (Vec<String>, bool) = (tagged.collect(), is_named_by(lock));
    let state = match record {
        Some(record) => state(record, store, files)?,
        None => "not here",
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
            made: record.map(|record| record.circumstances.started.to_string()),
            origin: record.map(ActionRecord::origin),
            state,
            locked,
            tags: tagged.clone(),
        }
    };
    Ok(line.outputs.iter().map(row).collect())
}

fn state(record: &ActionRecord, store: &Store, files: &DigestCache) -> Result<&'static str, Error> {
    let missing = store.missing_or_corrupt(record, files)?;
    Ok(match record.evicted {
        _ if missing.is_empty() => "present",
        _ if missing.iter().any(|missing| missing.damage.is_some()) => "changed",
        Some(EvictionReason::NotKept) => "dropped",
        Some(EvictionReason::Collected) => "collected",
        Some(EvictionReason::NotPulled) => "not pulled",
        None => "missing",
    })
}

/// Returns the records of the results that a lock file names, under the labels that it gives them.
pub(super) fn of_lock(store: &Store, lock: &LockFile) -> Result<Vec<ActionRecord>, Error> {
    let results = results_of_lock(store, lock)?.into_iter();
    Ok(results.filter_map(|ListedResult { label, record, .. }| Some(ActionRecord { label, ..record? })).collect())
}

/// Returns the results that a lock file names.
fn results_of_lock(store: &Store, lock: &LockFile) -> Result<Vec<ListedResult>, Error> {
    let mut results = Vec::new();
    for (label, line) in lock.cells() {
        let label: Label = label.parse().map_err(Error::usage)?;
        let record = store.candidates(&line.key, Some(&line.outputs))?.into_iter().next();
        let record = record.filter(|record| record.output_digests() == line.outputs);
        results.push(ListedResult { label, line: line.clone(), record });
    }
    Ok(results)
}

/// Returns all results of the store, sorted by label, the first made first.
fn all_results(store: &Store) -> Result<Vec<ListedResult>, Error> {
    let mut records = Vec::new();
    for key in store.keys()? {
        records.extend(store.actions(&key)?);
    }
    records.sort_by(|a, b| (&a.label, a.circumstances.started).cmp(&(&b.label, b.circumstances.started)));
    let listed = |record: ActionRecord| {
        let line = LockLine { key: record.key, outputs: record.output_digests() };
        ListedResult { label: record.label.clone(), line, record: Some(record) }
    };
    Ok(records.into_iter().map(listed).collect())
}

fn text(rows: &[Row], all: bool) -> String {
    if rows.is_empty() {
        let more = if all { "" } else { "; `--all` lists what it does not name" };
        return format!("no results that the lock file names{more}");
    }
    let name = |row: &Row| format!("{}.{}", row.label, row.output);
    let width = rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0);
    let format =
        rows.iter().filter_map(|row| row.format.as_ref()).map(|format| format.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let mut notes: Vec<String> = Vec::new();
        if row.state != "present" {
            notes.push(row.state.to_owned());
        }
        if all && !row.locked {
            notes.push("not in the lock file".to_owned());
        }
        notes.extend(row.tags.iter().map(|tag| format!("{}{tag}", tags::PREFIX)));
        let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) };
        text += &format!(
            "{:<width$}  {:<format$}  {:>9}  {}  {}{notes}\n",
            name(row),
            row.format.as_deref().unwrap_or_default(),
            row.bytes.map(amount::format_bytes).unwrap_or_default(),
            row.digest.short(),
            row.origin.as_deref().unwrap_or("no record of it in this store")
        );
    }
    text
}
