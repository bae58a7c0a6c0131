//! Two lock files: which cells were added, removed, changed, and why, as far as the store has their records.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use cwm_core::{Error, Key};
use cwm_engine::{Cause, differences, input_origins};
use cwm_pipeline::plan::{ArtifactOrigin, Body, Cell, Plan};
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

    /// Returns the changed cells of which nothing changed but the inputs that come from added or removed cells, or from other such
    /// cells. For example, one run has fewer seeds.
    pub fn changed_by_others(&self) -> BTreeSet<&str> {
        let mut sources: BTreeSet<&str> = self.added.iter().chain(&self.removed).map(String::as_str).collect();
        let mut found = BTreeSet::new();
        loop {
            let is_from_source =
                |cause: &Cause| matches!(cause, Cause::Input { source, .. } if sources.contains(&source[..]));
            let follows = |cell: &&ChangedCell| !cell.changed_directly && cell.causes.iter().all(is_from_source);
            let labels = self.changed.iter().filter(follows).map(|cell| cell.label.as_str());
            let more: BTreeSet<&str> = labels.filter(|label| !found.contains(label)).collect();
            if more.is_empty() {
                return found;
            }
            sources.extend(&more);
            found.extend(more);
        }
    }
}

/// A cell that changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedCell {
    pub label: String,
    /// Its key before.
    pub old: Key,
    /// Its key now.
    pub new: Key,
    /// True if it made the same bytes all the same.
    pub same_outputs: bool,
    /// True if it changed by itself: not only because cells changed that it reads.
    pub changed_directly: bool,
    /// The causes; none where a record is missing, or where the key is the same and the bytes are not.
    pub causes: Vec<Cause>,
    /// The keys whose records are not in the store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Key>,
}

/// Compares the cells of two lock files. Records are looked up in `store`, and the sources of inputs in the plan of `new`, if it
/// is known.
///
/// # Errors
/// The store cannot be read.
pub fn differ(old: &LockFile, new: &LockFile, store: &Store, plan: Option<&Plan>) -> Result<LockDifference, Error> {
    let comparison = Comparison { old: old.cells().collect(), new: new.cells().collect(), store, plan };
    let planned = plan.into_iter().flat_map(|plan| &plan.cells);
    let planned: HashMap<String, &Cell> = planned.map(|cell| (cell.label.to_string(), cell)).collect();
    let only_in = |these: &Cells<'_>, others: &Cells<'_>| {
        these.keys().filter(|label| !others.contains_key(*label)).map(ToString::to_string).collect()
    };
    let Comparison { old, new, .. } = &comparison;
    let (added, removed) = (only_in(new, old), only_in(old, new));
    let follows = |cause: &Cause| matches!(cause, Cause::Input { source, .. } if comparison.is_changed(source));
    let mut found = LockDifference { added, removed, ..LockDifference::default() };
    for (label, now) in new {
        let Some(before) = old.get(label) else { continue };
        if before == now {
            found.same += 1;
            continue;
        }
        let mut changed = ChangedCell {
            label: (*label).to_owned(),
            old: before.key,
            new: now.key,
            same_outputs: before.outputs == now.outputs,
            changed_directly: true,
            causes: Vec::new(),
            unknown: Vec::new(),
        };
        if before.key != now.key {
            match (comparison.record(before)?, comparison.record(now)?) {
                (Some(was), Some(is)) => {
                    changed.causes = comparison.causes(&was, &is, planned.get(*label).copied())?;
                    changed.changed_directly = !changed.causes.iter().all(follows);
                }
                (was, is) => {
                    changed.unknown.extend(was.is_none().then_some(before.key));
                    changed.unknown.extend(is.is_none().then_some(now.key));
                }
            }
        }
        found.changed.push(changed);
    }
    found.changed.sort_by_key(|changed| !changed.changed_directly);
    Ok(found)
}

/// The cells of a lock file, by label.
type Cells<'l> = BTreeMap<&'l str, &'l LockLine>;

/// Two lock files, the store with their records, and the plan of the new one.
struct Comparison<'l> {
    old: Cells<'l>,
    new: Cells<'l>,
    store: &'l Store,
    plan: Option<&'l Plan>,
}

impl Comparison<'_> {
    fn record(&self, line: &LockLine) -> Result<Option<ActionRecord>, Error> {
        Ok(self.store.preferred_record(&line.key, Some(&line.outputs))?)
    }

    fn is_changed(&self, label: &str) -> bool {
        self.old.get(label) != self.new.get(label)
    }

    /// Returns the differences of two records of a cell, with the sources of its inputs. `cell` is that of the plan.
    fn causes(&self, old: &ActionRecord, new: &ActionRecord, cell: Option<&Cell>) -> Result<Vec<Cause>, Error> {
        let mut causes = differences(&old.components, &new.components);
        let origins = cell.map(input_origins).unwrap_or_default();
        let is_command = cell.is_some_and(|cell| matches!(cell.body, Body::Command(_)));
        let label_of = |index: usize| self.plan.map(|plan| plan.cells[index].label.to_string());
        for cause in &mut causes {
            let Cause::Input { name, label, source, old: before, new: now, .. } = cause else { continue };
            // Content that is gone was made before.
            let (cells, reader) = if now.is_some() { (&self.new, new) } else { (&self.old, old) };
            let Some(content) = (*now).or(*before) else { continue };
            let has_content = |line: &LockLine| line.outputs.values().any(|digest| *digest == content);
            let is_producer = |cell: &String| cells.get(cell.as_str()).is_some_and(|line| has_content(line));
            let planned = match origins.get(&(name.as_str(), label.clone())) {
                Some(ArtifactOrigin::File(path)) => Some(path.display().to_string()),
                // A pipeline may have been edited since it ran.
                Some(ArtifactOrigin::Cell { index, .. }) => label_of(*index).filter(is_producer),
                None => (is_command && *name == "deps").then(|| label.clone()),
            };
            *source = match planned {
                Some(planned) => planned,
                None => {
                    let mut producers: Vec<_> = cells.iter().filter(|(_, line)| has_content(line)).collect();
                    producers.sort_by_key(|(label, _)| !self.is_changed(label));
                    self.earliest(&producers, reader)?.unwrap_or("outside the pipeline").to_owned()
                }
            };
        }
        Ok(causes)
    }

    /// Returns the first of the `producers` that made its content before `reader` ran.
    fn earliest<'l>(
        &self,
        producers: &[(&&'l str, &&LockLine)],
        reader: &ActionRecord,
    ) -> Result<Option<&'l str>, Error> {
        for (label, line) in producers {
            let record = self.record(line)?;
            if record.is_none_or(|record| record.run_info.started < reader.run_info.started) {
                return Ok(Some(**label));
            }
        }
        Ok(None)
    }
}
