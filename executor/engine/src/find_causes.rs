//! Finds the causes of a cell that has no result: the differences between its key and that of its last result.

use std::cell::LazyCell;

use cwm_contract::Origin;
use jiff::Timestamp;

use crate::cause::{Cause, differences};
use crate::lock_updates::external_sources;
use crate::lookup::{RunContext, input_origins};
use crate::status::CacheStatus;
use cwm_action::source_key;
use cwm_core::{Components, Key, Result};
use cwm_pipeline::plan::{ArtifactOrigin, Plan};
use cwm_store::{ActionRecord, Store};

/// Returns the record of a cell that is done, by its index.
pub type RecordOf<'r> = &'r dyn Fn(usize) -> Option<&'r ActionRecord>;

/// Returns the causes of a cell with these components that has no result. Without a `key`, some of its inputs are not known yet.
///
/// # Errors
/// The store cannot be read.
pub fn rerun_causes(
    context: RunContext<'_>,
    index: usize,
    components: &Components,
    key: Option<&Key>,
    record: RecordOf<'_>,
) -> Result<Vec<Cause>> {
    let store = context.store;
    let label = &context.cell(index).label;
    let (previous, line) = (context.previous_record(label)?, context.lock_file.get(label));
    let lost = line.filter(|_| previous.is_none()).map(|line| &line.key);
    let unfinished = key.map_or(Ok(None), |key| unfinished_attempt(store, key))?;
    let open = components.parameters.get(source_key::SOURCE).map_or(0, source_key::unpinned_urls);
    let mut causes = match (previous, line) {
        _ if key.or(lost).is_some_and(|key| store.has_damaged_record(key)) => vec![Cause::RecordDamaged],
        (Some(previous), _) => changes(context, index, &previous, components, record),
        (None, Some(line)) => vec![Cause::RecordMissing { same: key.map(|key| line.key == *key) }],
        // A failed attempt is no first run.
        (None, None) if unfinished.is_some() => Vec::new(),
        (None, None) => vec![Cause::NeverRan],
    };
    causes.extend(unfinished);
    causes.extend((open > 0).then_some(Cause::NotPinned { count: open }));
    Ok(causes)
}

/// Returns the causes of a cell of which some inputs are not known yet: those that do not depend on these inputs.
///
/// # Errors
/// An external file or a secret cannot be read, or the store.
pub fn known_causes(context: RunContext<'_>, index: usize, cache_status: &CacheStatus) -> Result<Vec<Cause>> {
    let record = |source: usize| cache_status.record(source);
    let components = context.resolve(index, record)?.components;
    let mut causes = rerun_causes(context, index, &components, None, &record)?;
    let origins = input_origins(context.cell(index));
    causes.retain_mut(|cause| {
        let Cause::Input { name, label, old, new, .. } = cause else { return true };
        match origins.get(&(name.as_str(), label.clone())) {
            // It may be the same again.
            Some(ArtifactOrigin::Cell { index, .. }) if record(*index).is_none() => {
                *new = None;
                old.is_none()
            }
            _ => true,
        }
    });
    Ok(causes)
}

/// Returns the attempt at `key` that left its log and no record, if there is one. It runs now, or it failed or was stopped.
fn unfinished_attempt(store: &Store, key: &Key) -> Result<Option<Cause>> {
    let log = store.work_folder(key).log();
    let Some(at) = std::fs::metadata(&log).and_then(|log| log.modified()).ok() else { return Ok(None) };
    if let Some(owner) = store.lock_owner(key)? {
        return Ok(Some(Cause::Running { owner: owner.to_string() }));
    }
    Ok(Timestamp::try_from(at).ok().map(|at| Cause::Unfinished { at }))
}

/// Returns the differences between the result `old` of a cell and these components of it.
pub fn changes(
    context: RunContext<'_>,
    index: usize,
    old: &ActionRecord,
    new: &Components,
    record: RecordOf<'_>,
) -> Vec<Cause> {
    let (plan, cell) = (context.plan, context.cell(index));
    // An unpinned download has its checksum since it was fetched.
    let pinned = source_key::with_checksums(&old.components, &old.fetched);
    let mut causes = differences_of(plan, index, pinned.as_ref().unwrap_or(&old.components), new);
    let origins = LazyCell::new(|| input_origins(cell));
    for cause in &mut causes {
        match cause {
            Cause::Input { name, label, old: Some(old), new: Some(_), old_output, .. } => {
                let Some(ArtifactOrigin::Cell { index, .. }) = origins.get(&(name.as_str(), label.clone())) else {
                    continue;
                };
                let mut outputs = record(*index).into_iter().flat_map(|record| &record.outputs);
                *old_output = outputs.find(|(_, output)| output.digest == *old).map(|(name, _)| name.clone());
            }
            Cause::Source { pinned, repinned, .. } => {
                // A checksum in the pipeline has priority over a pin.
                for source in external_sources(cell).iter().filter(|source| source.sha256.is_none()) {
                    let Origin::Url(fetch) = &source.from else { continue };
                    let Some(pin) = context.pins.get(fetch) else { continue };
                    *pinned = true;
                    *repinned |= old.fetched.iter().any(|one| one.fetch == *fetch && one.sha256 != pin.sha256);
                }
            }
            _ => {}
        }
    }
    causes
}

/// Returns the name of the origin of an artifact; its label, if the cell does not read it.
fn source_name(plan: &Plan, origin: Option<&&ArtifactOrigin>, label: &str) -> String {
    match origin {
        Some(ArtifactOrigin::Cell { index, .. }) => plan.cells[*index].label.to_string(),
        Some(ArtifactOrigin::File(path)) => path.display().to_string(),
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
                let Some(place) = plan.cells[index].explicit.get(name).map(|entry| entry.value_place) else { continue };
                (*line, *set) = ((!place.is_set()).then_some(place.line as usize), place.is_set());
            }
            _ => {}
        }
    }
    causes
}
