//! Imports records and content that others made. They are untrusted until they are checked.
//!
//! A record is checked as bytes ([`check_record`](super::check_record)) and placed with a mark that its files were not
//! pulled, so that their absence does not count as damage. Content comes as a [`PartialObject`] in `temporary/`, which the next
//! attempt resumes; it gets its name only if its hash is that name ([`Store::place_objects`]), in the order of
//! `docs/design/store.md`.

use std::collections::BTreeSet;
use std::path::Path;

use super::Store;
use super::eviction::EvictionReason;
use super::partial_object::{PartialObject, partial_name};
use super::record::ActionRecord;
use super::records::{RecordFile, next_number};
use crate::external_files::DigestCache;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, Key, OutputDigests, is_name, read_regular_file};

/// The longest manifest that is read, in bytes.
pub const LARGEST_MANIFEST: u64 = 512 << 20;

impl Store {
    /// Returns the partial object of this content, with what an earlier attempt wrote; nothing while another process writes it.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn partial_object(&self, digest: &Digest) -> Result<Option<PartialObject>> {
        self.create()?;
        let path = self.folder("temporary").join(partial_name(digest));
        PartialObject::open(path.clone(), digest).map_err(FileError::io("write", &path))
    }

    /// Removes a partial object: its bytes are not those of the content.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn discard_partial(&self, partial: PartialObject) -> Result<()> {
        self.disk.remove(&partial.path)
    }

    /// Gives complete content its names. After this all of it is on the disk for good. Hold the store's shared lock.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn place_objects(&self, parts: Vec<PartialObject>) -> Result<()> {
        self.disk.sync_together(parts.iter().map(|part| &part.path))?;
        let mut unsynced = BTreeSet::new();
        for PartialObject { path, digest, file } in &parts {
            let size = file.metadata().map_err(FileError::io("read", path))?.len();
            self.place_object(path, size, digest, true, &mut unsynced)?;
        }
        self.disk.sync_together(unsynced)
    }

    /// Imports checked records of `key`, each with its bytes, after those that are there. A result that is recorded already is left
    /// out. Their files count as not pulled `from` the remote of this name. Returns how many are new. Hold the store's shared lock.
    ///
    /// # Errors
    /// An operation on the disk fails, or a record that is there cannot be read.
    pub fn import_records(&self, key: &Key, mut arrived: Vec<(ActionRecord, Vec<u8>)>, from: &str) -> Result<usize> {
        self.create()?;
        // Two processes that import at once would give the same numbers; both records would stay, so nothing is lost.
        let mut known: BTreeSet<OutputDigests> = self.actions(key)?.iter().map(ActionRecord::output_digests).collect();
        let first = next_number(&self.record_files(key)?);
        arrived.sort_by_key(|(record, bytes)| (record.run_info.started, Digest::of(bytes)));
        arrived.retain(|(record, _)| known.insert(record.output_digests()));
        for (number, (_, bytes)) in (first..).zip(&arrived) {
            self.import_record(key, number, bytes, from)?;
        }
        Ok(arrived.len())
    }

    /// Imports a record of `key` behind those that are there, unless the last of them is equal: of results that are known by a URL
    /// the latest counts.
    ///
    /// # Errors
    /// As [`Store::import_records`].
    pub fn import_latest(&self, key: &Key, record: &ActionRecord, bytes: Vec<u8>, from: &str) -> Result<()> {
        self.create()?;
        let numbered = self.record_files(key)?;
        if let Some(last) = numbered.last() {
            let found = last.read(key)?;
            if found.fetched == record.fetched && found.output_digests() == record.output_digests() {
                return Ok(());
            }
        }
        self.import_record(key, next_number(&numbered), &bytes, from)
    }

    /// Places a record with this number, marked as not pulled `from` a remote.
    fn import_record(&self, key: &Key, number: u32, bytes: &[u8], from: &str) -> Result<()> {
        let folder = self.action_folder(key);
        self.disk.make_folders(&folder)?;
        let mark_and_sync = |file: &Path, place: &Path| {
            self.disk.write_marker(&EvictionReason::NotPulled.path(place), &format!("{from}\n"))?;
            self.disk.sync_together([file, folder.as_path()])
        };
        self.place_record(key, number, bytes, mark_and_sync).map(drop)
    }

    /// Marks the files of this result as with the remote `from`, so that missing ones do not count as damage.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn mark_remote_only(&self, record: &ActionRecord, digests: &DigestCache, from: &str) -> Result<()> {
        for (file, found) in self.equal_records(record)? {
            if file.evicted.is_none() && !self.missing(&found, digests)?.is_empty() {
                self.disk.write_marker(&EvictionReason::NotPulled.path(&file.path), &format!("{from}\n"))?;
                self.disk.sync(&self.action_folder(&record.key))?;
            }
        }
        Ok(())
    }

    /// Marks the files of this result as all here.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn mark_local(&self, record: &ActionRecord) -> Result<()> {
        let mut evicted = self.equal_records(record)?.into_iter().filter(|(file, _)| file.evicted.is_some());
        evicted.try_for_each(|(file, _)| self.unmark_evicted(&file.path))
    }

    /// Returns the name of the remote that a result came from without its files, if it is known.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn remote_of_unpulled(&self, record: &ActionRecord) -> Result<Option<String>> {
        let mut unpulled = self.equal_records(record)?.into_iter().map(|(file, _)| file);
        let file = unpulled.find(|file| file.evicted == Some(EvictionReason::NotPulled));
        let marker = file.and_then(|file| read_regular_file(&EvictionReason::NotPulled.path(&file.path)).ok());
        let name = marker.and_then(|marker| String::from_utf8(marker).ok()).map(|name| name.trim().to_owned());
        Ok(name.filter(|name| is_name(name)))
    }

    /// Returns the bytes of a result's record for a remote: those of its file, but without paths of this machine, which the record
    /// of an external file has.
    ///
    /// # Errors
    /// It is not recorded any more, or cannot be read.
    pub fn shared_record(&self, record: &ActionRecord) -> Result<Vec<u8>> {
        let Some((file, mut shared)) = self.equal_records(record)?.into_iter().next() else {
            let path = self.action_folder(&record.key);
            return Err(FileError::Missing { path, what: format!("does not hold the result of {}", record.label) });
        };
        if shared.outputs.values().all(|output| output.external.is_none()) {
            return read_regular_file(&file.path).map_err(FileError::io("read", &file.path));
        }
        shared.outputs.values_mut().for_each(|output| output.external = None);
        shared.encode()
    }

    /// Reads the records of the same key with the same outputs.
    fn equal_records(&self, record: &ActionRecord) -> Result<Vec<(RecordFile, ActionRecord)>> {
        let files = self.record_files(&record.key)?.into_iter();
        let mut records: Vec<_> =
            files.map(|file| file.read(&record.key).map(|found| (file, found))).collect::<Result<_>>()?;
        let digests = record.output_digests();
        records.retain(|(_, found)| found.output_digests() == digests);
        Ok(records)
    }
}
