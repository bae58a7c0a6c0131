//! External files: PGN that a user has, scripts that a command depends on. Referenced in place, never copied.
//!
//! This module depends on paths and digests, not on plans or stages. The digest of a file that did not change is
//! not computed again: it is cached by path and [`Stat`] in one file, whose loss costs only time.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::{Store, cache_file};
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, Stat, lock_mutex};

/// The first line of the cache; the rest is a list in JSON.
const FORMAT: &str = "cwm external files 1\n";

/// Fingerprints by absolute path.
type Entries = BTreeMap<PathBuf, FileFingerprint>;

/// Bytes read at once: enough for all cores to hash at a time.
const BLOCK: usize = 4 << 20;

/// The digests of external files, shared between threads. A second look at a file is cheap.
pub struct DigestCache {
    /// The file of the cache, if it has one.
    cache: Option<PathBuf>,
    known: Mutex<CachedDigests>,
    now: Clock,
}

/// The time, by the clock of the file system.
pub(crate) type Clock = Box<dyn Fn() -> SystemTime + Send + Sync>;

#[derive(Default)]
struct CachedDigests {
    entries: Entries,
    /// True if some were added since the cache was read or written.
    has_new: bool,
}

impl DigestCache {
    /// Returns the cache of the digests of `store`. A cache that cannot be read is replaced.
    pub fn of_store(store: &Store) -> DigestCache {
        DigestCache::with(Some(store.root().join("external_files.cache")), Box::new(SystemTime::now))
    }

    /// Returns a cache that is in memory only.
    pub fn without_cache() -> DigestCache {
        DigestCache::with(None, Box::new(SystemTime::now))
    }

    /// Returns a cache with this file, which is beside a store's `format`, and with this clock.
    pub(crate) fn with(cache: Option<PathBuf>, now: Clock) -> DigestCache {
        let entries = cache.as_deref().map(read).unwrap_or_default();
        let known = Mutex::new(CachedDigests { entries, has_new: false });
        DigestCache { cache, known, now }
    }

    /// Returns the digest of a file, which is read if the cache does not have it.
    ///
    /// # Errors
    /// It is not there, cannot be read, is not a plain file, or is being written.
    pub fn digest(&self, path: &Path) -> Result<Digest> {
        Ok(self.snapshot(path)?.digest)
    }

    /// Returns the file as it is now, with its digest.
    ///
    /// # Errors
    /// As [`DigestCache::digest`].
    pub fn snapshot(&self, path: &Path) -> Result<FileFingerprint> {
        let path = std::path::absolute(path).map_err(FileError::io("find", path))?;
        let stat = Stat::of(&path)?;
        if let Some(entry) = lock_mutex(&self.known).entries.get(&path).filter(|entry| entry.stat == stat) {
            return Ok(entry.clone());
        }
        let snapshot = self.hash(path)?;
        let mut known = lock_mutex(&self.known);
        if snapshot.is_stable {
            known.entries.insert(snapshot.path.clone(), snapshot.clone());
            known.has_new = true;
        }
        Ok(snapshot)
    }

    /// Sizes of the files whose digests are known, by those.
    pub fn sizes(&self) -> HashMap<Digest, u64> {
        lock_mutex(&self.known).entries.values().map(|entry| (entry.digest, entry.stat.size)).collect()
    }

    /// Writes the cache, if it has new entries: true if it was written. Entries of files that are gone are dropped, those that
    /// another process added meanwhile stay. Nothing is written where there is no store (a folder without `format` is none). A
    /// failure is ignored, since it costs only time.
    pub fn save(&self) -> bool {
        let mut known = lock_mutex(&self.known);
        let is_of_store = |path: &&Path| known.has_new && path.with_file_name("format").is_file();
        let Some(path) = self.cache.as_deref().filter(is_of_store) else { return false };
        let mut entries = read(path);
        entries.extend(known.entries.clone());
        // A path that is not UTF-8 has no JSON form.
        entries.retain(|path, _| path.to_str().is_some() && path.exists());
        let list = serde_json::to_vec(&entries.values().collect::<Vec<_>>());
        let is_written = list.is_ok_and(|list| cache_file::write(path, FORMAT, &list));
        known.has_new &= !is_written;
        is_written
    }

    /// Adds the digest of a file that the caller has just written, and that no other process writes.
    ///
    /// # Errors
    /// It is not there.
    pub fn insert(&self, path: &Path, digest: Digest) -> Result<()> {
        let path = path.to_owned();
        let entry = FileFingerprint { stat: Stat::of(&path)?, path: path.clone(), digest, is_stable: true };
        lock_mutex(&self.known).entries.insert(path, entry);
        Ok(())
    }

    /// Reads the file. Not mapped into memory: one that is cut short meanwhile would kill the process.
    fn hash(&self, path: PathBuf) -> Result<FileFingerprint> {
        let reading = |error| FileError::io("read", &path)(error);
        let mut file = File::open(&path).map_err(FileError::io("open", &path))?;
        // Before and after, of the open file: what is written meanwhile shows.
        let stat = Stat::from(&file.metadata().map_err(reading)?);
        let is_stable = !stat.modified_recently((self.now)());
        let mut hasher = blake3::Hasher::new();
        let mut block = Vec::with_capacity(BLOCK.min(usize::try_from(stat.size).unwrap_or(BLOCK)));
        let mut length = 0u64;
        while file.by_ref().take(BLOCK as u64).read_to_end(&mut block).map_err(reading)? > 0 {
            hasher.update_rayon(&block);
            length += block.len() as u64;
            block.clear();
        }
        let after = Stat::from(&file.metadata().map_err(reading)?);
        if after != stat || length != stat.size {
            return Err(FileError::rejected(&path, "changed while it was read", "run again when it is complete"));
        }
        Ok(FileFingerprint { path, stat, digest: Digest(*hasher.finalize().as_bytes()), is_stable })
    }
}

/// Reads the cache at `path`; it is empty if that is not a cache of this format.
fn read(path: &Path) -> Entries {
    let list: Option<Vec<FileFingerprint>> =
        cache_file::read(path, FORMAT).and_then(|list| serde_json::from_slice(&list).ok());
    list.unwrap_or_default().into_iter().map(|entry| (entry.path.clone(), entry)).collect()
}

/// A file as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFingerprint {
    /// Absolute.
    pub path: PathBuf,
    /// Its metadata.
    pub stat: Stat,
    /// The digest of its content.
    pub digest: Digest,
    /// True if the file was old enough, when it was hashed, for `stat` to prove the content.
    pub is_stable: bool,
}

impl FileFingerprint {
    /// Returns true if the file still has this content: a run whose inputs changed meanwhile is not recorded. Reads the file only
    /// where its metadata is not enough; a file that was touched but has the same content is the same, one that is gone is not.
    ///
    /// # Errors
    /// The file is there but cannot be read.
    pub fn is_unchanged(&self) -> Result<bool> {
        match FileError::optional(Stat::of(&self.path))? {
            None => Ok(false),
            Some(stat) if stat == self.stat && self.is_stable => Ok(true),
            Some(stat) if stat.size != self.stat.size => Ok(false),
            Some(_) => Ok(DigestCache::without_cache().snapshot(&self.path)?.digest == self.digest),
        }
    }
}
