//! Records, read by key.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::Store;
use super::damage::Defect;
use super::eviction::EvictionReason;
use super::hashing::read_own_file;
use super::record::ActionRecord;
use super::record_cache::{CachedRecord, CachedRecords, RecordCache};
use super::walk::{list_folder, metadata};
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, Key, OutputDigests, Stat, lock_mutex};

/// The file of a record: `0001-<digest>.json` in the folder of its key.
pub(super) struct RecordFile {
    /// The number of the record among those of its key, counted from 1.
    pub number: u32,
    /// The digest of the file's bytes.
    pub digest: Digest,
    pub path: PathBuf,
    /// The reason why content that the record names may be missing; nothing if it must be there.
    pub evicted: Option<EvictionReason>,
}

impl RecordFile {
    /// Reads a record of `key` and checks that it is as it was written.
    pub fn read(&self, key: &Key) -> Result<ActionRecord> {
        Ok(ActionRecord { evicted: self.evicted, ..decode_record(key, &self.path, &self.read_bytes()?)? })
    }

    /// Reads the file's bytes, which have the digest in its name.
    fn read_bytes(&self) -> Result<Vec<u8>> {
        let bytes = read_own_file(&self.path)?;
        if Digest::of(&bytes) != self.digest {
            return Err(FileError::damaged(&self.path, "its content does not have the digest that names it"));
        }
        Ok(bytes)
    }
}

/// Returns the number of the next record of a key.
pub(super) fn next_number(files: &[RecordFile]) -> u32 {
    files.last().map_or(1, |last| last.number.saturating_add(1))
}

/// The handling of records that turn out damaged when they are read.
#[derive(Clone)]
pub(super) struct DamagedRecords {
    /// True if they are moved to the quarantine; false if they stay and are skipped.
    are_moved: bool,
    /// Findings that were not reported yet, by key.
    found: Arc<Mutex<BTreeMap<Key, Vec<Defect>>>>,
}

impl Store {
    /// Returns this store with a cache of the records that were read, which is kept from run to run.
    pub fn with_record_cache(self) -> Store {
        let cache = RecordCache::read(self.root(), SystemTime::now);
        Store { record_cache: Some(Arc::new(cache)), ..self }
    }

    /// Writes the cache of records, if that is worth it; true if it was written.
    pub fn save_record_cache(&self) -> bool {
        self.record_cache.as_ref().is_some_and(|cache| cache.save())
    }

    /// Returns this store such that a damaged record is moved to the quarantine when it is read, as if it were not there: for runs,
    /// which make the result again. [`Store::take_damaged_records`] returns those that were moved.
    pub fn quarantining_records(self) -> Store {
        Store { damaged_records: Some(DamagedRecords { are_moved: true, found: Arc::default() }), ..self }
    }

    /// Returns this store such that a damaged record is skipped: for commands that only read. [`Store::take_damaged_records`]
    /// returns those that were skipped.
    pub fn skipping_damaged_records(self) -> Store {
        Store { damaged_records: Some(DamagedRecords { are_moved: false, found: Arc::default() }), ..self }
    }

    /// Returns the records that were quarantined or skipped since the last call.
    pub fn take_damaged_records(&self) -> Vec<Defect> {
        let Some(damaged) = &self.damaged_records else { return Vec::new() };
        lock_mutex(&damaged.found).values_mut().flat_map(std::mem::take).collect()
    }

    /// Returns true if a damaged record of `key` was quarantined or skipped.
    pub fn has_damaged_record(&self, key: &Key) -> bool {
        self.damaged_records.as_ref().is_some_and(|damaged| lock_mutex(&damaged.found).contains_key(key))
    }

    /// Returns a record of `key` that was read from `path`; nothing if it is damaged and was quarantined or is skipped.
    fn skip_if_damaged<T>(&self, key: &Key, path: &Path, record: Result<T>) -> Result<Option<T>> {
        let (what, damaged) = match (record, &self.damaged_records) {
            (Err(FileError::Damaged { what, .. }), Some(damaged)) => (what, damaged),
            (record, _) => return record.map(Some),
        };
        let problem = format!("is damaged: {what}");
        let finding = match damaged.are_moved {
            true => self.quarantine(path.to_owned(), problem)?,
            false => Defect::new(path.to_owned(), problem),
        };
        if damaged.are_moved && finding.quarantined.is_none() {
            return Err(FileError::damaged(path, what));
        }
        let mut found = lock_mutex(&damaged.found);
        let of_key = found.entry(*key).or_default();
        if !of_key.contains(&finding) {
            of_key.push(finding);
        }
        Ok(None)
    }

    /// Reads a record of `key` for an inventory; nothing if it is damaged and is skipped. It is never moved.
    pub(super) fn read_or_skip(&self, key: &Key, file: &RecordFile) -> Result<Option<ActionRecord>> {
        match file.read(key) {
            Err(error) if self.damaged_records.as_ref().is_some_and(|damaged| !damaged.are_moved) => {
                self.skip_if_damaged(key, &file.path, Err(error))
            }
            record => record.map(Some),
        }
    }

