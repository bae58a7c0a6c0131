//! The content of evicted results that no other result names.

use std::collections::{HashMap, HashSet};

use cwm_core::Digest;
use cwm_store::{Garbage, Inventory};

/// Evicted results, and the content that no other result names.
pub struct EvictionPlan<'i> {
    inventory: &'i Inventory,
    /// Content that stays whatever names it.
    pinned: &'i HashSet<Digest>,
    /// The number of results that have each content.
    references: HashMap<Digest, u32>,
    /// Evicted results, by index into [`Inventory::records`].
    evicted: Vec<usize>,
    /// The content to remove.
    pub content: HashSet<Digest>,
}

impl<'i> EvictionPlan<'i> {
    /// Evicts nothing yet. `results` are those that have content, by index into [`Inventory::records`].
    pub fn new(inventory: &'i Inventory, pinned: &'i HashSet<Digest>, results: impl Iterator<Item = usize>) -> Self {
        let mut references: HashMap<Digest, u32> = HashMap::new();
        for digest in results.flat_map(|index| content(inventory, index)) {
            *references.entry(digest).or_default() += 1;
        }
        EvictionPlan { inventory, pinned, references, evicted: Vec::new(), content: HashSet::new() }
    }

    /// Adds the content that no result has. Returns its bytes.
    pub fn add_unnamed(&mut self) -> u64 {
        let mut bytes = 0;
        for (digest, size) in &self.inventory.objects {
            if !self.references.contains_key(digest) && !self.pinned.contains(digest) {
                self.content.insert(*digest);
                bytes += size;
            }
        }
        bytes
    }

    /// Evicts a result, which has content. Returns the bytes that this frees: shared content is freed with the last result that has
    /// it.
    pub fn evict(&mut self, index: usize) -> u64 {
        self.evicted.push(index);
        let mut bytes = 0;
        for digest in content(self.inventory, index) {
            let Some(size) = self.inventory.objects.get(&digest) else { continue };
            let count = self.references.entry(digest).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 && !self.pinned.contains(&digest) && self.content.insert(digest) {
                bytes += size;
            }
        }
        bytes
    }

    /// Returns what is to be moved to the garbage: the content, and the records to mark. A record is marked if any of its content
    /// is deleted or is missing already.
    pub fn garbage(&self) -> Garbage {
        let Inventory { records: entries, objects, .. } = self.inventory;
        let is_missing = |digest: Digest| !objects.contains_key(&digest) || self.content.contains(&digest);
        let incomplete = |index: &&usize| content(self.inventory, **index).into_iter().any(is_missing);
        let records = self.evicted.iter().filter(incomplete).map(|index| &entries[*index]);
        let mut garbage = Garbage {
            records: records.filter(|entry| entry.record.evicted.is_none()).map(|entry| entry.file.clone()).collect(),
            objects: self.content.iter().copied().collect(),
            ..Garbage::default()
        };
        garbage.objects.sort();
        garbage
    }
}

/// The content of a result, each once.
fn content(inventory: &Inventory, index: usize) -> HashSet<Digest> {
    inventory.records[index].content(inventory).collect()
}
