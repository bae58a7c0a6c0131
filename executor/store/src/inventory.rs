//! Everything that a store holds, read at once: what housekeeping decides by.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cwm_contract::Label;
use jiff::Timestamp;
use rayon::prelude::*;

use super::Store;
use super::actions::list;
use super::eviction::EvictionReason;
use super::layout;
use super::record::{OutputRecord, OutputShape};
use super::record_file::RecordFile;
use super::work::WorkFolder;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, Key};

/// Everything that a store holds.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Every record, by key, of each key the first recorded first.
    pub held: Vec<RecordEntry>,
    /// The objects on the disk, with their bytes.
    pub objects: HashMap<Digest, u64>,
    /// What is in the folders whose manifests are there.
    pub folders: HashMap<Digest, Vec<Digest>>,
    /// Work folders.
    pub work: Vec<WorkFolderEntry>,
}

/// One record, as far as housekeeping asks.
#[derive(Clone, Debug)]
pub struct RecordEntry {
    /// What it is a result of.
    pub key: Key,
    /// The record's file.
    pub file: PathBuf,
    /// Bytes of that.
    pub size: u64,
    /// The pipeline that first made it.
    pub pipeline: String,
    /// The cell that first made it.
    pub label: Label,
    /// Where it comes from, in words.
    pub origin: String,
    /// When it was made.
    pub made: Timestamp,
    /// When it was last used or made, to a day.
    pub last_used: Timestamp,
    /// What came out.
    pub outputs: BTreeMap<String, OutputRecord>,
    /// Content that it was made of.
    pub inputs: Vec<Digest>,
    /// Its log.
    pub log: Option<Digest>,
    /// Whether it cannot be made again from what is here: it was fetched from outside, or taken over from a file.
    pub is_source: bool,
    /// Whether its content was let go.
    pub dropped: Option<EvictionReason>,
}

/// A work folder.
#[derive(Clone, Debug)]
pub struct WorkFolderEntry {
    /// Where it is, and of which action.
    pub folder: WorkFolder,
    /// Bytes in it, those in `keep/` apart.
    pub bytes: u64,
    /// Bytes in `keep/`.
    pub kept_bytes: u64,
    /// When something in it last changed.
    pub changed: Timestamp,
    /// Whether somebody holds its key.
    pub is_running: bool,
}

impl Store {
    /// Reads all records, manifests and names, on all cores. Nothing is hashed but manifests.
    ///
    /// # Errors
    /// A record or a manifest is damaged or of a newer version: what it names cannot be told, so nothing may be decided. A store
    /// that passes over damaged records leaves them out.
    pub fn inventory(&self) -> Result<Inventory> {
        let held: Vec<Vec<RecordEntry>> = self.keys()?.par_iter().map(|key| self.held(key)).collect::<Result<_>>()?;
        let held: Vec<RecordEntry> = held.into_iter().flatten().collect();
        let shards: Vec<String> = layout::shards().collect();
        let objects: Vec<Vec<(Digest, u64)>> = shards
            .par_iter()
            .map(|shard| objects_in(&self.root().join("objects").join(shard)))
            .collect::<Result<_>>()?;
        let objects: HashMap<Digest, u64> = objects.into_iter().flatten().collect();
        let folders: BTreeSet<Digest> = held
            .iter()
            .flat_map(|one| one.outputs.values())
            .filter(|output| output.shape == OutputShape::Folder && objects.contains_key(&output.digest))
            .map(|output| output.digest)
            .collect();
        let folders = folders
            .into_par_iter()
            .map(|digest| {
                let manifest = self.manifest(&digest)?;
                Ok((digest, manifest.files().values().map(|file| file.digest).collect()))
            })
            .collect::<Result<_>>()?;
        let work = self.work_folders()?.into_iter().map(|folder| self.work_folder_entry(folder));
        Ok(Inventory { held, objects, folders, work: work.collect::<Result<_>>()? })
    }

