//! Garbage collection: finds the garbage of a store, and removes it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::eviction_plan::EvictionPlan;
use super::reachability::{Reachability, Retention};
use super::roots::{BatchJobs, Root, roots};
use super::time_span::{days, time_before};
use cwm_action::ActionFile;
use cwm_core::Digest;
use cwm_core::files::Result;
use cwm_store::{EvictionReason, Garbage, Inventory, Store, WorkFolderEntry, bytes_below};

/// The time for which the work folder of a stage that failed or was stopped stays: the next attempt resumes from there.
const WORK_RETENTION: Duration = days(14);

/// The time for which an interrupted transfer with a remote stays.
const TRANSFER_RETENTION: Duration = days(14);

/// The time for which damaged content stays in quarantine.
const QUARANTINE_RETENTION: Duration = days(30);

/// The limits of a collection.
#[derive(Clone, Copy, Debug)]
pub struct GcOptions {
    /// Results that were made or used within this time stay.
    pub keep: Duration,
    /// The size to which content is reduced, in bytes, least recently used first; no more is removed.
    pub max_size: Option<u64>,
    /// True if external content is deleted too, where no root names it.
    pub sources: bool,
}

/// Results of one stage that are evicted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EvictedStage {
    /// The stage.
    pub stage: String,
    /// The number of results that lose content.
    pub results: u64,
    /// The bytes that this frees: shared content stays.
    pub bytes: u64,
}

/// The work folder of an action that ended long ago.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReclaimedWork {
    /// The cell, or the key where the cell is not known.
    pub label: String,
    /// Its bytes.
    pub bytes: u64,
}

/// The content that is deleted and that is retained: what `cwm store gc --json` prints, field for field (`docs/json.md`).
#[derive(Debug, Default, Serialize)]
pub struct GcReport {
    /// The version of this as JSON.
    pub format: u32,
    /// True if it was deleted.
    pub deleted: bool,
    /// All bytes that are deleted.
    pub bytes: u64,
    /// Evicted results by stage, the most bytes first.
    pub stages: Vec<EvictedStage>,
    /// Bytes of content that no record names, of interrupted runs.
    pub unnamed_bytes: u64,
    /// Work folders of stages that ended long ago.
    pub work: Vec<ReclaimedWork>,
    /// Bytes that interrupted writes left.
    pub temporary_bytes: u64,
    /// Bytes of transfers with remotes that were interrupted long ago.
    pub transfer_bytes: u64,
    /// Bytes of transfers that were interrupted lately, and stay: the next attempt resumes them.
    pub retained_transfer_bytes: u64,
    /// Bytes in quarantine.
    pub quarantine_bytes: u64,
    /// Bytes that an interrupted collection left over in `garbage/`.
    pub garbage_bytes: u64,
    /// All bytes of content that stay.
    pub retained_bytes: u64,
    /// Bytes of content that stay, by the strongest reason.
    pub retained_by_reason: BTreeMap<Retention, u64>,
    /// The roots.
    pub roots: Vec<Root>,
}

/// A collection, planned or done.
#[derive(Debug)]
pub struct GcPlan {
    /// The content that is deleted and that is retained.
    pub report: GcReport,
    /// The garbage to move to `garbage/`.
    garbage: Garbage,
}

impl GcPlan {
    /// Returns true if nothing is deleted.
    pub fn is_empty(&self) -> bool {
        let Garbage { records, objects, work, others } = &self.garbage;
        let nothing = records.is_empty() && objects.is_empty() && work.is_empty() && others.is_empty();
        nothing && self.report.garbage_bytes == 0
    }

    fn add_results(&mut self, inventory: &Inventory, reach: &Reachability, max_size: Option<u64>) {
        let mut eviction = EvictionPlan::new(inventory, &reach.pinned, 0..inventory.records.len());
        self.report.unnamed_bytes = eviction.add_unnamed();
        let mut left = inventory.objects.values().sum::<u64>() - self.report.unnamed_bytes;
        let mut free: Vec<usize> =
            (0..inventory.records.len()).filter(|index| reach.retention[*index] == Retention::Unprotected).collect();
        free.sort_by_key(|index| (inventory.records[*index].last_used, inventory.records[*index].record.key));
        let mut stages: BTreeMap<&str, EvictedStage> = BTreeMap::new();
        for index in free {
            if max_size.is_some_and(|max_size| left <= max_size) {
                break;
            }
            let bytes = eviction.evict(index);
            left -= bytes;
            if bytes > 0 {
                let stage = stages.entry(&inventory.records[index].record.label.stage).or_default();
                stage.results += 1;
                stage.bytes += bytes;
            }
        }
        self.report.stages =
            stages.into_iter().map(|(stage, freed)| EvictedStage { stage: stage.to_owned(), ..freed }).collect();
        self.report.stages.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.stage.cmp(&b.stage)));
        self.report.retained_by_reason = retained(inventory, reach, &eviction.content);
        self.garbage = eviction.garbage();
    }

    fn add_work(&mut self, entry: &WorkFolderEntry) {
        let key = &entry.folder.key;
        let action = ActionFile::read(&entry.folder);
        let label = action.map_or_else(|_| key.short(), |action| action.label.to_string());
        self.report.work.push(ReclaimedWork { label, bytes: entry.bytes + entry.checkpoint_bytes });
        self.garbage.work.push(entry.folder.clone());
    }
}

