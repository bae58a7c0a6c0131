//! Two lock files: which cells were added, removed, changed, and why, as far as the store's records tell.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::digest::{Digest, Key};
use crate::engine::{Cause, Line, differences};
use crate::error::Error;
use crate::key::Components;
use crate::lock_file::{LockFile, LockLine};
use crate::store::{ActionRecord, Store};

/// How two lock files differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LockDifference {
    /// Cells that only the new one has.
    pub added: Vec<String>,
    /// Cells that only the old one has.
    pub removed: Vec<String>,
    /// Cells that both have, with different keys or outputs: those that changed by themselves first.
    pub changed: Vec<Changed>,
    /// How many cells are the same in both.
    pub same: usize,
}

impl LockDifference {
    /// Whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// A cell that changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// Its label.
    pub label: String,
    /// Its key before.
    pub old: Key,
    /// Its key now.
    pub new: Key,
    /// Whether it made the same bytes all the same.
    pub same_outputs: bool,
    /// Whether it changed by itself: not only because cells changed that it reads.
    pub root: bool,
    /// Why; nothing where a record is missing, or where the key is the same and the bytes are not.
    pub causes: Vec<Cause>,
    /// The keys whose records are not in the store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Key>,
}

/// Compares the cells of two lock files. Records are looked up in `store`.
///
/// # Errors
/// The store cannot be read.
pub fn differ(old: &LockFile, new: &LockFile, store: &Store) -> Result<LockDifference, Error> {
    let mut found = LockDifference::default();
    let (olds, news): (BTreeMap<&str, &LockLine>, BTreeMap<&str, &LockLine>) =
        (old.cells().collect(), new.cells().collect());
    found.removed = olds.keys().filter(|label| !news.contains_key(*label)).map(|label| (*label).to_owned()).collect();
    let moved = |label: &str| olds.get(label) != news.get(label);
    let (made_before, made_now) = (Makers::of(&olds, &moved), Makers::of(&news, &moved));
    for (label, now) in &news {
        let Some(before) = olds.get(label) else {
            found.added.push((*label).to_owned());
            continue;
        };
        if before == now {
            found.same += 1;
            continue;
        }
        let mut changed = Changed {
            label: (*label).to_owned(),
            old: before.key,
            new: now.key,
            same_outputs: before.outputs == now.outputs,
            root: true,
            causes: Vec::new(),
            unknown: Vec::new(),
        };
        if before.key != now.key {
            let mut known = |line: &LockLine| -> Result<Option<ActionRecord>, Error> {
                let record = store.recorded(&line.key, Some(&line.outputs))?;
                changed.unknown.extend(record.is_none().then_some(line.key));
                Ok(record)
            };
            if let (Some(before), Some(now)) = (known(before)?, known(now)?) {
                changed.causes = causes(&before.components, &now.components, &made_before, &made_now);
                changed.root = changed.causes.iter().any(|cause| !follows(cause, &moved));
            }
        }
        found.changed.push(changed);
    }
    found.changed.sort_by_key(|changed| !changed.root);
    Ok(found)
}

/// Whether the cause is a cell that changed itself.
fn follows(cause: &Cause, moved: &impl Fn(&str) -> bool) -> bool {
    matches!(cause, Cause::Input { source, .. } if moved(source))
}

fn causes(old: &Components, new: &Components, made_before: &Makers, made_now: &Makers) -> Vec<Cause> {
    let digest = |components: &Components, input: &str, label: &str| -> Option<Digest> {
        let group = components.inputs.get(input)?;
        group.iter().find(|(name, _)| name == label).map(|(_, digest)| *digest)
    };
    let source = |input: &str, label: &str| {
        let now = digest(new, input, label).map(|digest| made_now.name(&digest));
        // What is gone was made by somebody before.
        let made = now.or_else(|| Some(made_before.name(&digest(old, input, label)?))).flatten();
        made.unwrap_or("outside the pipeline").to_owned()
    };
    differences(old, new, |_| Line::default(), source)
}

/// Which cell of a lock file made which content.
struct Makers<'l>(BTreeMap<Digest, &'l str>);

impl<'l> Makers<'l> {
    /// Of several cells that made the same, one that changed comes before others.
    fn of(lines: &BTreeMap<&'l str, &LockLine>, moved: &impl Fn(&str) -> bool) -> Self {
        let (mut makers, mut sure) = (BTreeMap::new(), BTreeSet::new());
        for (label, line) in lines {
            for digest in line.outputs.values() {
                if moved(label) && sure.insert(*digest) {
                    makers.insert(*digest, *label);
                } else {
                    makers.entry(*digest).or_insert(*label);
                }
            }
        }
        Makers(makers)
    }

    fn name(&self, digest: &Digest) -> Option<&'l str> {
        self.0.get(digest).copied()
    }
}
