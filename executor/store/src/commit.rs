//! Recording a finished action: all files, then folders, then the record.
//!
//! In this order, so that at any instant everything that is recorded is there: hash and sync each file, make it read-only,
//! rename it into `objects/`; write the manifests of folders the same way and make their trees; write the record aside;
//! sync it and every folder that got a name; rename the record, and sync its folders. An interrupted commit
//! leaves content without a record, which nothing refers to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cwm_contract::{FetchResult, Format};
use rayon::prelude::*;

use super::Store;
use super::damage::{Check, ObjectState};
use super::hashing::hash_own_file;
use super::manifest::{Manifest, ManifestFile};
use super::objects::{ProducedFile, list_files, shard_and_parent};
use super::record::{ActionRecord, ExternalReference, OutputRecord, OutputShape, record_file_name};
use super::records::next_number;
use crate::external_files::FileFingerprint;
use cwm_core::files::Result;
use cwm_core::{Components, Digest, FileError, Key, escape_controls};

/// A finished action, before it is in the store.
#[derive(Clone, Debug)]
pub struct NewAction {
    /// Its record without the outputs and the log.
    pub record: ActionRecord,
    /// Its outputs, by name.
    pub outputs: BTreeMap<String, NewOutput>,
    /// The stage's log, a file in its work folder; it is moved into the store.
    pub log: Option<PathBuf>,
}

/// One output of a finished action.
#[derive(Clone, Debug)]
pub struct NewOutput {
    /// Its format.
    pub format: Format,
    /// A file or a folder.
    pub shape: OutputShape,
    /// Its content.
    pub content: OutputContent,
}

/// The content of an output.
#[derive(Clone, Debug)]
pub enum OutputContent {
    /// A file or folder in the store's file system, usually in the work folder. It is moved into the store.
    Local(PathBuf),
    /// An external file, referenced in place.
    External(FileFingerprint),
    /// An output of another action, passed on: it is in the store, and nothing is copied.
    InStore(OutputRecord),
}

/// The outcome of recording an action.
#[derive(Clone, Debug)]
pub struct RecordedAction {
    /// The record of these outputs: the new one, or the equal one that was there.
    pub record: ActionRecord,
    /// True if it was written just now.
    pub is_new: bool,
}

