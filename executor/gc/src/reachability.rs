//! The results that stay, and why.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use super::roots::Root;
use cwm_core::{Digest, Key};
use cwm_store::{Inventory, LARGEST_MANIFEST, Manifest, RecordEntry, Store};

/// The reason for which the content of a result stays, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retention {
    /// A root names it.
    Root,
    /// The content is external, fetched or recorded from a file: to make it again is costly or impossible.
    External,
    /// The result was made or used lately.
    Recent,
    /// Nothing keeps it.
    Unprotected,
}

/// The content of a store that stays.
pub struct Reachability {
    /// The reason for which each result stays, by index into [`Inventory::records`].
    pub retention: Vec<Retention>,
    /// Content that stays whatever records name it: roots name it by itself, or it came through a pipe.
    pub pinned: HashSet<Digest>,
}

impl Reachability {
    /// Keeps what `roots` name; what was made or used `since`; and sources, unless `with_sources`.
    pub fn of(
        store: &Store,
        inventory: &Inventory,
        roots: &[Root],
        since: Option<Timestamp>,
        with_sources: bool,
    ) -> Reachability {
        let without_root = |entry: &RecordEntry| match since {
            _ if entry.record.is_irreproducible() && !with_sources => Retention::External,
            Some(since) if entry.last_used >= since => Retention::Recent,
            _ => Retention::Unprotected,
        };
        let mut retention: Vec<Retention> = inventory.records.iter().map(without_root).collect();
        let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
        for (index, entry) in inventory.records.iter().enumerate() {
            by_key.entry(entry.record.key).or_default().push(index);
        }
        let mut pinned = HashSet::new();
        for (key, outputs) in roots.iter().flat_map(|root| &root.results) {
            let named = key.and_then(|key| by_key.get(&key)).into_iter().flatten();
            let mut is_recorded = false;
            for &index in named.filter(|index| inventory.records[**index].record.output_digests() == *outputs) {
                retention[index] = Retention::Root;
                is_recorded = true;
            }
            if !is_recorded {
                for digest in outputs.values() {
                    pin(store, inventory, *digest, &mut pinned);
                }
            }
        }
        let made: HashSet<Digest> = inventory
            .records
            .iter()
            .flat_map(|entry| entry.record.outputs.values())
            .map(|output| output.digest)
            .collect();
        for (entry, retention) in inventory.records.iter().zip(&retention) {
            // Content from a pipe is no output, and cannot be read again.
            if !with_sources || *retention != Retention::Unprotected {
                pinned.extend(entry.record.input_digests().filter(|input| !made.contains(*input)));
            }
        }
        Reachability { retention, pinned }
    }
}

/// Pins content without a record, and what a folder holds: only the content itself shows that it is a folder.
fn pin(store: &Store, inventory: &Inventory, digest: Digest, pinned: &mut HashSet<Digest>) {
    pinned.extend(inventory.with_children(digest));
    let may_be_folder = inventory.objects.get(&digest).is_some_and(|size| *size <= LARGEST_MANIFEST);
    if may_be_folder && !inventory.folders.contains_key(&digest) {
        let manifest = store.manifest(&digest).ok();
        pinned.extend(manifest.iter().flat_map(Manifest::digests));
    }
}
