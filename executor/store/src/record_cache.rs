//! Records that were read before, in one file, with what proves that they are still what is on disk.
//!
//! A run over cells that are all done reads one small record a cell, which takes longer than all else that it does.
//! `records.cache` holds their bytes beside what the file system said of each file and of its folder. If both say the
//! same now, nothing was added, removed or changed there, and the bytes are the record. The cache is never believed
//! otherwise: where it is absent, damaged or behind, the records themselves are read, as without it.
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

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use super::record_file::RecordFile;
use cwm_core::files::Result;
use cwm_core::{Digest, DurableFs, FileErrorKind, Key, Stat, read_regular_file};

const BEGINNING: &[u8] = b"cwm records 1\n";

/// What changed less than this before it was read is read again next time: a change within the clock's grain would leave
/// no trace.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// Fewer new records than this are sooner read again than written: a run that finds all of a small pipeline done writes
/// nothing.
const WORTH_WRITING: usize = 100;

/// Keys that nobody asked for are kept up to this many, for other pipelines of the store.
const MOST_UNASKED: usize = 20_000;

/// The records of one key as they were at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CachedRecords {
    /// The key's folder.
    pub folder: Stat,
    /// Its records: number, digest, file and bytes.
    pub records: Vec<CachedRecord>,
}

/// A record's file as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CachedRecord {
    /// Counted from 1.
    pub number: u32,
    /// Of its bytes.
    pub digest: Digest,
    /// The file.
    pub stat: Stat,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// The cache, as one process uses it.
pub(super) struct RecordCache {
    path: PathBuf,
    known: Mutex<Known>,
    now: fn() -> SystemTime,
}

#[derive(Default)]
struct Known {
    /// The file's bytes, and where in them each key begins.
    text: Vec<u8>,
    places: HashMap<Key, usize>,
    /// Keys that were asked for.
    asked: HashSet<Key>,
    /// What was read from the records themselves.
    learnt: HashMap<Key, CachedRecords>,
}

impl RecordCache {
    /// What the cache at `path` holds; nothing, if it is not such a cache. `now` tells the time.
    pub fn read(path: PathBuf, now: fn() -> SystemTime) -> Self {
        let text = read_regular_file(&path).unwrap_or_default();
        let places = places_in(&text).unwrap_or_default();
        RecordCache { path, known: Mutex::new(Known { text, places, ..Known::default() }), now }
    }

    /// The records of `key`, whose folder is at `folder`, if nothing there has changed since they were read.
    pub fn get_if_unchanged(&self, key: &Key, folder: &Path) -> Option<Vec<(PathBuf, Vec<u8>)>> {
        let mut known = self.known();
        known.asked.insert(*key);
        let seen = match (known.learnt.get(key), known.places.get(key)) {
            (Some(learnt), _) => learnt.clone(),
            (None, place) => decode(&mut &known.text[*place?..])?.1,
        };
        drop(known);
        let is_still = |path: &Path, stat: &Stat| fs::symlink_metadata(path).is_ok_and(|now| Stat::from(&now) == *stat);
        if !is_still(folder, &seen.folder) {
            return None;
        }
        let files = seen.records.into_iter().map(|record| {
            let path = folder.join(RecordFile::name_of(record.number, &record.digest));
            is_still(&path, &record.stat).then_some((path, record.bytes))
        });
        files.collect()
    }

    /// Keeps in mind what was read of `key`, if the file system will tell of every change from now on.
    pub fn insert(&self, key: &Key, seen: CachedRecords) {
        let now = (self.now)();
        let is_settled = |stat: &Stat| !stat.modified_recently(now, SETTLED_AFTER);
        let is_right =
            |record: &CachedRecord| is_settled(&record.stat) && record.stat.size == record.bytes.len() as u64;
        if is_settled(&seen.folder) && seen.records.iter().all(is_right) {
            self.known().learnt.insert(*key, seen);
        }
    }

