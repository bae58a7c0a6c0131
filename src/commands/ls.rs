//! `cwm ls`: the results that a store has.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::{Label, amount};
use serde::Serialize;

use crate::cli::LsArguments;
use crate::locate::{open_store, pipeline_file};
use crate::output::{print_json, print_text};
use crate::workspace::{SkippedRecordsWarning, warn_about_lock_file, warn_about_tags};
use cwm_core::{Digest, Error, ExitCode, Key};
use cwm_gc::{selection, tags};
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
    let (mut records, mut absent) = (Vec::new(), Vec::new());
    let mut words = Vec::new();
    for word in &arguments.what {
        match word.strip_prefix(tags::PREFIX) {
            Some(name) => {
                let tag = tags::find(&store, name)?.ok_or_else(|| no_tag(name))?;
                let (found, not_here) = results_of_lock(&store, &tag.lock)?;
                records.extend(found);
                absent.extend(not_here);
            }
            None => words.push(word.clone()),
        }
    }
    if !words.is_empty() || arguments.what.is_empty() {
        let (mut found, mut not_here) = results_of_lock(&store, &lock)?;
        if arguments.all {
            found = every(&store)?;
        }
        let known = found.iter().map(|record| &record.label).chain(not_here.iter().map(|(label, _)| label));
        let known: Vec<Label> = known.cloned().collect();
        let meant = selection::stages(&words, known.iter())?;
        found.retain(|record| selection::matches_selection(&record.label, &meant));
        not_here.retain(|(label, _)| selection::matches_selection(label, &meant));
        records.extend(found);
        absent.extend(not_here);
    }
    let files = DigestCache::of_store(&store);
    let names = |lock: &LockFile, record: &ActionRecord| {
        let outputs = record.output_digests();
        lock.cells().any(|(_, line)| line.key == record.key && line.outputs == outputs)
    };
    let locked: BTreeMap<(Key, BTreeMap<String, Digest>), ()> =
        lock.cells().map(|(_, line)| ((line.key, line.outputs.clone()), ())).collect();
    let mut rows = Vec::new();
    for record in &records {
        let missing = store.missing_or_corrupt(record, &files)?;
        let state = match record.dropped {
            _ if missing.is_empty() => "present",
            _ if missing.iter().any(|missing| missing.damage.is_some()) => "changed",
            Some(EvictionReason::NotKept) => "dropped",
            Some(EvictionReason::Collected) => "collected",
            Some(EvictionReason::NotPulled) => "not pulled",
            None => "missing",
        };
        let tagged = tags.iter().filter(|tag| names(&tag.lock, record)).map(|tag| tag.name.clone());
        let tagged: Vec<String> = tagged.collect();
        for (name, output) in &record.outputs {
            rows.push(Row {
                label: record.label.to_string(),
                output: name.clone(),
                format: Some(output.format.to_string()),
                bytes: Some(output.size),
                digest: output.digest,
                key: record.key,
                made: Some(record.circumstances.started.to_string()),
                origin: Some(record.origin()),
                state,
                locked: locked.contains_key(&(record.key, record.output_digests())),
                tags: tagged.clone(),
            });
        }
    }
    for (label, line) in &absent {
        let is_named = |lock: &LockFile| lock.cells().any(|(_, other)| other == line);
        let tagged: Vec<String> = tags.iter().filter(|tag| is_named(&tag.lock)).map(|tag| tag.name.clone()).collect();
        for (name, digest) in &line.outputs {
            rows.push(Row {
                label: label.to_string(),
                output: name.clone(),
                format: None,
                bytes: None,
                digest: *digest,
                key: line.key,
                made: None,
                origin: None,
                state: "not here",
                locked: locked.contains_key(&(line.key, line.outputs.clone())),
                tags: tagged.clone(),
            });
        }
    }
    if arguments.json {
        print_json(&rows)?;
    } else {
        print_text(&text(&rows, arguments.all))?;
    }
    Ok(ExitCode::OK)
}

/// There is no such tag.
pub fn no_tag(name: &str) -> Error {
    Error::usage(format!("there is no tag `{name}`")).hint("`cwm tag` lists them")
}

/// The results that a lock file names, under the labels that it gives them; those without a record are left out.
pub(super) fn of_lock(store: &Store, lock: &LockFile) -> Result<Vec<ActionRecord>, Error> {
    Ok(results_of_lock(store, lock)?.0)
}

/// Results, and lines of a lock file of which the store has none.
type Found = (Vec<ActionRecord>, Vec<(Label, LockLine)>);

/// The results that a lock file names, and its other lines.
fn results_of_lock(store: &Store, lock: &LockFile) -> Result<Found, Error> {
    let (mut records, mut absent) = (Vec::new(), Vec::new());
    for (label, line) in lock.cells() {
        let record = store.candidates(&line.key, Some(&line.outputs))?.into_iter().next();
        let label: Label = label.parse().map_err(Error::usage)?;
        match record.filter(|record| record.output_digests() == line.outputs) {
            Some(record) => records.push(ActionRecord { label, ..record }),
            None => absent.push((label, line.clone())),
        }
    }
    Ok((records, absent))
}

/// All results, sorted by label, the first made first.
fn every(store: &Store) -> Result<Vec<ActionRecord>, Error> {
    let mut records = Vec::new();
    for key in store.keys()? {
        records.extend(store.actions(&key)?);
    }
    records.sort_by(|a, b| (&a.label, a.circumstances.started).cmp(&(&b.label, b.circumstances.started)));
    Ok(records)
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