    fn held(&self, key: &Key) -> Result<Vec<RecordEntry>> {
        let files = self.record_files(key)?;
        let folder = self.layout.action_folder(key);
        let used = fs::metadata(&folder).and_then(|metadata| metadata.modified()).map(timestamp).unwrap_or_default();
        files.iter().filter_map(|file| self.read_held(key, file, used).transpose()).collect()
    }

    fn read_held(&self, key: &Key, file: &RecordFile, used: Timestamp) -> Result<Option<RecordEntry>> {
        let Some(record) = self.record_in(key, file)? else { return Ok(None) };
        let size = fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
        let made = record.circumstances.started;
        Ok(Some(RecordEntry {
            key: *key,
            file: file.path.clone(),
            size,
            origin: record.origin(),
            made,
            last_used: used.max(made),
            inputs: record.components.inputs.values().flatten().map(|(_, digest)| *digest).collect(),
            log: record.log,
            is_source: !record.fetched.is_empty() || record.is_taken(),
            dropped: record.dropped,
            pipeline: record.pipeline,
            label: record.label,
            outputs: record.outputs,
        }))
    }

    fn work_folder_entry(&self, folder: WorkFolder) -> Result<WorkFolderEntry> {
        let kept = folder.keep();
        let (kept_bytes, kept_changed) = size_and_time(&kept, None)?;
        let (bytes, changed) = size_and_time(folder.path(), Some(&kept))?;
        let is_running = self.holder(folder.key())?.is_some();
        Ok(WorkFolderEntry { folder, bytes, kept_bytes, changed: changed.max(kept_changed), is_running })
    }

    /// Notes that the results of `keys` were used now, at most once a day each. Of keys without results nothing is noted.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn note_use(&self, keys: impl IntoIterator<Item = Key>) -> Result<()> {
        let now = SystemTime::now();
        for key in keys {
            let folder = self.layout.action_folder(&key);
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

/// How often a use is noted.
const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);

impl RecordEntry {
    /// The content of the store that it names: outputs, what is in folders, its log.
    pub fn content<'i>(&'i self, inventory: &'i Inventory) -> impl Iterator<Item = Digest> + 'i {
        let own = self.outputs.values().filter(|output| output.outside.is_none());
        own.flat_map(|output| inventory.with_children(output.digest)).chain(self.log)
    }

    /// The digest of each output, as the lock file has them.
    pub fn output_digests(&self) -> BTreeMap<String, Digest> {
        self.outputs.iter().map(|(name, output)| (name.clone(), output.digest)).collect()
    }

    /// Bytes of all outputs.
    pub fn bytes(&self) -> u64 {
        self.outputs.values().map(|output| output.size).sum()
    }
}

impl Inventory {
    /// Content and, of a folder, all that is in it.
    pub fn with_children(&self, digest: Digest) -> impl Iterator<Item = Digest> + '_ {
        std::iter::once(digest).chain(self.folders.get(&digest).into_iter().flatten().copied())
    }
}

fn objects_in(shard: &Path) -> Result<Vec<(Digest, u64)>> {
    let named = list(shard)?.into_iter().filter_map(|(_, path)| Some((layout::digest_of_path(&path)?, path)));
    Ok(named.filter_map(|(digest, path)| Some((digest, fs::symlink_metadata(path).ok()?.len()))).collect())
}

/// Bytes below a folder and when the last of it changed; `without` one folder in it. What goes away meanwhile is not
/// counted.
pub(super) fn size_and_time(folder: &Path, without: Option<&Path>) -> Result<(u64, Timestamp)> {
    let (mut bytes, mut changed) = (0, Timestamp::MIN);
    let mut front = vec![folder.to_owned()];
    while let Some(path) = front.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        changed = changed.max(Timestamp::from_second(metadata.mtime()).unwrap_or(Timestamp::MIN));
        if metadata.is_dir() {
            let inside = list(&path)?.into_iter().map(|(_, path)| path);
            front.extend(inside.filter(|path| Some(path.as_path()) != without));
        } else {
            bytes += metadata.len();
        }
    }
    Ok((bytes, changed))
}

fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH)
}
