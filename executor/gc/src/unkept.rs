//! Letting go what its stage does not keep (`keep: false`), once everything that reads it is done.

use std::collections::HashSet;
use std::path::Path;

use jiff::Timestamp;

use super::reachability::{Reachability, Retention};
use super::roots::roots;
use crate::jobs::BatchJobs;
use cwm_core::Digest;
use cwm_core::files::Result;
use cwm_store::{ActionRecord, EvictionReason, Garbage, Inventory, Store};

/// What became of results that are not kept.
#[derive(Debug, PartialEq, Eq)]
pub enum EvictionOutcome {
    /// These were let go, by index into what was asked for, with the bytes that it freed.
    Evicted(Vec<(usize, u64)>),
    /// Others use the store: nothing goes now.
    Busy,
}

/// Lets go the content of `results`, of the pipeline with this lock file, as far as nobody else names it: another lock file,
/// a tag, a running stage, another record. Their records and logs stay. Whoever calls this holds no lock of the store.
///
/// # Errors
/// The store cannot be read or written.
pub fn evict_content(
    store: &Store,
    jobs: &dyn BatchJobs,
    own_lock: &Path,
    results: &[&ActionRecord],
) -> Result<EvictionOutcome> {
    let is_there = |result: &&ActionRecord| {
        let own = result.outputs.values().filter(|output| output.outside.is_none());
        own.into_iter().any(|output| store.object_path(&output.digest).exists())
    };
    if !results.iter().any(is_there) {
        return Ok(EvictionOutcome::Evicted(Vec::new()));
    }
    let Some(alone) = store.try_lock_exclusive("cwm run")? else { return Ok(EvictionOutcome::Busy) };
    let inventory = store.inventory()?;
    let own_lock = std::fs::canonicalize(own_lock).unwrap_or_else(|_| own_lock.to_owned());
    let mut others = roots(store, jobs, Timestamp::now())?;
    others.retain(|root| Path::new(&root.name) != own_lock);
    let reach = Reachability::of(store, &inventory, &others, None, true);
    let mut going = vec![None; inventory.held.len()];
    for (index, held) in inventory.held.iter().enumerate() {
        let is_it = |result: &&ActionRecord| result.key == held.key && result.outputs == held.outputs;
        going[index] = results.iter().position(is_it).filter(|_| reach.stands[index] != Retention::Root);
    }
    let mut wanted: HashSet<Digest> = reach.pinned.clone();
    for (held, going) in inventory.held.iter().zip(&going) {
        // What lacks its content on purpose wants none.
        if going.is_none() && (held.dropped.is_none() || is_whole(&inventory, &held.outputs)) {
            wanted.extend(held.content(&inventory));
        } else {
            wanted.extend(held.log);
        }
    }
    let mut garbage = Garbage::default();
    let (mut gone, mut dropped) = (HashSet::new(), Vec::new());
    for (held, result) in inventory.held.iter().zip(&going) {
        let Some(result) = result else { continue };
        let own = held.outputs.values().filter(|output| output.outside.is_none());
        let content: HashSet<Digest> = own.flat_map(|output| inventory.with_children(output.digest)).collect();
        let goes = |digest: &Digest| inventory.objects.contains_key(digest) && !wanted.contains(digest);
        if !content.iter().any(goes) {
            continue;
        }
        garbage.records.push(held.file.clone());
        let mut bytes = 0;
        for digest in content.into_iter().filter(goes).filter(|digest| gone.insert(*digest)) {
            bytes += inventory.objects[&digest];
            garbage.objects.push(digest);
            if inventory.folders.contains_key(&digest) {
                garbage.others.push(store.tree_folder(&digest));
            }
        }
        dropped.push((*result, bytes));
    }
    if !garbage.records.is_empty() {
        store.set_aside_garbage(&garbage, EvictionReason::NotKept, &alone)?;
        drop(alone);
        store.delete_garbage()?;
    }
    Ok(EvictionOutcome::Evicted(dropped))
}

/// Whether all outputs are there.
fn is_whole(inventory: &Inventory, outputs: &std::collections::BTreeMap<String, cwm_store::OutputRecord>) -> bool {
    let own = outputs.values().filter(|output| output.outside.is_none());
    own.into_iter()
        .flat_map(|output| inventory.with_children(output.digest))
        .all(|digest| inventory.objects.contains_key(&digest))
}
