//! Everything in a store, read at once: the basis of housekeeping.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use rayon::prelude::*;

use super::Store;
use super::layout::digest_of_path;
use super::record::{ActionRecord, OutputShape};
use super::records::RecordFile;
use super::walk::size_and_time;
use super::work::WorkFolder;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, Key};

/// Everything in a store.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Every record, by key, of each key the first recorded first.
    pub records: Vec<RecordEntry>,
    /// The objects on the disk, with their bytes.
    pub objects: HashMap<Digest, u64>,
    /// The files in the folders whose manifests are there.
    pub folders: HashMap<Digest, Vec<Digest>>,
    /// Work folders.
    pub work: Vec<WorkFolderEntry>,
}

/// One record.
#[derive(Clone, Debug)]
pub struct RecordEntry {
    /// The record.
    pub record: ActionRecord,
    /// The record's file.
    pub file: PathBuf,
    /// Bytes of that.
    pub size: u64,
    /// The time when it was last used or made, to a day.
    pub last_used: Timestamp,
}

/// A work folder.
#[derive(Clone, Debug)]
pub struct WorkFolderEntry {
    /// The folder, with its key.
    pub folder: WorkFolder,
    /// Bytes in it, those in `checkpoints/` apart.
    pub bytes: u64,
    /// Bytes in `checkpoints/`.
    pub checkpoint_bytes: u64,
    /// The time of the last change in it.
    pub changed: Timestamp,
    /// True if a process holds the lock of its key.
    pub is_running: bool,
}

impl Store {
    /// Reads all records, manifests and names, on all cores. Nothing is hashed but manifests.
    ///
    /// # Errors
    /// A record or a manifest is damaged or of a newer version, so that it is not known what it names. A store that skips damaged
    /// records leaves them out.
    pub fn inventory(&self) -> Result<Inventory> {
        let records: Vec<Vec<RecordEntry>> =
            self.keys()?.par_iter().map(|key| self.record_entries(key)).collect::<Result<_>>()?;
        let records: Vec<RecordEntry> = records.into_iter().flatten().collect();
        let objects: HashMap<Digest, u64> = self
            .in_shards("objects")?
            .into_par_iter()
            .filter_map(|(_, path)| Some((digest_of_path(&path)?, fs::symlink_metadata(path).ok()?.len())))
            .collect();
        let folders: BTreeSet<Digest> = records
            .iter()
            .flat_map(|one| one.record.outputs.values())
            .filter(|output| output.shape == OutputShape::Folder && objects.contains_key(&output.digest))
            .map(|output| output.digest)
            .collect();
        let folders = folders
            .into_par_iter()
            .map(|digest| Ok((digest, self.manifest(&digest)?.digests().collect())))
            .collect::<Result<_>>()?;
        let work = self.work_folders()?.into_iter().map(|folder| self.work_folder_entry(folder));
        Ok(Inventory { records, objects, folders, work: work.collect::<Result<_>>()? })
    }

    fn record_entries(&self, key: &Key) -> Result<Vec<RecordEntry>> {
        let used = fs::metadata(self.action_folder(key)).and_then(|metadata| metadata.modified());
        let used = used.map(|used| Timestamp::try_from(used).unwrap_or_default()).unwrap_or_default();
        let entry = |file: RecordFile| {
            let Some(record) = self.read_or_skip(key, &file)? else { return Ok(None) };
            let size = fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
            let last_used = used.max(record.run_info.started);
            Ok(Some(RecordEntry { record, file: file.path, size, last_used }))
        };
        self.record_files(key)?.into_iter().filter_map(|file| entry(file).transpose()).collect()
    }

    fn work_folder_entry(&self, folder: WorkFolder) -> Result<WorkFolderEntry> {
        let (checkpoint_bytes, _) = size_and_time(&folder.checkpoint_folder())?;
        let (all, changed) = size_and_time(&folder.path)?;
        let (bytes, is_running) = (all.saturating_sub(checkpoint_bytes), self.lock_owner(&folder.key)?.is_some());
        Ok(WorkFolderEntry { folder, bytes, checkpoint_bytes, changed, is_running })
    }

    /// Notes that the results of `keys` were used now, at most once a day each. Of keys without results nothing is noted.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn record_use(&self, keys: impl IntoIterator<Item = Key>) -> Result<()> {
        let now = SystemTime::now();
        for key in keys {
            let folder = self.action_folder(&key);
            let Ok(noted) = fs::metadata(&folder).and_then(|metadata| metadata.modified()) else { continue };
            // A time that lies ahead was set by a clock that went wrong.
            if now.duration_since(noted).is_ok_and(|age| age < DAY) {
                continue;
            }
            let touched = fs::File::open(&folder).and_then(|folder| folder.set_modified(now));
            touched.map_err(FileError::io("note the use of", &folder))?;
        }
        Ok(())
    }
}

/// The time after which a use is noted again.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl RecordEntry {
    /// Returns the content of the store that it names: outputs, the files in folders, its log.
    pub fn content<'i>(&'i self, inventory: &'i Inventory) -> impl Iterator<Item = Digest> + 'i {
        let own = self.record.outputs.values().filter(|output| output.external.is_none());
        own.flat_map(|output| inventory.with_children(output.digest)).chain(self.record.log)
    }
}

impl Inventory {
    /// Returns content and, of a folder, all that is in it.
    pub fn with_children(&self, digest: Digest) -> impl Iterator<Item = Digest> + '_ {
        std::iter::once(digest).chain(self.folders.get(&digest).into_iter().flatten().copied())
    }
}
