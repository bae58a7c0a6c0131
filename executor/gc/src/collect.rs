//! What of a store may go, and having it go.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use super::age::Age;
use super::reachability::{Reachability, Retention};
use super::roots::{Root, roots};
use crate::jobs::BatchJobs;
use cwm_action::ActionFile;
use cwm_core::files::Result;
use cwm_core::{Digest, DurableFs};
use cwm_store::{EvictionReason, Garbage, Inventory, Store, WorkFolderEntry};

/// How long the work folder of a stage that failed or was stopped stays: what it kept is gone on from.
const WORK: Age = Age::days(14);

/// How long a transfer with a remote that nobody goes on with stays.
const TRANSFERS: Age = Age::days(14);

/// How long what was found damaged stays.
const QUARANTINE: Age = Age::days(30);

/// What may go.
#[derive(Clone, Copy, Debug)]
pub struct GcOptions {
    /// Results that were made or used within this stay.
    pub keep: Age,
    /// Only as much goes as brings all content to this many bytes, least recently used first.
    pub max_size: Option<u64>,
    /// Whether what was fetched from outside goes too, if no root names it.
    pub sources: bool,
}

/// Results of one stage that go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReclaimedStage {
    /// The stage.
    pub stage: String,
    /// How many results lose content.
    pub results: u64,
    /// Bytes that this frees: what others share stays.
    pub bytes: u64,
}

/// What goes, and what stays.
#[derive(Debug, Default)]
pub struct GcPlan {
    /// By stage, the most bytes first.
    pub stages: Vec<ReclaimedStage>,
    /// Bytes of content that no record names: of interrupted runs.
    pub unnamed_bytes: u64,
    /// Work folders of stages that ended long ago: what they were, and bytes.
    pub work: Vec<(String, u64)>,
    /// Bytes that interrupted writes left.
    pub leftover_bytes: u64,
    /// Bytes of transfers with remotes that were interrupted long ago.
    pub transfer_bytes: u64,
    /// Bytes of those that were interrupted lately, and stay: the next attempt goes on with them.
    pub staying_transfer_bytes: u64,
    /// Bytes that were set aside as damaged.
    pub quarantine_bytes: u64,
    /// Bytes that an interrupted collection had set aside already.
    pub aside_bytes: u64,
    /// Bytes of content that stay, by the strongest reason.
    pub stays: BTreeMap<Retention, u64>,
    /// What the roots are.
    pub roots: Vec<Root>,
    /// What is to be moved.
    garbage: Garbage,
    /// Files of roots that name nothing any more.
    ended: Vec<PathBuf>,
}

impl GcPlan {
    /// Bytes that go.
    pub fn bytes(&self) -> u64 {
        let stages: u64 = self.stages.iter().map(|stage| stage.bytes).sum();
        let work: u64 = self.work.iter().map(|(_, bytes)| bytes).sum();
        let left = self.leftover_bytes + self.transfer_bytes;
        stages + work + left + self.unnamed_bytes + self.quarantine_bytes + self.aside_bytes
    }

    /// Bytes of content that stay.
    pub fn staying_bytes(&self) -> u64 {
        self.stays.values().sum()
    }

    /// Whether nothing goes.
    pub fn is_empty(&self) -> bool {
        let Garbage { records, objects, work, others } = &self.garbage;
        let nothing = records.is_empty() && objects.is_empty() && work.is_empty() && others.is_empty();
        nothing && self.aside_bytes == 0 && self.ended.is_empty()
    }
}

/// What would go.
///
/// # Errors
/// The store cannot be read; or something in it is damaged, so that what is wanted cannot be told.
pub fn plan(store: &Store, jobs: &dyn BatchJobs, wish: GcOptions, now: Timestamp) -> Result<GcPlan> {
    let roots = roots(store, jobs, now)?;
    let inventory = store.inventory()?;
    let since = (wish.keep > Age::days(0)).then(|| wish.keep.before(now));
    let reach = Reachability::of(store, &inventory, &roots, since, wish.sources);
    let mut collection = GcPlan { roots, ..GcPlan::default() };
    let doomed = choose(&inventory, &reach, wish.max_size, &mut collection);
    for digest in doomed.iter().filter(|digest| inventory.folders.contains_key(*digest)) {
        collection.garbage.others.push(store.tree_folder(digest));
    }
    collection.garbage.objects = doomed;
    collection.garbage.others.extend(store.trees_without_manifests()?);
    let ended = wish.keep.max(WORK).before(now);
    let awaited = jobs.awaited_keys(store);
    let is_idle = |work: &&WorkFolderEntry| !work.is_running && !awaited.contains(work.folder.key());
    for work in inventory.work.iter().filter(is_idle).filter(|work| work.changed < ended) {
        let key = work.folder.key();
        let action = ActionFile::read(&work.folder, key);
        let name = action.map_or_else(|_| key.short(), |action| action.label.to_string());
        collection.work.push((name, work.bytes + work.kept_bytes));
        collection.garbage.work.push(work.folder.clone());
    }
    let yesterday = Age::days(1).before(now);
    for (path, bytes) in store.sized(jobs.garbage(store, yesterday).into_iter())? {
        collection.leftover_bytes += bytes;
        collection.garbage.others.push(path);
    }
    let given_up = wish.keep.max(TRANSFERS).before(now);
    for left in store.leftovers()? {
        if left.is_transfer && left.changed >= given_up {
            collection.staying_transfer_bytes += left.bytes;
            continue;
        }
        *(if left.is_transfer { &mut collection.transfer_bytes } else { &mut collection.leftover_bytes }) += left.bytes;
        collection.garbage.others.push(left.path);
    }
    for (path, bytes) in store.quarantined_before(wish.keep.max(QUARANTINE).before(now))? {
        collection.quarantine_bytes += bytes;
        collection.garbage.others.push(path);
    }
    collection.aside_bytes = store.garbage_bytes()?;
    collection.ended = collection.roots.iter().filter_map(|root| root.ended.clone()).collect();
    Ok(collection)
}

