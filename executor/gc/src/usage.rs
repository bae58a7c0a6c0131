//! The size of a store, and the share of each stage.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::Serialize;

use cwm_action::ActionFile;
use cwm_core::Digest;
use cwm_core::files::Result;
use cwm_store::{Store, bytes_below};

/// The size of one stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StageUsage {
    /// Its name.
    pub stage: String,
    /// The number of recorded results.
    pub results: u64,
    /// Bytes of content that no other stage has.
    pub own_bytes: u64,
    /// Bytes of content that other stages have too.
    pub shared_bytes: u64,
    /// Bytes of its work folders without checkpoints.
    pub work_bytes: u64,
    /// Bytes of its checkpoints.
    pub checkpoint_bytes: u64,
}

/// The size of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// By stage, the most bytes first.
    pub stages: Vec<StageUsage>,
    /// The number of objects.
    pub objects: u64,
    /// Bytes of all content, each counted once.
    pub content_bytes: u64,
    /// Bytes of content that no record names.
    pub unnamed_bytes: u64,
    /// Bytes of external content: fetched, or recorded from files.
    pub external_bytes: u64,
    /// Bytes of records.
    pub record_bytes: u64,
    /// Bytes of work folders with their checkpoints.
    pub work_bytes: u64,
    /// Bytes in `temporary/` and `garbage/`, and in quarantine.
    pub other_bytes: u64,
}

impl Usage {
    /// Measures `store`.
    ///
    /// # Errors
    /// The store cannot be read, or something in it is damaged.
    pub fn of(store: &Store) -> Result<Usage> {
        let inventory = store.inventory()?;
        let mut usage = Usage { objects: inventory.objects.len() as u64, ..Usage::default() };
        let mut stages: BTreeMap<String, StageUsage> = BTreeMap::new();
        let mut users: HashMap<Digest, BTreeSet<&str>> = HashMap::new();
        let mut sources = HashSet::new();
        for entry in &inventory.records {
            usage.record_bytes += entry.size;
            stages.entry(entry.record.label.stage.clone()).or_default().results += 1;
            for digest in entry.content(&inventory) {
                users.entry(digest).or_default().insert(&entry.record.label.stage);
                if entry.record.is_irreproducible() {
                    sources.insert(digest);
                }
            }
        }
        for (digest, size) in &inventory.objects {
            usage.content_bytes += size;
            usage.external_bytes += if sources.contains(digest) { *size } else { 0 };
            let Some(users) = users.get(digest) else {
                usage.unnamed_bytes += size;
                continue;
            };
            for name in users {
                let stage = stages.entry((*name).to_owned()).or_default();
                *(if users.len() > 1 { &mut stage.shared_bytes } else { &mut stage.own_bytes }) += size;
            }
        }
        for work in &inventory.work {
            usage.work_bytes += work.bytes + work.checkpoint_bytes;
            // An action whose file cannot be read was never started.
            if let Ok(action) = ActionFile::read(&work.folder) {
                let stage = stages.entry(action.label.stage).or_default();
                stage.work_bytes += work.bytes;
                stage.checkpoint_bytes += work.checkpoint_bytes;
            }
        }
        usage.stages = stages.into_iter().map(|(stage, usage)| StageUsage { stage, ..usage }).collect();
        usage.stages.sort_by(|a, b| b.bytes().cmp(&a.bytes()).then_with(|| a.stage.cmp(&b.stage)));
        for folder in [store.folder("temporary"), store.folder("quarantine"), store.folder("garbage")] {
            usage.other_bytes += bytes_below(&folder)?;
        }
        Ok(usage)
    }

    /// Bytes of all.
    pub fn bytes(&self) -> u64 {
        self.content_bytes + self.record_bytes + self.work_bytes + self.other_bytes
    }
}

impl StageUsage {
    fn bytes(&self) -> u64 {
        self.own_bytes + self.shared_bytes + self.work_bytes + self.checkpoint_bytes
    }
}
