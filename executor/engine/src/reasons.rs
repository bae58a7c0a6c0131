//! Finds the causes of a cell that has no result: the differences between its key and that of its last result.

use std::cell::LazyCell;

use cwm_contract::{FetchRequest, Origin as SourceOrigin};
use jiff::Timestamp;

use crate::action::resolve;
use crate::cause::{Cause, differences};
use crate::lock_updates::external_sources;
use crate::lookup::{RunInputs, input_origins, sources_by_label};
use crate::status::CacheStatus;
use cwm_action::{ActionBody, ActionFile, source_key};
use cwm_core::{Components, Key, Result};
use cwm_pipeline::plan::{Cell, Origin, Plan};
use cwm_project::pins::Pins;
use cwm_store::{ActionRecord, Store};

/// Returns the record of a cell that is done, by its index.
pub type RecordOf<'r> = &'r dyn Fn(usize) -> Option<&'r ActionRecord>;

/// Returns the causes of a cell with this key that has no result.
///
/// # Errors
/// The store cannot be read.
pub fn rerun_causes(
    inputs: RunInputs<'_>,
    index: usize,
    action: &ActionFile,
    record: RecordOf<'_>,
) -> Result<Vec<Cause>> {
    let RunInputs { store, locked, .. } = inputs;
    let cell = inputs.cell(index);
    let key = action.key;
    let open = action.components.parameters.get(source_key::SOURCE).map_or(0, source_key::unpinned_urls);
    let not_pinned = (open > 0).then_some(Cause::NotPinned { count: open });
    let unfinished = unfinished_attempt(store, &key)?;
    let mut causes = match inputs.previous_record(&cell.label)? {
        _ if store.has_damaged_record(&key) => vec![Cause::RecordDamaged],
        Some(previous) => changes(inputs, index, &previous, action, record),
        None => match locked.get(&cell.label) {
            Some(line) => vec![Cause::RecordMissing { same: Some(line.key == key) }],
            // A failed attempt is no first run.
            None if unfinished.is_some() => Vec::new(),
            None => vec![Cause::NeverRan],
        },
    };
    causes.extend(unfinished);
    causes.extend(not_pinned);
    Ok(causes)
}

/// Returns the causes of a cell of which some inputs are not known yet: the differences that do not depend on these inputs.
///
/// # Errors
/// A file from outside or a secret cannot be read, or the store.
pub fn known_causes(inputs: RunInputs<'_>, index: usize, cache_status: &CacheStatus) -> Result<Vec<Cause>> {
    let RunInputs { plan, store, locked, files, pins, .. } = inputs;
    let cell = inputs.cell(index);
    let record = |source: usize| cache_status.record(source);
    let (mut action, unknown) = resolve(plan, cell, files, pins, record)?;
    let Some(previous) = inputs.previous_record(&cell.label)? else {
        return Ok(vec![match locked.get(&cell.label) {
            Some(line) if store.has_damaged_record(&line.key) => Cause::RecordDamaged,
            Some(_) => Cause::RecordMissing { same: None },
            None => Cause::NeverRan,
        }]);
    };
    let mut new = Vec::new();
    for (input, label) in unknown {
        let before =
            previous.components.inputs.get(&input).and_then(|group| group.iter().find(|(other, _)| *other == label));
        match before {
            // It may be the same again.
            Some(before) => action.components.inputs.entry(input).or_default().push(before.clone()),
            None => new.push((input, label)),
        }
    }
    let mut causes = changes(inputs, index, &previous, &action, &record);
    let origins = input_origins(cell);
    causes.extend(new.into_iter().map(|(name, label)| {
        let source = source_name(plan, origins.get(&(name.as_str(), label.clone())), &label);
        Cause::Input { name, label, source, old: None, new: None, old_output: None }
    }));
    Ok(causes)
}

/// Returns the attempt at `key` that left its log and no record, if there is one. It runs now, or it failed or was stopped.
fn unfinished_attempt(store: &Store, key: &Key) -> Result<Option<Cause>> {
    let log = store.work(key).log();
    let Some(at) = std::fs::metadata(&log).and_then(|log| log.modified()).ok() else { return Ok(None) };
    if let Some(holder) = store.lock_owner(key)? {
        return Ok(Some(Cause::Running { holder: holder.to_string() }));
    }
    Ok(Timestamp::try_from(at).ok().map(|at| Cause::Unfinished { at }))
}

/// Returns the differences between the result `old` and the key of a cell now.
pub fn changes(
    inputs: RunInputs<'_>,
    index: usize,
    old: &ActionRecord,
    action: &ActionFile,
    record: RecordOf<'_>,
) -> Vec<Cause> {
    let (plan, cell) = (inputs.plan, inputs.cell(index));
    let mut causes = differences_of(plan, index, &old.components, &action.components);
    let read = LazyCell::new(|| sources_by_label(plan, cell));
    for cause in &mut causes {
        match cause {
            Cause::Input { source, old: Some(old), new: Some(_), old_output, .. } => {
                let record = read.get(source.as_str()).copied().and_then(record);
                let mut outputs = record.into_iter().flat_map(|record| &record.outputs);
                *old_output = outputs.find(|(_, output)| output.digest == *old).map(|(name, _)| name.clone());
            }
            Cause::Source { pinned, .. } => {
                *pinned = matches!(&action.body, ActionBody::Stage { expected, .. } if !expected.is_empty());
            }
            _ => {}
        }
    }
    mark_repinned(&mut causes, cell, old, inputs.pins);
    causes
}

/// Returns the name of the origin of an artifact; its label, if the cell does not read it.
fn source_name(plan: &Plan, origin: Option<&&Origin>, label: &str) -> String {
    match origin {
        Some(Origin::Cell { index, .. }) => plan.cells[*index].label.to_string(),
        Some(Origin::File(path)) => path.display().to_string(),
        None => label.to_owned(),
    }
}

/// Returns the differences between two components of one cell.
pub fn differences_of(plan: &Plan, index: usize, old: &Components, new: &Components) -> Vec<Cause> {
    let origins = input_origins(&plan.cells[index]);
    let mut causes = differences(old, new);
    for cause in &mut causes {
        match cause {
            Cause::Input { name, label, source, .. } => {
                *source = source_name(plan, origins.get(&(name.as_str(), label.clone())), label);
            }
            Cause::Parameter { name, line, set, .. } => {
                let Some(place) = plan.cells[index].given.get(name).map(|given| given.value_place) else { continue };
                (*line, *set) = ((!place.is_set()).then_some(place.line as usize), place.is_set());
            }
            _ => {}
        }
    }
    causes
}

/// Marks the source of a download as repinned, if its pin changed since the result `before`.
pub fn mark_repinned(causes: &mut [Cause], cell: &Cell, before: &ActionRecord, pins: &Pins) {
    let is_other = |fetch: &FetchRequest| {
        let fetched = before.fetched.iter().find(|one| one.fetch == *fetch);
        fetched.zip(pins.get(fetch)).is_some_and(|(fetched, pin)| fetched.sha256 != pin.sha256)
    };
    // A checksum in the pipeline has priority over a pin.
    let is_repinned = external_sources(cell)
        .iter()
        .any(|one| matches!(&one.from, SourceOrigin::Url(fetch) if one.sha256.is_none() && is_other(fetch)));
    for cause in causes {
        if let (Cause::Source { pinned, repinned, .. }, true) = (cause, is_repinned) {
            (*pinned, *repinned) = (true, true);
        }
    }
}