    /// Writes the cache, if enough was learnt; true if it did. Where the store cannot be written, nothing is.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub fn save(&self) -> Result<bool> {
        let mut known = self.known();
        if known.learnt.len() < WORTH_WRITING {
            return Ok(false);
        }
        let mut before: Vec<(&Key, &usize)> = known.places.iter().collect();
        before.sort_by_key(|(_, place)| **place);
        let mut unasked = 0;
        before.retain(|(key, _)| {
            let is_unasked = !known.asked.contains(*key);
            unasked += usize::from(is_unasked);
            !known.learnt.contains_key(key) && (!is_unasked || unasked <= MOST_UNASKED)
        });
        let mut body = Vec::with_capacity(known.text.len());
        for (key, place) in before {
            if let Some((_, seen)) = decode(&mut &known.text[*place..]) {
                encode(key, &seen, &mut body);
            }
        }
        let mut learnt: Vec<(&Key, &CachedRecords)> = known.learnt.iter().collect();
        learnt.sort_by_key(|(key, _)| **key);
        learnt.into_iter().for_each(|(key, seen)| encode(key, seen, &mut body));
        let text = [BEGINNING, Digest::of(&body).0.as_slice(), &body].concat();
        match DurableFs::default().replace(&self.path, &text, false) {
            Ok(()) => {
                let places = places_in(&text).unwrap_or_default();
                *known = Known { text, places, asked: std::mem::take(&mut known.asked), learnt: HashMap::new() };
                Ok(true)
            }
            Err(error) if matches!(error.trouble(), FileErrorKind::ReadOnly | FileErrorKind::Missing) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Where each key begins, if `text` is a whole cache.
fn places_in(text: &[u8]) -> Option<HashMap<Key, usize>> {
    let sealed = text.strip_prefix(BEGINNING)?;
    let (digest, body) = sealed.split_first_chunk::<32>()?;
    if Digest::of(body).0 != *digest {
        return None;
    }
    let mut places = HashMap::new();
    let mut rest = body;
    while !rest.is_empty() {
        let place = text.len() - rest.len();
        let key = skip(&mut rest)?;
        places.insert(key, place);
    }
    Some(places)
}

fn encode(key: &Key, seen: &CachedRecords, out: &mut Vec<u8>) {
    out.extend_from_slice(&key.0);
    stat_to(&seen.folder, out);
    out.extend_from_slice(&(seen.records.len() as u64).to_le_bytes());
    for record in &seen.records {
        out.extend_from_slice(&u64::from(record.number).to_le_bytes());
        out.extend_from_slice(&record.digest.0);
        stat_to(&record.stat, out);
        out.extend_from_slice(&record.bytes);
    }
}

fn decode(text: &mut &[u8]) -> Option<(Key, CachedRecords)> {
    let key = Key(take(text)?);
    let folder = stat_from(text)?;
    let count = number(text)?;
    let mut records = Vec::new();
    for _ in 0..count {
        let (number, digest) = (u32::try_from(number(text)?).ok()?, Digest(take(text)?));
        let stat = stat_from(text)?;
        let bytes = text.split_off(..usize::try_from(stat.size).ok()?)?.to_vec();
        records.push(CachedRecord { number, digest, stat, bytes });
    }
    Some((key, CachedRecords { folder, records }))
}

/// As [`decode`], without the records.
fn skip(text: &mut &[u8]) -> Option<Key> {
    let key = Key(take(text)?);
    stat_from(text)?;
    for _ in 0..number(text)? {
        number(text)?;
        take::<32>(text)?;
        let size = usize::try_from(stat_from(text)?.size).ok()?;
        text.split_off(..size)?;
    }
    Some(key)
}

fn take<const N: usize>(text: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = text.split_first_chunk::<N>()?;
    *text = rest;
    Some(*taken)
}

fn number(text: &mut &[u8]) -> Option<u64> {
    take(text).map(u64::from_le_bytes)
}

fn stat_to(stat: &Stat, out: &mut Vec<u8>) {
    let times = [stat.mtime_ns, stat.ctime_ns].map(i64::cast_unsigned);
    for number in [stat.size, times[0], times[1], stat.inode, stat.device] {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

fn stat_from(text: &mut &[u8]) -> Option<Stat> {
    let (size, mtime, ctime) = (number(text)?, number(text)?, number(text)?);
    let (inode, device) = (number(text)?, number(text)?);
    Some(Stat { size, mtime_ns: mtime.cast_signed(), ctime_ns: ctime.cast_signed(), inode, device })
}
