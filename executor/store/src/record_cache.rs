//! A cache of records in one file, with the metadata that proves that they are still those on disk.
//!
//! A run over cells that are all done reads one small record a cell, which takes longer than everything else in it.
//! `records.cache` holds their bytes and the metadata of each file and of its folder. If both are the same now, nothing was added,
//! removed or changed there, and the bytes are the record. Where the cache is absent, damaged or out of date, the records
//! themselves are read, as without it.
//!
//! # Format, version 2
//! A [cache file](super::cache_file). For each key a line of JSON ([`CachedRecords`]), then the bytes of its records.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::cache_file;
use super::record::record_file_name;
use cwm_core::{Digest, Key, Stat, lock_mutex};

/// The first line of the cache.
const FORMAT: &str = "cwm records 2\n";

/// Fewer new records than this are sooner read again than written: a run that finds all of a small pipeline done writes
/// nothing.
const WORTH_WRITING: usize = 100;

/// Keys that no lookup used are kept up to this many, for other pipelines of the store.
const MOST_UNUSED: usize = 20_000;

/// The records of one key as they were at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedRecords {
    pub key: Key,
    /// The key's folder.
    pub folder: Stat,
    /// Its records in their order.
    pub records: Vec<CachedRecord>,
}

/// A record's file as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedRecord {
    /// Its number, counted from 1.
    pub number: u32,
    /// The digest of its bytes.
    pub digest: Digest,
    /// The file's metadata.
    pub stat: Stat,
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// The cache, as one process uses it.
pub(super) struct RecordCache {
    path: PathBuf,
    /// The folder of the records; nothing if the store has none yet.
    actions: Option<File>,
    state: Mutex<State>,
    now: fn() -> SystemTime,
}

#[derive(Default)]
struct State {
    entries: BTreeMap<Key, Arc<CachedRecords>>,
    /// Keys that were looked up.
    used: HashSet<Key>,
    /// The number of entries that were added since the cache was read or written.
    new: usize,
}

impl RecordCache {
    /// Reads the cache of the store at `root`; it is empty if there is none, or it is damaged. `now` is the clock.
    pub fn read(root: &Path, now: fn() -> SystemTime) -> Self {
        let path = root.join("records.cache");
        let actions = File::open(root.join("actions")).ok();
        let entries = cache_file::read(&path, FORMAT).and_then(|content| decode(&content)).unwrap_or_default();
        RecordCache { path, actions, state: Mutex::new(State { entries, ..State::default() }), now }
    }

    /// Returns the records of `key` if nothing in its folder has changed since they were read.
    pub fn get_if_unchanged(&self, key: &Key) -> Option<Arc<CachedRecords>> {
        let mut state = lock_mutex(&self.state);
        state.used.insert(*key);
        let seen = Arc::clone(state.entries.get(key)?);
        drop(state);
        let actions = self.actions.as_ref()?;
        let is_still = |name: &str, stat: &Stat| Stat::in_folder(actions, name).is_ok_and(|now| now == *stat);
        let key = key.to_string();
        let folder = format!("{}/{key}", &key[..2]);
        let is_record_still = |record: &CachedRecord| {
            is_still(&format!("{folder}/{}", record_file_name(record.number, &record.digest)), &record.stat)
        };
        (is_still(&folder, &seen.folder) && seen.records.iter().all(is_record_still)).then_some(seen)
    }

    /// Adds the records of a key, if every change from now on will show in the metadata.
    pub fn insert(&self, seen: CachedRecords) {
        let now = (self.now)();
        let is_settled = |stat: &Stat| !stat.modified_recently(now);
        let is_right =
            |record: &CachedRecord| is_settled(&record.stat) && record.stat.size == record.bytes.len() as u64;
        if is_settled(&seen.folder) && seen.records.iter().all(is_right) {
            let mut state = lock_mutex(&self.state);
            state.entries.insert(seen.key, Arc::new(seen));
            state.new += 1;
        }
    }

    /// Writes the cache if it has enough new records; true if it was written.
    pub fn save(&self) -> bool {
        let mut state = lock_mutex(&self.state);
        if state.new < WORTH_WRITING {
            return false;
        }
        let (used, unused): (Vec<_>, Vec<_>) = state.entries.values().partition(|seen| state.used.contains(&seen.key));
        let content: Vec<u8> =
            used.into_iter().chain(unused.into_iter().take(MOST_UNUSED)).flat_map(|seen| encode(seen)).collect();
        let is_written = cache_file::write(&self.path, FORMAT, &content);
        if is_written {
            state.new = 0;
        }
        is_written
    }
}

fn encode(seen: &CachedRecords) -> Vec<u8> {
    // Keys, digests and numbers always have a JSON form.
    let mut bytes = serde_json::to_vec(seen).unwrap_or_default();
    bytes.push(b'\n');
    seen.records.iter().for_each(|record| bytes.extend(&record.bytes));
    bytes
}

/// Reads the entries; nothing if one is not what [`encode`] wrote.
fn decode(mut content: &[u8]) -> Option<BTreeMap<Key, Arc<CachedRecords>>> {
    let mut entries = BTreeMap::new();
    while !content.is_empty() {
        let end = content.iter().position(|byte| *byte == b'\n')?;
        let mut seen: CachedRecords = serde_json::from_slice(content.split_off(..=end)?).ok()?;
        for record in &mut seen.records {
            record.bytes = content.split_off(..usize::try_from(record.stat.size).ok()?)?.to_vec();
        }
        entries.insert(seen.key, Arc::new(seen));
    }
    Some(entries)
}
