//! Digests of files from outside, computed once.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use super::cache_file::{self, Entries, Entry};
use super::fingerprint::FileFingerprint;
use crate::Store;
use crate::hashing::read_full;
use cwm_core::files::Result;
use cwm_core::{Digest, DurableFs, FileError, FileErrorKind, Stat};

/// A file changed less than this before it was hashed is hashed again next time: within it, a change may leave no
/// trace in the times of a coarse file system.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// From this size on, waiting for a young file to settle is cheaper than hashing it twice.
const WORTH_WAITING: u64 = 1 << 30;

/// Bytes read at once: enough for all cores to hash at a time.
const BLOCK: usize = 4 << 20;

/// The digests of files from outside. Cheap to ask again; shared between threads.
pub struct DigestCache {
    /// Where the cache is kept, if anywhere.
    cache: Option<PathBuf>,
    known: Mutex<Known>,
    hashed: AtomicU64,
    clock: Box<dyn Clock>,
}

#[derive(Default)]
struct Known {
    entries: Entries,
    /// What was learnt since the cache was read.
    learnt: Entries,
}

/// Time, so that tests need none.
pub trait Clock: Send + Sync {
    /// Now, by the clock that stamps files.
    fn now(&self) -> SystemTime;
    /// Lets time pass.
    fn wait(&self, time: Duration);
}

/// The system's time.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn wait(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

impl DigestCache {
    /// With the cache of `store`. A cache that cannot be read is as good as none and is made anew.
    pub fn of_store(store: &Store) -> DigestCache {
        DigestCache::with(Some(store.outside_cache()), Box::new(SystemClock))
    }

    /// Without a cache on disk.
    pub fn without_cache() -> DigestCache {
        DigestCache::with(None, Box::new(SystemClock))
    }

    /// With a cache file, which stands beside a store's `format`, and a clock of one's own.
    pub fn with(cache: Option<PathBuf>, clock: Box<dyn Clock>) -> DigestCache {
        let entries = cache.as_deref().map(cache_file::read).unwrap_or_default();
        let known = Mutex::new(Known { entries, learnt: Entries::new() });
        DigestCache { cache, known, hashed: AtomicU64::new(0), clock }
    }

    /// How many files were read so far.
    pub fn hashed(&self) -> u64 {
        self.hashed.load(Ordering::Relaxed)
    }

    /// The digest of a file.
    ///
    /// # Errors
    /// It is not there, cannot be read, is not a plain file, or is being written.
    pub fn digest(&self, path: &Path) -> Result<Digest> {
        Ok(self.snapshot(path)?.digest)
    }

    /// The file as it is now.
    ///
    /// # Errors
    /// As [`DigestCache::digest`].
    pub fn snapshot(&self, path: &Path) -> Result<FileFingerprint> {
        let path = std::path::absolute(path).map_err(FileError::io("find", path))?;
        let stat = Stat::of(&path)?;
        if let Some(entry) = self.known().entries.get(&path).filter(|entry| entry.stat == stat) {
            return Ok(FileFingerprint { path, stat, digest: entry.digest, is_stable: true });
        }
        if stat.size >= WORTH_WAITING && stat.modified_recently(self.clock.now(), SETTLED_AFTER) {
            self.clock.wait(SETTLED_AFTER);
        }
        let snapshot = self.hash(path)?;
        let mut known = self.known();
        if snapshot.is_stable {
            let entry = Entry { stat: snapshot.stat, digest: snapshot.digest };
            known.entries.insert(snapshot.path.clone(), entry);
            known.learnt.insert(snapshot.path.clone(), entry);
        }
        Ok(snapshot)
    }

    /// Sizes of the files whose digests are known, by those.
    pub fn sizes(&self) -> HashMap<Digest, u64> {
        self.known().entries.values().map(|entry| (entry.digest, entry.stat.size)).collect()
    }

    /// Keeps what was learnt, if anything: true if the cache was written. Entries of files that are gone are
    /// dropped, what another process learnt meanwhile is kept. Where there is no store (a folder without `format` is
    /// none), or it cannot be written, nothing is. Whoever must not write at all does not call this.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub fn save(&self) -> Result<bool> {
        let mut known = self.known();
        let Some(path) = self.cache.as_deref().filter(|_| !known.learnt.is_empty()) else {
            return Ok(false);
        };
        if !path.with_file_name("format").is_file() {
            return Ok(false);
        }
        let mut entries = cache_file::read(path);
        entries.extend(known.learnt.iter().map(|(path, entry)| (path.clone(), *entry)));
        entries.retain(|path, _| path.exists());
        match DurableFs::default().replace(path, cache_file::encode(&entries).as_bytes(), false) {
            Ok(()) => {
                known.learnt.clear();
                Ok(true)
            }
            Err(error) if matches!(error.trouble(), FileErrorKind::ReadOnly | FileErrorKind::Missing) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// As [`DigestCache::save`]; a failure is passed over, since a cache that is not kept costs only time.
    pub fn save_if_possible(&self) {
        drop(self.save());
    }

    /// Takes the word of whoever wrote `path` just now, and lets nobody else write it, for its digest.
    ///
    /// # Errors
    /// It is not there.
    pub fn trust(&self, path: &Path, digest: Digest) -> Result<()> {
        let entry = Entry { stat: Stat::of(path)?, digest };
        self.known().entries.insert(path.to_owned(), entry);
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Reads the file. Not mapped into memory: one that is cut short meanwhile would kill the process.
    fn hash(&self, path: PathBuf) -> Result<FileFingerprint> {
        let reading = |error| FileError::io("read", &path)(error);
        let mut file = File::open(&path).map_err(FileError::io("open", &path))?;
        // Before and after, of the open file: what is written meanwhile shows.
        let stat = Stat::from(&file.metadata().map_err(reading)?);
        let is_stable = !stat.modified_recently(self.clock.now(), SETTLED_AFTER);
        self.hashed.fetch_add(1, Ordering::Relaxed);
        let mut hasher = blake3::Hasher::new();
        let mut block = vec![0; BLOCK.min(usize::try_from(stat.size).unwrap_or(BLOCK).max(1))];
        let mut length = 0u64;
        loop {
            match read_full(&mut file, &mut block).map_err(reading)? {
                0 => break,
                n => {
                    hasher.update_rayon(&block[..n]);
                    length += n as u64;
                }
            }
        }
        let after = Stat::from(&file.metadata().map_err(reading)?);
        if after != stat || length != stat.size {
            return Err(FileError::refused(&path, "changed while it was read", "run again when it is complete"));
        }
        Ok(FileFingerprint { path, stat, digest: Digest(*hasher.finalize().as_bytes()), is_stable })
    }
}
