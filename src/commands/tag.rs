//! `cwm tag`: names for results, under which they stay.

use std::path::Path;

use cwm_contract::Label;
use serde::Serialize;

use crate::cli::TagArguments;
use crate::commands::ls::no_tag;
use crate::locate::{open_store, pipeline_file};
use crate::output::{is_json, print_json, print_text};
use crate::workspace::{warn_about_lock_file, warn_about_tags};
use cwm_core::{Error, ExitCode, plural};
use cwm_gc::selection;
use cwm_gc::tags::{self, Tag};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_store::Store;
use cwm_store::external_files::DigestCache;

/// A tag, as `--json` prints it.
#[derive(Serialize)]
struct TagEntry {
    name: String,
    /// The cells that it names.
    cells: Vec<String>,
    /// What is wrong with its file: it may have named more.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<String>,
}

/// Runs `cwm tag`.
///
/// # Errors
/// The name is none, or taken; nothing is there of what is to be named; or the store cannot be written.
pub fn run(store: Option<&Path>, arguments: &TagArguments) -> Result<ExitCode, Error> {
    let opened = open_store(store, arguments.file.as_deref())?;
    let Some(name) = &arguments.name else {
        return list(&tags::list(&opened)?, false);
    };
    if arguments.delete {
        let tag = tags::find(&opened, name)?.filter(|_| is_json());
        if !tags::delete(&opened, name)? {
            return Err(no_tag(name));
        }
        return tag.map_or(Ok(ExitCode::OK), |tag| list(&[tag], true));
    }
    if arguments.list {
        let tag = tags::find(&opened, name)?.ok_or_else(|| no_tag(name))?;
        return list(&[tag], true);
    }
    tags::check_name(name)?;
    let lines = meant(&opened, arguments)?;
    let incomplete = incomplete(&opened, &lines)?;
    if incomplete > 0 {
        let results = plural(incomplete, "result", "results");
        eprintln!("warning: files of {results} are not in the store, and a tag does not bring them back");
    }
    let count = lines.len() as u64;
    tags::write(&opened, name, lines, arguments.replace)?;
    if is_json() {
        let tag = tags::find(&opened, name)?.ok_or_else(|| no_tag(name))?;
        return list(&[tag], true);
    }
    eprintln!("{}{name} names {}", tags::PREFIX, plural(count, "result", "results"));
    Ok(ExitCode::OK)
}

/// What is to be named: results of the lock file, or of the store by key or digest.
fn meant(store: &Store, arguments: &TagArguments) -> Result<Vec<(Label, LockLine)>, Error> {
    let lock = pipeline_file(arguments.file.as_deref())
        .and_then(|file| LockFile::read(&LockFile::path_for(&file)).map_err(Error::from));
    // A stage may be called `facade`.
    let is_stage = |word: &str| {
        let labels = lock.iter().flat_map(LockFile::cells).map(|(label, _)| label);
        labels.into_iter().any(|label| label.split('[').next() == Some(word))
    };
    let (hashes, stages): (Vec<&String>, Vec<&String>) =
        arguments.what.iter().partition(|word| is_hash(word) && !is_stage(word));
    let mut lines = Vec::new();
    if arguments.what.is_empty() || !stages.is_empty() {
        let lock = lock?;
        warn_about_lock_file(&lock);
        if let Some(warning) = lock.lost_line() {
            return Err(Error::store(format!("{warning}: what it names is not known in whole, and is not tagged"))
                .hint("take the lock file from git, or correct the line; or name results by their hashes"));
        }
        let cells = lock.cells().filter_map(|(label, line)| Some((label.parse().ok()?, line.clone())));
        let cells: Vec<(Label, LockLine)> = cells.collect();
        if cells.is_empty() {
            return Err(Error::usage("the lock file names no results").hint("`cwm run` makes some"));
        }
        let stages: Vec<String> = stages.into_iter().cloned().collect();
        let stages_named = selection::stages(&stages, cells.iter().map(|(label, _)| label))?;
        lines.extend(cells.into_iter().filter(|(label, _)| selection::matches_selection(label, &stages_named)));
    }
    for hash in hashes {
        let mut found: Vec<_> = store.by_prefix(hash)?.into_iter().map(|(record, _)| record).collect();
        found.dedup_by(|a, b| (a.key, &a.outputs) == (b.key, &b.outputs));
        match &found[..] {
            [one] => lines.push((one.label.clone(), LockLine { key: one.key, outputs: one.output_digests() })),
            [] => return Err(Error::usage(format!("the store knows no key or digest that begins with {hash}"))),
            several => {
                return Err(Error::usage(format!("the store has {} results that begin with {hash}", several.len()))
                    .hint("give more digits, or the key of the one that is meant"));
            }
        }
    }
    Ok(lines)
}

/// As `cwm show` takes them.
fn is_hash(word: &str) -> bool {
    word.len() >= 6 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn incomplete(store: &Store, lines: &[(Label, LockLine)]) -> Result<u64, Error> {
    let files = DigestCache::of_store(store);
    let mut count = 0;
    for (_, line) in lines {
        let whole = store.available(&line.key, Some(&line.outputs), &files)?;
        count += u64::from(whole.is_none_or(|record| record.output_digests() != line.outputs));
    }
    Ok(count)
}

fn list(tags: &[Tag], with_cells: bool) -> Result<ExitCode, Error> {
    warn_about_tags(tags);
    if is_json() {
        let cells = |tag: &Tag| tag.lock.cells().map(|(label, _)| label.to_owned()).collect();
        let entries: Vec<TagEntry> = tags
            .iter()
            .map(|tag| TagEntry { name: tag.name.clone(), cells: cells(tag), damaged: tag.damage() })
            .collect();
        print_json(&entries)?;
        return Ok(ExitCode::OK);
    }
    let mut text = String::new();
    for tag in tags {
        let cells: Vec<&str> = tag.lock.cells().map(|(label, _)| label).collect();
        if with_cells {
            cells.iter().for_each(|cell| text += &format!("{cell}\n"));
        } else {
            text += &format!("{}  {}\n", tag.name, plural(cells.len() as u64, "result", "results"));
        }
    }
    if text.is_empty() {
        eprintln!("no tags");
        return Ok(ExitCode::OK);
    }
    print_text(&text)?;
    Ok(ExitCode::OK)
}