impl Store {
    /// Moves the outputs of a finished action into the store and records it. If the same result is already recorded,
    /// that record stays and none is written; but if its log was lost, or if it was recorded from files and this one is computed,
    /// this record takes its place.
    ///
    /// # Errors
    /// An output is missing, of another shape than declared, or holds links or other things that are not plain files;
    /// or an operation on the disk fails. Nothing is recorded then, and earlier records stay.
    pub fn record(&self, action: NewAction) -> Result<RecordedAction> {
        self.create()?;
        // Against `gc`, which must not find the content before its record.
        let _shared = self.lock_shared(|_| {})?;
        let key = action.record.components.key();
        let mut commit = Commit { store: self, unsynced: BTreeSet::new() };
        let listed = action.outputs.values().map(|output| match &output.content {
            OutputContent::Local(path) => list_files(path, &output.shape),
            OutputContent::External(_) | OutputContent::InStore(_) => Ok(Vec::new()),
        });
        let log = action.log.as_deref().map(|path| list_files(path, &OutputShape::File { extension: String::new() }));
        let listed = listed.chain([log.transpose().map(Option::unwrap_or_default)]).collect::<Result<Vec<_>>>()?;
        let mut hashed = commit.hash_and_sync(listed)?;
        let log = hashed.pop().and_then(|mut files| files.pop());
        let mut outputs = BTreeMap::new();
        for ((name, output), files) in action.outputs.iter().zip(hashed) {
            outputs.insert(name.clone(), commit.place_output(output, files)?);
        }

        let numbered = self.record_files(&key)?;
        let equal = numbered.iter().find_map(|file| match file.read(&key) {
            Ok(record) => (record.outputs == outputs).then_some(Ok((file, record))),
            // A damaged or newer record is no reason to lose this result; a lookup reports it.
            Err(FileError::Damaged { .. } | FileError::TooNew { .. }) => None,
            Err(error) => Some(Err(error)),
        });
        let equal = equal.transpose()?;
        if let Some((file, record)) = &equal
            && (!record.is_recorded_by_hand() || action.record.is_recorded_by_hand())
            && (log.is_none() || record.log.is_none_or(|log| self.object_path(&log).is_file()))
        {
            // Its content may have been lost or evicted; then it has just been put back.
            self.disk.sync_together(commit.unsynced)?;
            if file.evicted.is_some() {
                self.unmark_evicted(&file.path)?;
            }
            return Ok(RecordedAction { record: ActionRecord { evicted: None, ..record.clone() }, is_new: false });
        }
        if let Some(log) = &log {
            commit.place_object(log)?;
        }
        let cause = action.record.cause.iter().map(|line| escape_controls(line)).collect();
        let record = ActionRecord { key, outputs, cause, log: log.map(|log| log.digest), ..action.record };
        let number = equal.as_ref().map_or(next_number(&numbered), |(file, _)| file.number);
        let sync =
            |file: &Path, _: &Path| self.disk.sync_together(commit.unsynced.iter().map(PathBuf::as_path).chain([file]));
        let place = self.place_record(&key, number, &record.encode()?, sync)?;
        // First the new one: if we end between the two, both stand for the same outputs.
        if let Some((old, _)) = equal {
            if old.path != place {
                self.disk.remove(&old.path)?;
            }
            self.unmark_evicted(&old.path)?;
        }
        Ok(RecordedAction { record, is_new: true })
    }

    /// Records the same result under other components: a download by URL also under its checksum, and the other way round. It
    /// becomes the last record of their key, unless that is equal already.
    ///
    /// # Errors
    /// As [`Store::record`].
    pub fn record_as(&self, record: &ActionRecord, components: Components, fetched: Vec<FetchResult>) -> Result<()> {
        let _shared = self.lock_shared(|_| {})?;
        let key = components.key();
        let numbered = self.record_files(&key)?;
        if let Some(last) = numbered.last()
            && last.read(&key).is_ok_and(|last| last.outputs == record.outputs && last.fetched == fetched)
        {
            return if last.evicted.is_some() { self.unmark_evicted(&last.path) } else { Ok(()) };
        }
        let record = ActionRecord { key, components, fetched, evicted: None, ..record.clone() };
        let sync = |file: &Path, _: &Path| self.disk.sync(file);
        self.place_record(&key, next_number(&numbered), &record.encode()?, sync).map(drop)
    }

    /// Writes the bytes of a record of `key` to a temporary file, and gives it its name, durably, after `sync` has brought to the
    /// disk that file (the first path) and all that it names. Returns the path of the record (the second).
    pub(super) fn place_record(
        &self,
        key: &Key,
        number: u32,
        bytes: &[u8],
        sync: impl FnOnce(&Path, &Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let (_, file) = self.disk.write_unsynced(&self.folder("temporary"), bytes)?;
        self.disk.make_read_only(file.path())?;
        let folder = self.action_folder(key);
        let place = folder.join(record_file_name(number, &Digest::of(bytes)));
        sync(file.path(), &place)?;
        self.disk.make_folders(&folder)?;
        file.persist(&place)?;
        // Those above also if the folder was there: the process that made it may have been killed before this.
        self.disk.sync_together(shard_and_parent(&folder).chain([folder.clone()]))?;
        Ok(place)
    }

    /// Makes the reference to an external file.
    pub fn reference(&self, path: &Path) -> ExternalReference {
        let shared = path.components().zip(self.root().components()).take_while(|(a, b)| a == b).count();
        // Only the root in common: the two will not be moved together.
        let from_store = (shared > 1).then(|| {
            let up = self.root().components().count() - shared;
            std::iter::repeat_n("..", up).collect::<PathBuf>().join(path.components().skip(shared).collect::<PathBuf>())
        });
        ExternalReference { path: path.to_owned(), from_store }
    }
}

/// A file that a stage made, hashed.
struct HashedFile {
    file: ProducedFile,
    digest: Digest,
    /// True if its content is synced.
    synced: bool,
}

/// A commit under way.
struct Commit<'store> {
    store: &'store Store,
    /// Folders with names that are not on the disk for good yet.
    unsynced: BTreeSet<PathBuf>,
}

