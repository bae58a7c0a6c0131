//! Looking up results by key.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::Store;
use super::eviction::EvictionReason;
use super::layout;
use super::record::ActionRecord;
use super::record_cache::{CachedRecord, CachedRecords, RecordCache};
use super::record_file::RecordFile;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, Key, Stat, read_regular_file};

impl Store {
    /// All results of `key`, the first recorded first.
    ///
    /// # Errors
    /// A record is damaged or of a newer version, or cannot be read.
    pub fn actions(&self, key: &Key) -> Result<Vec<ActionRecord>> {
        let Some(remembered) = &self.remembered else {
            let files = self.record_files(key)?;
            let read = files.iter().map(|file| self.or_aside(key, &file.path, read_record(key, file)));
            return read.filter_map(Result::transpose).collect();
        };
        let folder = self.layout.action_folder(key);
        if let Some(files) = remembered.get_if_unchanged(key, &folder) {
            return files.iter().map(|(path, bytes)| decode_record(key, path, bytes)).collect();
        }
        // Before the folder is listed and the files are read: what changes meanwhile will not be as it was then.
        let before = match fs::symlink_metadata(&folder) {
            Ok(before) => Stat::from(&before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(FileError::io("look at", &folder)(error)),
        };
        let mut seen = CachedRecords { folder: before, records: Vec::new() };
        let mut records = Vec::new();
        let files = self.record_files(key)?;
        for file in &files {
            let before = fs::symlink_metadata(&file.path).map_err(FileError::io("look at", &file.path))?;
            let read = read_checked(file).and_then(|bytes| Ok((decode_record(key, &file.path, &bytes)?, bytes)));
            let Some((record, bytes)) = self.or_aside(key, &file.path, read)? else { continue };
            records.push(ActionRecord { dropped: file.dropped, ..record });
            let stat = Stat::from(&before);
            seen.records.push(CachedRecord { number: file.number, digest: file.digest, stat, bytes });
        }
        // That content was let go does not stand in the record. What was passed over is to be found damaged again.
        if files.iter().all(|file| file.dropped.is_none()) && records.len() == files.len() {
            remembered.insert(key, seen);
        }
        Ok(records)
    }

    /// This store, with what is read of its records remembered from run to run: for whoever asks for many.
    pub fn with_record_cache(self) -> Store {
        self.with_record_cache_at(SystemTime::now)
    }

    /// As [`Store::with_record_cache`], with a clock of one's own.
    pub(super) fn with_record_cache_at(self, now: fn() -> SystemTime) -> Store {
        let remembered = RecordCache::read(self.root().join("records.cache"), now);
        Store { remembered: Some(Arc::new(remembered)), ..self }
    }

    /// Keeps what was read of records for the next run, if that is worth it: true if it was written. A failure is passed
    /// over, since what is not kept costs only time.
    pub fn remember(&self) -> bool {
        self.remembered.as_ref().is_some_and(|remembered| remembered.save().unwrap_or(false))
    }

    /// The results of `key` in the order in which they should be used: those whose outputs are `preferred` (what the
    /// lock file says) first, then the first recorded. The first of them whose content can be had is the one to take;
    /// [`Store::missing`] tells.
    ///
    /// # Errors
    /// As [`Store::actions`].
    pub fn candidates(&self, key: &Key, preferred: Option<&BTreeMap<String, Digest>>) -> Result<Vec<ActionRecord>> {
        let mut records = self.actions(key)?;
        if let Some(preferred) = preferred {
            // Stable: among equals the first recorded stays first.
            records.sort_by_key(|record| record.output_digests() != *preferred);
        }
        Ok(records)
    }

    /// The first of [`Store::candidates`], without looking whether its content is there.
    ///
    /// # Errors
    /// As [`Store::actions`].
    pub fn recorded(&self, key: &Key, preferred: Option<&BTreeMap<String, Digest>>) -> Result<Option<ActionRecord>> {
        Ok(self.candidates(key, preferred)?.into_iter().next())
    }

    /// The keys that have results, sorted.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn keys(&self) -> Result<Vec<Key>> {
        let mut keys = Vec::new();
        for shard in layout::shards() {
            for (name, _) in list(&self.root().join("actions").join(shard))? {
                keys.extend(name.parse::<Key>().ok());
            }
        }
        keys.sort();
        Ok(keys)
    }

    /// The records whose key, or one of whose outputs, begins with `prefix` (hexadecimal), each with the outputs that are
    /// meant: all of them, if the key is.
    ///
    /// # Errors
    /// As [`Store::actions`].
    pub fn by_prefix(&self, prefix: &str) -> Result<Vec<(ActionRecord, Vec<String>)>> {
        let prefix = prefix.to_ascii_lowercase();
        let mut found = Vec::new();
        for key in self.keys()? {
            let whole = key.to_string().starts_with(&prefix);
            for record in self.actions(&key)? {
                let outputs = record.outputs.iter();
                let meant = outputs.filter(|(_, output)| whole || output.digest.to_string().starts_with(&prefix));
                let ports: Vec<String> = meant.map(|(port, _)| port.clone()).collect();
                if whole || !ports.is_empty() {
                    found.push((record, ports));
                }
            }
        }
        Ok(found)
    }

    /// The files of the records of `key`, by number.
    pub(super) fn record_files(&self, key: &Key) -> Result<Vec<RecordFile>> {
        let names = list(&self.layout.action_folder(key))?;
        let dropped: BTreeMap<&str, EvictionReason> =
            names.iter().filter_map(|(name, _)| EvictionReason::read(name)).collect();
        let mut files: Vec<RecordFile> = names
            .iter()
            .filter_map(|(name, path)| {
                let stem = name.strip_suffix(".json")?;
                let (number, digest) = stem.split_once('-')?;
                let (number, digest) = (number.parse().ok()?, digest.parse().ok()?);
                Some(RecordFile { number, digest, path: path.clone(), dropped: dropped.get(stem).copied() })
            })
            .collect();
        files.sort_by_key(|file| (file.number, file.digest));
        Ok(files)
    }
}

/// Reads one record of `key` and checks that it is what was written.
pub(super) fn read_record(key: &Key, file: &RecordFile) -> Result<ActionRecord> {
    Ok(ActionRecord { dropped: file.dropped, ..decode_record(key, &file.path, &read_checked(file)?)? })
}

/// The bytes of a record's file, which are what its name says.
fn read_checked(file: &RecordFile) -> Result<Vec<u8>> {
    let bytes = read_regular_file(&file.path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => FileError::damaged(&file.path, error.to_string()),
        _ => FileError::io("read", &file.path)(error),
    })?;
    if Digest::of(&bytes) != file.digest {
        return Err(FileError::damaged(&file.path, "its content does not have the digest that names it"));
    }
    Ok(bytes)
}

/// The record of `key` out of `bytes`, which `path` held.
fn decode_record(key: &Key, path: &Path, bytes: &[u8]) -> Result<ActionRecord> {
    let record = ActionRecord::decode(path, bytes)?;
    if record.key != *key {
        return Err(FileError::damaged(path, format!("it is the record of another key, {}", record.key)));
    }
    Ok(record)
}

/// Names and paths in a folder, unsorted; none if the folder is not there. Names that are not UTF-8 are not ours.
pub(super) fn list(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(FileError::io("read the folder", folder)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(FileError::io("read the folder", folder))?;
        if let Ok(name) = entry.file_name().into_string() {
            names.push((name, entry.path()));
        }
    }
    Ok(names)
}
