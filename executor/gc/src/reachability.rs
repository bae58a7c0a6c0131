//! Which results are still wanted, and why.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use super::roots::Root;
use cwm_core::{Digest, Key};
use cwm_store::{Inventory, Store};

/// Why the content of a result stays, the strongest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retention {
    /// A root names it.
    Root,
    /// It was fetched from outside or taken over from a file: to make it again is costly or impossible.
    Source,
    /// It was made or used lately.
    Recent,
    /// Nothing asks for it.
    Free,
}

/// What is wanted of a store.
#[derive(Debug)]
pub struct Reachability {
    /// By index into [`Inventory::held`].
    pub stands: Vec<Retention>,
    /// Content that stays whatever records name it: roots name it by itself, or it came through a pipe.
    pub pinned: HashSet<Digest>,
}

impl Reachability {
    /// What `roots` name; what was made or used `since`; and, unless they are asked for too, sources.
    pub fn of(
        store: &Store,
        inventory: &Inventory,
        roots: &[Root],
        since: Option<Timestamp>,
        with_sources: bool,
    ) -> Reachability {
        let stand = |is_source: bool, last_used: Timestamp| match since {
            _ if is_source && !with_sources => Retention::Source,
            Some(since) if last_used >= since => Retention::Recent,
            _ => Retention::Free,
        };
        let mut stands: Vec<Retention> =
            inventory.held.iter().map(|held| stand(held.is_source, held.last_used)).collect();
        let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
        for (index, held) in inventory.held.iter().enumerate() {
            by_key.entry(held.key).or_default().push(index);
        }
        let mut pinned = HashSet::new();
        for (key, outputs) in roots.iter().flat_map(|root| &root.results) {
            let named = key.and_then(|key| by_key.get(&key)).into_iter().flatten();
            let mut is_recorded = false;
            for &index in named.filter(|index| inventory.held[**index].output_digests() == *outputs) {
                stands[index] = Retention::Root;
                is_recorded = true;
            }
            if !is_recorded {
                for digest in outputs.values() {
                    pin(store, inventory, *digest, &mut pinned);
                }
            }
        }
        let made: HashSet<Digest> =
            inventory.held.iter().flat_map(|held| held.outputs.values()).map(|output| output.digest).collect();
        for (held, stands) in inventory.held.iter().zip(&stands) {
            // What came through a pipe is nobody's output, and cannot be read again.
            if !with_sources || *stands != Retention::Free {
                pinned.extend(held.inputs.iter().filter(|input| !made.contains(*input)));
            }
        }
        Reachability { stands, pinned }
    }
}

/// Content without a record: that it is a folder, only it can tell.
fn pin(store: &Store, inventory: &Inventory, digest: Digest, pinned: &mut HashSet<Digest>) {
    pinned.extend(inventory.with_children(digest));
    let may_be_folder = inventory.objects.get(&digest).is_some_and(|size| *size < LARGEST_MANIFEST);
    if may_be_folder && !inventory.folders.contains_key(&digest) {
        let children = store
            .manifest(&digest)
            .map(|manifest| manifest.files().values().map(|file| file.digest).collect::<BTreeSet<_>>());
        pinned.extend(children.unwrap_or_default());
    }
}

/// Bytes of a manifest of a million files.
const LARGEST_MANIFEST: u64 = 256 << 20;
