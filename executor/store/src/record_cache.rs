//! A cache of records in one file, with the metadata that proves that they are still those on disk.
//!
//! A run over cells that are all done reads one small record a cell, which takes longer than everything else in it.
//! `records.cache` holds their bytes and the metadata of each file and of its folder. If both are the same now, nothing was added,
//! removed or changed there, and the bytes are the record. Where the cache is absent, damaged or out of date, the records
//! themselves are read, as without it.
//!
//! # Format, version 1
//! All numbers are unsigned, little-endian, of 64 bits.
//!
//! | what | bytes |
//! |---|---|
//! | `cwm records 1` and a newline | 14 |
//! | BLAKE3 of all that follows | 32 |
//! | for each key: the key | 32 |
//! | size, mtime, ctime, inode and device of its folder | 40 |
//! | how many records it has | 8 |
//! | for each of them, in their order: number | 8 |
//! | BLAKE3 of its bytes, which its name has too | 32 |
//! | size, mtime, ctime, inode and device of its file | 40 |
//! | its bytes | size |

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::record::record_file_name;
use cwm_core::files::Result;
use cwm_core::{Digest, DurableFs, FileErrorKind, Key, Stat, read_regular_file};

const BEGINNING: &[u8] = b"cwm records 1\n";

/// A file that changed less than this before it was read is read again next time: a change within the clock's grain would leave
/// no trace.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// Fewer new records than this are sooner read again than written: a run that finds all of a small pipeline done writes
/// nothing.
const WORTH_WRITING: usize = 100;

/// Keys that no lookup used are kept up to this many, for other pipelines of the store.
const MOST_UNUSED: usize = 20_000;

/// The records of one key as they were at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CachedRecords {
    /// The key's folder.
    pub folder: Stat,
    /// Its records in their order.
    pub records: Vec<CachedRecord>,
}

/// A record's file as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CachedRecord {
    /// Its number, counted from 1.
    pub number: u32,
    /// The digest of its bytes.
    pub digest: Digest,
    /// The file's metadata.
    pub stat: Stat,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The cache, as one process uses it.
pub(super) struct RecordCache {
    path: PathBuf,
    state: Mutex<State>,
    now: fn() -> SystemTime,
}

#[derive(Default)]
struct State {
    entries: BTreeMap<Key, CachedRecords>,
    /// Keys that were looked up.
    used: HashSet<Key>,
    /// Keys whose records were read since the cache was read or written.
    new: HashSet<Key>,
}

impl RecordCache {
    /// Reads the cache at `path`; it is empty if that is not such a cache. `now` is the clock.
    pub fn read(path: PathBuf, now: fn() -> SystemTime) -> Self {
        let entries = read_regular_file(&path).ok().and_then(|text| decode(&text)).unwrap_or_default();
        RecordCache { path, state: Mutex::new(State { entries, ..State::default() }), now }
    }

    /// Returns the records of `key`, whose folder is at `folder`, if nothing there has changed since they were read.
    pub fn get_if_unchanged(&self, key: &Key, folder: &Path) -> Option<Vec<(PathBuf, Vec<u8>)>> {
        let mut state = self.state();
        state.used.insert(*key);
        let seen = state.entries.get(key)?.clone();
        drop(state);
        let is_still = |path: &Path, stat: &Stat| fs::symlink_metadata(path).is_ok_and(|now| Stat::from(&now) == *stat);
        if !is_still(folder, &seen.folder) {
            return None;
        }
        let files = seen.records.into_iter().map(|record| {
            let path = folder.join(record_file_name(record.number, &record.digest));
            is_still(&path, &record.stat).then_some((path, record.bytes))
        });
        files.collect()
    }

    /// Adds the records of `key`, if every change from now on will show in the metadata.
    pub fn insert(&self, key: &Key, seen: CachedRecords) {
        let now = (self.now)();
        let is_settled = |stat: &Stat| !stat.modified_recently(now, SETTLED_AFTER);
        let is_right =
            |record: &CachedRecord| is_settled(&record.stat) && record.stat.size == record.bytes.len() as u64;
        if is_settled(&seen.folder) && seen.records.iter().all(is_right) {
            let mut state = self.state();
            state.entries.insert(*key, seen);
            state.new.insert(*key);
        }
    }

    /// Writes the cache if it has enough new records; true if it was written. It is not where the store cannot be written.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub fn save(&self) -> Result<bool> {
        let mut state = self.state();
        if state.new.len() < WORTH_WRITING {
            return Ok(false);
        }
        let mut unused = 0;
        let mut body = Vec::new();
        for (key, seen) in &state.entries {
            let is_unused = !state.used.contains(key);
            unused += usize::from(is_unused);
            if !is_unused || unused <= MOST_UNUSED {
                encode(key, seen, &mut body);
            }
        }
        let text = [BEGINNING, Digest::of(&body).0.as_slice(), &body].concat();
        match DurableFs::default().replace(&self.path, &text, false) {
            Ok(()) => {
                state.new.clear();
                Ok(true)
            }
            Err(error) if matches!(error.kind(), FileErrorKind::ReadOnly | FileErrorKind::Missing) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn encode(key: &Key, seen: &CachedRecords, out: &mut Vec<u8>) {
    out.extend_from_slice(&key.0);
    encode_stat(&seen.folder, out);
    out.extend_from_slice(&(seen.records.len() as u64).to_le_bytes());
    for record in &seen.records {
        out.extend_from_slice(&u64::from(record.number).to_le_bytes());
        out.extend_from_slice(&record.digest.0);
        encode_stat(&record.stat, out);
        out.extend_from_slice(&record.bytes);
    }
}

fn encode_stat(stat: &Stat, out: &mut Vec<u8>) {
    let times = [stat.mtime_ns, stat.ctime_ns].map(i64::cast_unsigned);
    for number in [stat.size, times[0], times[1], stat.inode, stat.device] {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// Reads the file's bytes; nothing if they are not a whole cache.
fn decode(text: &[u8]) -> Option<BTreeMap<Key, CachedRecords>> {
    let (digest, body) = text.strip_prefix(BEGINNING)?.split_first_chunk::<32>()?;
    if Digest::of(body).0 != *digest {
        return None;
    }
    let mut entries = BTreeMap::new();
    let mut rest = body;
    while !rest.is_empty() {
        let key = Key(take(&mut rest)?);
        let folder = take_stat(&mut rest)?;
        let count = take_number(&mut rest)?;
        let mut records = Vec::new();
        for _ in 0..count {
            let number = u32::try_from(take_number(&mut rest)?).ok()?;
            let (digest, stat) = (Digest(take(&mut rest)?), take_stat(&mut rest)?);
            let bytes = rest.split_off(..usize::try_from(stat.size).ok()?)?.to_vec();
            records.push(CachedRecord { number, digest, stat, bytes });
        }
        entries.insert(key, CachedRecords { folder, records });
    }
    Some(entries)
}

fn take<const N: usize>(text: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = text.split_first_chunk::<N>()?;
    *text = rest;
    Some(*taken)
}

fn take_number(text: &mut &[u8]) -> Option<u64> {
    take(text).map(u64::from_le_bytes)
}

fn take_stat(text: &mut &[u8]) -> Option<Stat> {
    let mut number = || take_number(text);
    let (size, mtime, ctime) = (number()?, number()?, number()?);
    let (inode, device) = (number()?, number()?);
    Some(Stat { size, mtime_ns: mtime.cast_signed(), ctime_ns: ctime.cast_signed(), inode, device })
}