    /// Returns all results of `key`, the first recorded first.
    ///
    /// # Errors
    /// A record is damaged or of a newer version, or cannot be read.
    pub fn actions(&self, key: &Key) -> Result<Vec<ActionRecord>> {
        let folder = self.action_folder(key);
        if let Some(cached) = self.record_cache.as_ref().and_then(|cache| cache.get_if_unchanged(key)) {
            return cached.records.iter().map(|record| decode_record(key, &folder, &record.bytes)).collect();
        }
        // Before the folder is listed and the files are read: after a change meanwhile, this is out of date.
        let Some(before) = metadata(&folder)?.map(|before| Stat::from(&before)) else { return Ok(Vec::new()) };
        let (mut records, mut seen) = (Vec::new(), Vec::new());
        let files = self.record_files(key)?;
        for file in &files {
            let stat = Stat::from(&fs::symlink_metadata(&file.path).map_err(FileError::io("read", &file.path))?);
            let read = file.read_bytes().and_then(|bytes| Ok((decode_record(key, &file.path, &bytes)?, bytes)));
            let Some((record, bytes)) = self.skip_if_damaged(key, &file.path, read)? else { continue };
            records.push(ActionRecord { evicted: file.evicted, ..record });
            seen.push(CachedRecord { number: file.number, digest: file.digest, stat, bytes });
        }
        // Records do not have the mark that they were evicted. Those that were skipped are to be found damaged again.
        let is_cacheable = files.iter().all(|file| file.evicted.is_none()) && records.len() == files.len();
        if let Some(cache) = self.record_cache.as_ref().filter(|_| is_cacheable) {
            cache.insert(CachedRecords { key: *key, folder: before, records: seen });
        }
        Ok(records)
    }

    /// Returns the results of `key` in the order of preference: those whose outputs are `preferred` (those in the lock file) come
    /// first, then the first recorded. The one to use is the first whose content is available, see [`Store::missing`].
    ///
    /// # Errors
    /// As [`Store::actions`].
    pub fn candidates(&self, key: &Key, preferred: Option<&OutputDigests>) -> Result<Vec<ActionRecord>> {
        let mut records = self.actions(key)?;
        // Stable: among equals the first recorded stays first.
        records.sort_by_key(|record| preferred.is_some_and(|preferred| record.output_digests() != *preferred));
        Ok(records)
    }

    /// Returns the first of [`Store::candidates`], without a look at its content.
    ///
    /// # Errors
    /// As [`Store::actions`].
    pub fn preferred_record(&self, key: &Key, preferred: Option<&OutputDigests>) -> Result<Option<ActionRecord>> {
        Ok(self.candidates(key, preferred)?.into_iter().next())
    }

    /// Returns the keys that have results, sorted.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn keys(&self) -> Result<Vec<Key>> {
        let mut keys: Vec<Key> =
            self.in_shards("actions")?.into_iter().filter_map(|(name, _)| name.parse().ok()).collect();
        keys.sort();
        Ok(keys)
    }

    /// Returns all results, in the order of their keys.
    ///
    /// # Errors
    /// As [`Store::actions`].
    pub fn all_records(&self) -> Result<Vec<ActionRecord>> {
        let records = self.keys()?.iter().map(|key| self.actions(key)).collect::<Result<Vec<_>>>()?;
        Ok(records.into_iter().flatten().collect())
    }

    /// Returns the records whose key, or one of whose outputs, begins with `prefix` (hexadecimal), each with the outputs that
    /// match: all of them, if the key does.
    ///
    /// # Errors
    /// As [`Store::actions`].
    pub fn by_prefix(&self, prefix: &str) -> Result<Vec<(ActionRecord, Vec<String>)>> {
        let prefix = prefix.to_ascii_lowercase();
        let mut found = Vec::new();
        for record in self.all_records()? {
            let whole = record.key.to_string().starts_with(&prefix);
            let outputs = record.outputs.iter();
            let matching = outputs.filter(|(_, output)| whole || output.digest.to_string().starts_with(&prefix));
            let output_names: Vec<String> = matching.map(|(output_name, _)| output_name.clone()).collect();
            if whole || !output_names.is_empty() {
                found.push((record, output_names));
            }
        }
        Ok(found)
    }

    /// Returns the files of the records of `key`, by number.
    pub(super) fn record_files(&self, key: &Key) -> Result<Vec<RecordFile>> {
        let names = list_folder(&self.action_folder(key))?;
        let evicted: BTreeMap<&str, EvictionReason> =
            names.iter().filter_map(|(name, _)| EvictionReason::read(name)).collect();
        let mut files: Vec<RecordFile> = names
            .iter()
            .filter_map(|(name, path)| {
                let stem = name.strip_suffix(".json")?;
                let (number, digest) = stem.split_once('-')?;
                let (number, digest) = (number.parse().ok()?, digest.parse().ok()?);
                Some(RecordFile { number, digest, path: path.clone(), evicted: evicted.get(stem).copied() })
            })
            .collect();
        files.sort_by_key(|file| (file.number, file.digest));
        Ok(files)
    }

    /// Returns when the last record of `key` got its name, in nanoseconds since 1970: all that it names was there before. Without a
    /// record, a time before all others.
    pub(super) fn recorded_ns(&self, key: &Key) -> Result<i64> {
        let files = self.record_files(key)?;
        Ok(files.iter().filter_map(|file| Some(Stat::of(&file.path).ok()?.ctime_ns)).max().unwrap_or(i64::MIN))
    }
}

/// Decodes the record of `key` from `bytes`, the content of `path`.
fn decode_record(key: &Key, path: &Path, bytes: &[u8]) -> Result<ActionRecord> {
    let record = ActionRecord::decode(path, bytes)?;
    if record.key != *key {
        return Err(FileError::damaged(path, format!("it is the record of another key, {}", record.key)));
    }
    Ok(record)
}
