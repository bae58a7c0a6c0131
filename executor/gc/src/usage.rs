//! How much room each stage takes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use cwm_action::ActionFile;
use cwm_core::Digest;
use cwm_core::files::Result;
use cwm_store::{Inventory, Store};

/// What one stage takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StageUsage {
    /// Its name.
    pub stage: String,
    /// How many results are recorded.
    pub results: u64,
    /// Bytes of content that no other stage has.
    pub own_bytes: u64,
    /// Bytes of content that other stages have too.
    pub shared_bytes: u64,
    /// Bytes of its work folders, what is kept apart.
    pub work_bytes: u64,
    /// Bytes of what stages keep to go on from.
    pub kept_bytes: u64,
}

/// What a store takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// By stage, the most bytes first.
    pub stages: Vec<StageUsage>,
    /// How many objects there are.
    pub objects: u64,
    /// Bytes of all content, each counted once.
    pub content_bytes: u64,
    /// Bytes of content that no record names.
    pub unnamed_bytes: u64,
    /// Bytes of content that was fetched from outside or taken over from files.
    pub source_bytes: u64,
    /// Bytes of records.
    pub record_bytes: u64,
    /// Bytes of work folders, what is kept in them included.
    pub work_bytes: u64,
    /// Bytes in `temporary/` and `garbage/`, and what `cwm verify` set aside.
    pub other_bytes: u64,
}

impl Usage {
    /// What `store` takes.
    ///
    /// # Errors
    /// The store cannot be read, or something in it is damaged.
    pub fn of(store: &Store) -> Result<Usage> {
        let inventory = store.inventory()?;
        let mut usage = Usage { objects: inventory.objects.len() as u64, ..Usage::default() };
        let mut stages: BTreeMap<&str, StageUsage> = BTreeMap::new();
        // Stages are few, so a number stands for each.
        let mut users: HashMap<Digest, BTreeSet<usize>> = HashMap::new();
        let names: Vec<&str> =
            inventory.held.iter().map(|held| held.label.stage.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
        let mut sources = BTreeSet::new();
        for held in &inventory.held {
            let stage = stages.entry(&held.label.stage).or_default();
            stage.results += 1;
            usage.record_bytes += held.size;
            let number = names.binary_search(&held.label.stage.as_str()).unwrap_or_default();
            for digest in held.content(&inventory).filter(|digest| inventory.objects.contains_key(digest)) {
                users.entry(digest).or_default().insert(number);
                if held.is_source {
                    sources.insert(digest);
                }
            }
        }
        for (digest, size) in &inventory.objects {
            usage.content_bytes += size;
            match users.get(digest) {
                None => usage.unnamed_bytes += size,
                Some(numbers) => {
                    let is_shared = numbers.len() > 1;
                    for number in numbers {
                        let Some(stage) = stages.get_mut(names[*number]) else { continue };
                        *(if is_shared { &mut stage.shared_bytes } else { &mut stage.own_bytes }) += size;
                    }
                }
            }
        }
        usage.source_bytes = sources.iter().filter_map(|digest| inventory.objects.get(digest)).sum();
        let mut named: BTreeMap<String, StageUsage> =
            stages.into_iter().map(|(name, usage)| (name.to_owned(), usage)).collect();
        usage.add_work(&inventory, &mut named);
        usage.stages = named.into_iter().map(|(stage, usage)| StageUsage { stage, ..usage }).collect();
        usage.stages.sort_by(|a, b| b.bytes().cmp(&a.bytes()).then_with(|| a.stage.cmp(&b.stage)));
        let left = store.leftovers()?.into_iter().map(|left| left.bytes);
        let quarantined = store.quarantined_before(jiff::Timestamp::MAX)?.into_iter().map(|(_, bytes)| bytes);
        usage.other_bytes = left.chain(quarantined).sum::<u64>() + store.garbage_bytes()?;
        Ok(usage)
    }

    fn add_work(&mut self, inventory: &Inventory, stages: &mut BTreeMap<String, StageUsage>) {
        for work in &inventory.work {
            self.work_bytes += work.bytes + work.kept_bytes;
            // One whose action file cannot be read was never started.
            if let Ok(action) = ActionFile::read(&work.folder, work.folder.key()) {
                let stage = stages.entry(action.label.stage).or_default();
                stage.work_bytes += work.bytes;
                stage.kept_bytes += work.kept_bytes;
            }
        }
    }

    /// Bytes of all.
    pub fn bytes(&self) -> u64 {
        self.content_bytes + self.record_bytes + self.work_bytes + self.other_bytes
    }
}

impl StageUsage {
    fn bytes(&self) -> u64 {
        self.own_bytes + self.shared_bytes + self.work_bytes + self.kept_bytes
    }
}