impl Commit<'_> {
    /// Hashes the files of all outputs, large ones on all cores, and syncs those that are new.
    fn hash_and_sync(&self, outputs: Vec<Vec<ProducedFile>>) -> Result<Vec<Vec<HashedFile>>> {
        let hash = |file: ProducedFile| {
            let digest = hash_own_file(&file.path)?;
            let synced = self.store.object_state(&digest, Some(file.size), Check::Size)? != ObjectState::Intact;
            Ok(HashedFile { file, digest, synced })
        };
        // For less, starting threads takes longer than the work.
        let is_much = outputs.iter().flatten().map(|file| file.size.max(4096)).sum::<u64>() > 1 << 20;
        let hash_all = |files: Vec<ProducedFile>| match is_much {
            true => files.into_par_iter().map(hash).collect(),
            false => files.into_iter().map(hash).collect(),
        };
        let hashed = outputs.into_iter().map(hash_all).collect::<Result<Vec<Vec<HashedFile>>>>()?;
        let new = hashed.iter().flatten().filter(|hashed| hashed.synced);
        self.store.disk.sync_together(new.map(|hashed| &hashed.file.path))?;
        Ok(hashed)
    }

    fn place_output(&mut self, output: &NewOutput, files: Vec<HashedFile>) -> Result<OutputRecord> {
        let (format, shape) = (output.format.clone(), output.shape.clone());
        let path = match &output.content {
            OutputContent::External(FileFingerprint { path, stat, digest, .. }) => {
                // Bytes from a pipe are in the store already, and in no file outside.
                let is_ingested = *path == self.store.object_path(digest);
                let external = (!is_ingested).then(|| self.store.reference(path));
                return Ok(OutputRecord { digest: *digest, size: stat.size, shape, format, external });
            }
            OutputContent::InStore(stored) => return Ok(OutputRecord { format, ..stored.clone() }),
            OutputContent::Local(path) => path,
        };
        files.iter().try_for_each(|file| self.place_object(file))?;
        let (digest, size) = match (&shape, files.as_slice()) {
            (OutputShape::File { .. }, [one]) => (one.digest, one.file.size),
            _ => {
                let files = files.into_iter().map(|HashedFile { file, digest, .. }| {
                    (file.name, ManifestFile { digest, size: file.size, executable: file.executable })
                });
                let manifest = Manifest::new(files.collect()).map_err(|what| {
                    FileError::rejected(path, format!("cannot be stored: {what}"), "name its files differently")
                })?;
                (self.place_manifest(&manifest)?, manifest.size())
            }
        };
        Ok(OutputRecord { digest, size, shape, format, external: None })
    }

    fn place_object(&mut self, HashedFile { file, digest, synced }: &HashedFile) -> Result<()> {
        self.store.place_object(&file.path, file.size, digest, *synced, &mut self.unsynced)
    }

    fn place_manifest(&mut self, manifest: &Manifest) -> Result<Digest> {
        let bytes = manifest.encode().into_bytes();
        let (digest, size) = (Digest::of(&bytes), bytes.len() as u64);
        let (_, file) = self.store.disk.write_unsynced(&self.store.folder("temporary"), &bytes)?;
        // Moved away by this; the guard then finds nothing to remove.
        self.store.place_object(file.path(), size, &digest, false, &mut self.unsynced)?;
        self.store.make_tree(&digest, manifest)?;
        Ok(digest)
    }
}
