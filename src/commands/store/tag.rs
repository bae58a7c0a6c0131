//! `cwm store tag`: names results, which then stay in the store.

use std::path::Path;

use cwm_contract::Label;
use serde::Serialize;

use crate::cli::TagArguments;
use crate::commands::locked_results::lock_of_run;
use crate::commands::results::{by_hash, is_hash};
use crate::locate::{open_store, pipeline_file};
use crate::output::{columns, is_json, print_json, print_note, print_text, print_warnings};
use crate::workspace::warn_about_tags;
use cwm_core::{Error, plural};
use cwm_gc::selection;
use cwm_gc::tags::{self, Tag};
use cwm_pipeline::plan::set_values;
use cwm_project::fold_problems;
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_store::{DigestCache, Store};

/// A tag, as `--json` prints it.
#[derive(Serialize)]
struct TagEntry {
    name: String,
    /// The cells that it names.
    cells: Vec<String>,
    /// The damage of its file, which may have named more.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<String>,
}

/// Runs `cwm store tag`.
///
/// # Errors
/// The name is none, or taken; there is no such result; or the store cannot be written.
pub fn run(store: Option<&Path>, arguments: &TagArguments) -> Result<(), Error> {
    let store = open_store(store, arguments.file.as_deref())?;
    let tags = match &arguments.name {
        None => tags::list(&store)?,
        Some(name) if arguments.list => vec![tags::read(&store, name)?],
        Some(name) if arguments.delete => vec![tags::delete(&store, name)?],
        Some(name) => {
            tags::check_name(name)?;
            let results = select(&store, arguments)?;
            warn_about_missing_files(&store, &results)?;
            vec![tags::write(&store, name, results, arguments.replace)?]
        }
    };
    warn_about_tags(&tags);
    let cells = |tag: &Tag| tag.lock.cells().map(|(label, _)| label.to_owned()).collect();
    let entries: Vec<TagEntry> =
        tags.iter().map(|tag| TagEntry { name: tag.name.clone(), cells: cells(tag), damaged: tag.damage() }).collect();
    let count = |tag: &TagEntry| plural(tag.cells.len() as u64, "result", "results");
    match &entries[..] {
        entries if is_json() => print_json(&entries)?,
        [] => print_note("no tags; `cwm store tag NAME` adds one"),
        entries if arguments.name.is_none() => {
            print_text(&columns(entries.iter().map(|tag| [tag.name.clone(), count(tag)])))?;
        }
        [tag, ..] if arguments.list => print_text(&tag.cells.join("\n"))?,
        [_, ..] if arguments.delete => {}
        [tag, ..] => eprintln!("{}{} names {}", tags::PREFIX, tag.name, count(tag)),
    }
    Ok(())
}

/// Finds the results to name: those of the lock file of a run, or of the store by key or digest.
fn select(store: &Store, arguments: &TagArguments) -> Result<Vec<(Label, LockLine)>, Error> {
    let sets = set_values(&arguments.sets);
    let lock = pipeline_file(arguments.file.as_deref()).and_then(|file| lock_of_run(&file, &sets));
    // A stage may be called `facade`.
    let is_stage = |word: &str| {
        let mut labels = lock.iter().flat_map(LockFile::cells).map(|(label, _)| label);
        labels.any(|label| label.split('[').next() == Some(word))
    };
    let (hashes, stages): (Vec<String>, Vec<String>) =
        arguments.what.iter().cloned().partition(|word| is_hash(word) && !is_stage(word));
    let mut results = Vec::new();
    if arguments.what.is_empty() || !stages.is_empty() {
        let lock = lock?;
        lock.verify_readable()?;
        print_warnings(fold_problems(lock.problems()));
        let cells = lock.cells().filter_map(|(label, line)| Some((label.parse().ok()?, line.clone())));
        let cells: Vec<(Label, LockLine)> = cells.collect();
        if cells.is_empty() {
            let hint = "`cwm run` computes some; `--set NAME=VALUE` selects a run that `cwm runs` lists";
            return Err(Error::usage("the lock file names no results").hint(hint));
        }
        let selected = selection::stages(&stages, cells.iter().map(|(label, _)| label))?;
        results.extend(cells.into_iter().filter(|(label, _)| selection::matches_selection(label, &selected)));
    }
    for hash in hashes {
        let mut found: Vec<_> = by_hash(store, &hash)?.into_iter().map(|(record, _)| record).collect();
        found.dedup_by(|a, b| (a.key, &a.outputs) == (b.key, &b.outputs));
        let [record] = &found[..] else {
            return Err(Error::usage(format!("the store has {} results that begin with {hash}", found.len()))
                .hint("give the key of the one that is meant"));
        };
        results.push((record.label.clone(), LockLine { key: record.key, outputs: record.output_digests() }));
    }
    Ok(results)
}

/// Warns if files of results are not in the store.
fn warn_about_missing_files(store: &Store, results: &[(Label, LockLine)]) -> Result<(), Error> {
    let digests = DigestCache::of_store(store);
    let mut incomplete = 0;
    for (_, line) in results {
        let available = store.available(&line.key, Some(&line.outputs), &digests)?;
        incomplete += u64::from(available.is_none_or(|record| record.output_digests() != line.outputs));
    }
    if incomplete > 0 {
        let results = plural(incomplete, "result", "results");
        eprintln!("warning: files of {results} are not in the store, and a tag does not restore them");
    }
    Ok(())
}