/// The content that goes, and whose it is.
fn choose(inventory: &Inventory, reach: &Reachability, max_size: Option<u64>, collection: &mut GcPlan) -> Vec<Digest> {
    let content = |index: usize| inventory.held[index].content(inventory).collect::<HashSet<Digest>>();
    let mut wanted: HashMap<Digest, u32> = HashMap::new();
    for index in 0..inventory.held.len() {
        content(index).into_iter().for_each(|digest| *wanted.entry(digest).or_default() += 1);
    }
    let mut left: u64 = inventory.objects.values().sum();
    let mut doomed = Vec::new();
    for (digest, size) in &inventory.objects {
        if !wanted.contains_key(digest) && !reach.pinned.contains(digest) {
            doomed.push(*digest);
            collection.unnamed_bytes += size;
            left -= size;
        }
    }
    let mut free: Vec<usize> =
        (0..inventory.held.len()).filter(|index| reach.stands[*index] == Retention::Free).collect();
    free.sort_by_key(|index| (inventory.held[*index].last_used, inventory.held[*index].key));
    let mut taken: BTreeMap<&str, ReclaimedStage> = BTreeMap::new();
    let mut given_up = Vec::new();
    for index in free {
        if max_size.is_some_and(|max_size| left <= max_size) {
            break;
        }
        given_up.push(index);
        let held = &inventory.held[index];
        let mut bytes = 0;
        for digest in content(index) {
            let Some(size) = inventory.objects.get(&digest) else { continue };
            let count = wanted.entry(digest).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 && !reach.pinned.contains(&digest) {
                doomed.push(digest);
                bytes += size;
            }
        }
        left -= bytes;
        if bytes > 0 {
            let stage = taken.entry(&held.label.stage).or_default();
            stage.results += 1;
            stage.bytes += bytes;
        }
    }
    collection.stages =
        taken.into_iter().map(|(stage, taken)| ReclaimedStage { stage: stage.to_owned(), ..taken }).collect();
    collection.stages.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.stage.cmp(&b.stage)));
    doomed.sort();
    // Only now: content that several share goes with the last of them, and all of them lack it.
    let lacks = |digest| !inventory.objects.contains_key(&digest) || doomed.binary_search(&digest).is_ok();
    let lacking = given_up.into_iter().filter(|index| content(*index).into_iter().any(lacks));
    let lacking = lacking.map(|index| &inventory.held[index]).filter(|held| held.dropped.is_none());
    collection.garbage.records = lacking.map(|held| held.file.clone()).collect();
    collection.stays = staying(inventory, reach, &doomed);
    doomed
}

/// Bytes of content that stay, by the strongest reason that one of its results has.
fn staying(inventory: &Inventory, reach: &Reachability, doomed: &[Digest]) -> BTreeMap<Retention, u64> {
    let mut reasons: HashMap<Digest, Retention> =
        reach.pinned.iter().map(|digest| (*digest, Retention::Root)).collect();
    for (held, stands) in inventory.held.iter().zip(&reach.stands) {
        for digest in held.content(inventory) {
            let reason = reasons.entry(digest).or_insert(*stands);
            *reason = (*reason).min(*stands);
        }
    }
    let mut stays = BTreeMap::new();
    for (digest, size) in &inventory.objects {
        if doomed.binary_search(digest).is_err() {
            *stays.entry(reasons.get(digest).copied().unwrap_or(Retention::Free)).or_default() += size;
        }
    }
    stays
}

/// Has go what [`plan`] names. The store is held alone while it is looked over and garbage is moved aside, and no longer
/// when that is deleted. `waiting` is told once, in words, if others use the store.
///
/// # Errors
/// As [`plan`]; or the disk refuses: then the next collection goes on from there.
pub fn collect(
    store: &Store,
    jobs: &dyn BatchJobs,
    wish: GcOptions,
    now: Timestamp,
    waiting: impl FnOnce(&str),
) -> Result<GcPlan> {
    let alone = store.lock_exclusive("cwm gc", waiting)?;
    let collection = plan(store, jobs, wish, now)?;
    if !collection.is_empty() {
        store.set_aside_garbage(&collection.garbage, EvictionReason::Collected, &alone)?;
        collection.ended.iter().try_for_each(|file| DurableFs::default().remove(file))?;
    }
    drop(alone);
    store.delete_garbage()?;
    Ok(collection)
}
