//! Two lock files: which cells were added, removed, changed, and why, as far as the store has their records.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use cwm_core::{Digest, Error, Key};
use cwm_engine::{Cause, differences};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_store::{ActionRecord, Store};

/// The differences of two lock files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LockDifference {
    /// Cells that only the new one has.
    pub added: Vec<String>,
    /// Cells that only the old one has.
    pub removed: Vec<String>,
    /// Cells that both have, with different keys or outputs: those that changed by themselves first.
    pub changed: Vec<ChangedCell>,
    /// The number of cells that are the same in both.
    pub same: usize,
}

impl LockDifference {
    /// Returns true if there is no difference.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// A cell that changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedCell {
    /// Its label.
    pub label: String,
    /// Its key before.
    pub old: Key,
    /// Its key now.
    pub new: Key,
    /// True if it made the same bytes all the same.
    pub same_outputs: bool,
    /// True if it changed by itself: not only because cells changed that it reads.
    pub root: bool,
    /// The causes; none where a record is missing, or where the key is the same and the bytes are not.
    pub causes: Vec<Cause>,
    /// The keys whose records are not in the store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Key>,
}

/// Compares the cells of two lock files. Records are looked up in `store`; `named` says what the pipeline, where it is the one that
/// `new` belongs to, names as the source of an input: by cell, input and label in the key.
///
/// # Errors
/// The store cannot be read.
pub fn differ(
    old: &LockFile,
    new: &LockFile,
    store: &Store,
    named: impl Fn(&str, &str, &str) -> Option<NamedSource>,
) -> Result<LockDifference, Error> {
    let mut found = LockDifference::default();
    let (olds, news): (BTreeMap<&str, &LockLine>, BTreeMap<&str, &LockLine>) =
        (old.cells().collect(), new.cells().collect());
    found.removed = olds.keys().filter(|label| !news.contains_key(*label)).map(|label| (*label).to_owned()).collect();
    let moved = |label: &str| olds.get(label) != news.get(label);
    let (old_producers, new_producers) = (Producers::new(&olds, store, &moved), Producers::new(&news, store, &moved));
    for (label, now) in &news {
        let Some(before) = olds.get(label) else {
            found.added.push((*label).to_owned());
            continue;
        };
        if before == now {
            found.same += 1;
            continue;
        }
        let mut changed = ChangedCell {
            label: (*label).to_owned(),
            old: before.key,
            new: now.key,
            same_outputs: before.outputs == now.outputs,
            root: true,
            causes: Vec::new(),
            unknown: Vec::new(),
        };
        if before.key != now.key {
            let (was, is) = (record_of(store, before)?, record_of(store, now)?);
            changed.unknown.extend(was.is_none().then_some(before.key));
            changed.unknown.extend(is.is_none().then_some(now.key));
            if let (Some(was), Some(is)) = (was, is) {
                let named = |input: &str, member: &str| named(label, input, member);
                changed.causes = causes(&was, &is, (&old_producers, &new_producers), named)?;
                changed.root = changed.causes.iter().any(|cause| !follows(cause, &moved));
            }
        }
        found.changed.push(changed);
    }
    found.changed.sort_by_key(|changed| !changed.root);
    Ok(found)
}

/// Returns true if the cause is a cell that changed itself.
fn follows(cause: &Cause, moved: &impl Fn(&str) -> bool) -> bool {
    matches!(cause, Cause::Input { source, .. } if moved(source))
}

fn causes(
    old: &ActionRecord,
    new: &ActionRecord,
    (old_producers, new_producers): (&Producers<'_>, &Producers<'_>),
    named: impl Fn(&str, &str) -> Option<NamedSource>,
) -> Result<Vec<Cause>, Error> {
    let mut causes = differences(&old.components, &new.components);
    for cause in &mut causes {
        let Cause::Input { name, label, source, old: before, new: now, .. } = cause else { continue };
        // Content that is gone was made before.
        let (producers, reader) = if now.is_some() { (new_producers, new) } else { (old_producers, old) };
        let Some(content) = (*now).or(*before) else { continue };
        *source = match named(name, label) {
            Some(NamedSource::File(path)) => path,
            // A pipeline may have been edited since it ran.
            Some(NamedSource::Cell(producer)) if producers.of(&content).contains(&producer.as_str()) => producer,
            _ => producers.before(&content, reader)?.unwrap_or("outside the pipeline").to_owned(),
        };
    }
    Ok(causes)
}

fn record_of(store: &Store, line: &LockLine) -> Result<Option<ActionRecord>, Error> {
    Ok(store.preferred_record(&line.key, Some(&line.outputs))?)
}

/// The source of an input that a pipeline names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedSource {
    /// A cell, by its label.
    Cell(String),
    /// A file from outside, by its path.
    File(String),
}

/// The cells of a lock file that made each content, those that changed first.
struct Producers<'l> {
    lines: &'l BTreeMap<&'l str, &'l LockLine>,
    store: &'l Store,
    of: HashMap<Digest, Vec<&'l str>>,
}

impl<'l> Producers<'l> {
    fn new(lines: &'l BTreeMap<&'l str, &'l LockLine>, store: &'l Store, moved: &impl Fn(&str) -> bool) -> Self {
        let mut of: HashMap<Digest, Vec<&str>> = HashMap::new();
        for wanted in [true, false] {
            for (label, line) in lines.iter().filter(|(label, _)| moved(label) == wanted) {
                line.outputs.values().for_each(|digest| of.entry(*digest).or_default().push(*label));
            }
        }
        Producers { lines, store, of }
    }

    fn of(&self, content: &Digest) -> &[&'l str] {
        self.of.get(content).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the first cell that made `content` before `reader` ran.
    fn before(&self, content: &Digest, reader: &ActionRecord) -> Result<Option<&'l str>, Error> {
        for producer in self.of(content) {
            let record = record_of(self.store, self.lines[producer])?;
            if record.is_none_or(|record| record.circumstances.started < reader.circumstances.started) {
                return Ok(Some(*producer));
            }
        }
        Ok(None)
    }
}