/// Plans a collection.
///
/// # Errors
/// The store cannot be read; or something in it is damaged, so that the results that it names are not known.
pub fn plan(store: &Store, jobs: &BatchJobs, options: GcOptions, now: Timestamp) -> Result<GcPlan> {
    let roots = roots(store, jobs, now)?;
    let inventory = store.inventory()?;
    let since = (!options.keep.is_zero()).then(|| time_before(now, options.keep));
    let reach = Reachability::of(store, &inventory, &roots, since, options.sources);
    let report = GcReport { format: 1, roots, ..GcReport::default() };
    let mut plan = GcPlan { report, garbage: Garbage::default() };
    plan.add_results(&inventory, &reach, options.max_size);
    plan.garbage.others.extend(plan.report.roots.iter().filter_map(|root| root.ended.clone()));
    plan.garbage.others.extend(store.trees_without_manifests()?);
    let ended = time_before(now, options.keep.max(WORK_RETENTION));
    let pending = (jobs.pending_keys)(store);
    let is_unused = |work: &&WorkFolderEntry| !work.is_running && !pending.contains(&work.folder.key);
    inventory.work.iter().filter(is_unused).filter(|work| work.changed < ended).for_each(|work| plan.add_work(work));
    let yesterday = time_before(now, days(1));
    for path in (jobs.garbage)(store, yesterday) {
        plan.report.temporary_bytes += bytes_below(&path)?;
        plan.garbage.others.push(path);
    }
    let abandoned = time_before(now, options.keep.max(TRANSFER_RETENTION));
    for left in store.stale_temporaries()? {
        if left.is_transfer && left.changed >= abandoned {
            plan.report.retained_transfer_bytes += left.bytes;
            continue;
        }
        let GcReport { transfer_bytes, temporary_bytes, .. } = &mut plan.report;
        *(if left.is_transfer { transfer_bytes } else { temporary_bytes }) += left.bytes;
        plan.garbage.others.push(left.path);
    }
    for path in store.quarantined_before(time_before(now, options.keep.max(QUARANTINE_RETENTION)))? {
        plan.report.quarantine_bytes += bytes_below(&path)?;
        plan.garbage.others.push(path);
    }
    let report = &mut plan.report;
    report.garbage_bytes = bytes_below(&store.folder("garbage"))?;
    report.retained_bytes = report.retained_by_reason.values().sum();
    let stages: u64 = report.stages.iter().map(|stage| stage.bytes).sum();
    let work: u64 = report.work.iter().map(|work| work.bytes).sum();
    let interrupted = report.unnamed_bytes + report.temporary_bytes + report.transfer_bytes;
    report.bytes = stages + work + interrupted + report.quarantine_bytes + report.garbage_bytes;
    Ok(plan)
}

/// Bytes of content that stay, by the strongest reason that one of its results has.
fn retained(inventory: &Inventory, reach: &Reachability, evicted: &HashSet<Digest>) -> BTreeMap<Retention, u64> {
    let mut reasons: HashMap<Digest, Retention> =
        reach.pinned.iter().map(|digest| (*digest, Retention::Root)).collect();
    for (entry, retention) in inventory.records.iter().zip(&reach.retention) {
        for digest in entry.content(inventory) {
            let reason = reasons.entry(digest).or_insert(*retention);
            *reason = (*reason).min(*retention);
        }
    }
    let mut bytes = BTreeMap::new();
    for (digest, size) in inventory.objects.iter().filter(|(digest, _)| !evicted.contains(*digest)) {
        *bytes.entry(reasons.get(digest).copied().unwrap_or(Retention::Unprotected)).or_default() += size;
    }
    bytes
}

/// Removes what [`plan`] names. The store is locked exclusively while it is read and garbage is moved, and no longer when
/// that is deleted. `waiting` is called once if others use the store.
///
/// # Errors
/// As [`plan`]; or an operation on the disk fails: then the next collection resumes from there.
pub fn collect(
    store: &Store,
    jobs: &BatchJobs,
    options: GcOptions,
    now: Timestamp,
    waiting: impl FnOnce(),
) -> Result<GcPlan> {
    let alone = store.lock_exclusive("cwm store gc", waiting)?;
    let mut plan = plan(store, jobs, options, now)?;
    plan.report.deleted = true;
    if !plan.is_empty() {
        store.move_garbage(&plan.garbage, EvictionReason::Collected, &alone)?;
    }
    drop(alone);
    store.delete_garbage()?;
    Ok(plan)
}
