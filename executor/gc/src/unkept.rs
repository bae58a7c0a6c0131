//! Evicts the content of results that their stages do not keep (`keep: false`), once everything that reads it is done.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::eviction_plan::EvictionPlan;
use super::reachability::{Reachability, Retention};
use super::roots::{BatchJobs, roots};
use cwm_core::files::Result;
use cwm_store::{ActionRecord, EvictionReason, Store};

/// Evicts the content of `results`, of the pipeline with these lock files or folders of them, as far as nothing else
/// names it: another lock file, a tag, a running stage, another record. Their records and logs stay. The caller holds
/// no lock of the store. Returns the evicted results, by index into `results`, with the bytes that each freed; nothing
/// if other processes use the store, so that nothing was evicted.
///
/// # Errors
/// The store cannot be read or written.
pub fn evict_content(
    store: &Store,
    jobs: &BatchJobs,
    own_locks: &[PathBuf],
    results: &[&ActionRecord],
) -> Result<Option<Vec<(usize, u64)>>> {
    let is_present = |result: &&ActionRecord| {
        let mut own = result.outputs.values().filter(|output| output.external.is_none());
        own.any(|output| store.object_path(&output.digest).exists())
    };
    if !results.iter().any(is_present) {
        return Ok(Some(Vec::new()));
    }
    let Some(alone) = store.try_lock_exclusive("cwm run")? else { return Ok(None) };
    let inventory = store.inventory()?;
    let own_locks = own_locks.iter().map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()));
    let own_locks: Vec<PathBuf> = own_locks.collect();
    let mut others = roots(store, jobs, Timestamp::now())?;
    others.retain(|root| !own_locks.iter().any(|own| Path::new(&root.name).starts_with(own)));
    let Reachability { retention, mut pinned } = Reachability::of(store, &inventory, &others, None, true);
    pinned.extend(inventory.records.iter().filter_map(|entry| entry.record.log));
    let mut going = BTreeMap::new();
    for (index, entry) in inventory.records.iter().enumerate() {
        let is_it = |result: &&ActionRecord| result.key == entry.record.key && result.outputs == entry.record.outputs;
        let result = results.iter().position(is_it).filter(|_| retention[index] != Retention::Root);
        going.extend(result.map(|result| (index, result)));
    }
    // A result that was evicted before, and is incomplete, has no content.
    let has_content = |index: &usize| {
        let entry = &inventory.records[*index];
        let is_complete = || entry.content(&inventory).all(|digest| inventory.objects.contains_key(&digest));
        going.contains_key(index) || entry.record.evicted.is_none() || is_complete()
    };
    let mut eviction = EvictionPlan::new(&inventory, &pinned, (0..inventory.records.len()).filter(has_content));
    let freed = going.iter().map(|(index, result)| (*result, eviction.evict(*index)));
    let evicted = freed.filter(|(_, bytes)| *bytes > 0).collect();
    if !eviction.content.is_empty() {
        store.move_garbage(&eviction.garbage(), EvictionReason::NotKept, &alone)?;
        drop(alone);
        store.delete_garbage()?;
    }
    Ok(Some(evicted))
}
