//! Garbage, and files that interrupted work left.
//!
//! Garbage is moved to `garbage/` with the store locked exclusively, so that nobody sees half of it, and is deleted without the
//! lock; the next collection deletes what a killed one left there. In this order: records are marked, durably; then trees go,
//! which would else be links to nothing; then manifests and files. At any instant content of a record is there or missing, never
//! half there, and a record with missing content is marked.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rayon::prelude::*;

use super::Store;
use super::eviction::EvictionReason;
use super::layout::digest_of_path;
use super::locks::StoreLock;
use super::partial_object::PART;
use super::walk::{list_folder, size_and_time};
use super::work::WorkFolder;
use cwm_core::files::{Result, TEMPORARY};
use cwm_core::{Digest, FileError, FileErrorKind};

/// Begins the names of journals of uploads: the remote and the digest of the content follow.
const UPLOAD: &str = "upload-";

/// A file or folder that interrupted work left in `temporary/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleTemporary {
    /// Its path.
    pub path: PathBuf,
    /// Bytes in it.
    pub bytes: u64,
    /// The time of its last change.
    pub changed: Timestamp,
    /// True if it is of a transfer with a remote, which the next one resumes.
    pub is_transfer: bool,
}

/// Files and folders to be deleted.
#[derive(Clone, Debug, Default)]
pub struct Garbage {
    /// Files of records whose content is deleted, or was before.
    pub records: Vec<PathBuf>,
    /// Content, manifests among it, which is deleted with its trees.
    pub objects: Vec<Digest>,
    /// Work folders.
    pub work: Vec<WorkFolder>,
    /// Files in `temporary/`, `quarantine/` and `roots/` that are no longer wanted, and trees without manifests.
    pub others: Vec<PathBuf>,
}

impl Store {
    /// Moves garbage to `garbage/`. Nothing of it is found any more; [`Store::delete_garbage`] frees the space.
    ///
    /// # Errors
    /// An operation on the disk fails; everything that was moved until then is garbage all the same.
    pub fn move_garbage(&self, garbage: &Garbage, reason: EvictionReason, _alone: &StoreLock) -> Result<()> {
        match self.mark_evicted(&garbage.records, reason) {
            // What needs no mark makes space for marks: trees are made again from their manifests.
            Err(error) if error.kind() == FileErrorKind::DiskFull => {
                self.move_to_garbage(garbage, &[])?;
                self.delete_garbage()?;
                self.mark_evicted(&garbage.records, reason)?;
            }
            marked => marked?,
        }
        self.move_to_garbage(garbage, &garbage.objects)
    }

    /// Moves these of the objects of garbage, and all that is garbage beside its objects.
    fn move_to_garbage(&self, garbage: &Garbage, objects: &[Digest]) -> Result<()> {
        let folder = self.folder("garbage");
        self.disk.make_folders(&folder)?;
        // Not a folder of its own, which may be too much for a full disk.
        let move_path =
            |path: &Path| FileError::optional(self.disk.rename(path, &folder.join(self.unique_name(path)))).map(drop);
        // Few objects are folders; to look for the tree of each takes as long as to move it.
        let trees = self.trees()?;
        garbage.objects.iter().filter_map(|digest| trees.get(digest)).try_for_each(|path| move_path(path))?;
        garbage.others.iter().try_for_each(|path| move_path(path))?;
        objects.par_iter().try_for_each(|digest| move_path(&self.object_path(digest)))?;
        for folder in &garbage.work {
            // A stage whose run was killed may still run there.
            if let Some(_held) = self.try_lock_key_silently(&folder.key)? {
                move_path(&folder.path)?;
            }
        }
        Ok(())
    }

    /// Deletes everything in `garbage/`, also of earlier collections that were interrupted.
    ///
    /// # Errors
    /// An operation on the disk fails; the next collection resumes.
    pub fn delete_garbage(&self) -> Result<()> {
        list_folder(&self.folder("garbage"))?.par_iter().try_for_each(|(_, path)| self.disk.remove(path))
    }

    /// Returns the files that were quarantined before `time`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn quarantined_before(&self, time: Timestamp) -> Result<Vec<PathBuf>> {
        let quarantined = list_folder(&self.folder("quarantine"))?.into_iter().map(|(_, path)| path);
        // A rename changes the ctime alone.
        let is_old = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.ctime() < time.as_second());
        Ok(quarantined.filter(is_old).collect())
    }

    /// Returns the files that interrupted work left in `temporary/`. With the store locked exclusively, no process writes them.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn stale_temporaries(&self) -> Result<Vec<StaleTemporary>> {
        let is_transfer = |name: &str| {
            let name = name.strip_prefix(TEMPORARY).unwrap_or_default();
            name.starts_with(PART) || name.starts_with(UPLOAD)
        };
        let left = list_folder(&self.folder("temporary"))?.into_iter().map(|(name, path)| {
            let (bytes, changed) = size_and_time(&path)?;
            Ok(StaleTemporary { path, bytes, changed, is_transfer: is_transfer(&name) })
        });
        left.collect()
    }

    /// Returns the path of the journal of the upload of this content to `remote`.
    pub fn upload_path(&self, remote: &str, digest: &Digest) -> PathBuf {
        self.folder("temporary").join(format!("{TEMPORARY}{UPLOAD}{remote}-{digest}"))
    }

    /// Returns the trees whose manifests are not there.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn trees_without_manifests(&self) -> Result<Vec<PathBuf>> {
        let trees = self.trees()?.into_iter();
        Ok(trees.filter(|(digest, _)| !self.object_path(digest).exists()).map(|(_, path)| path).collect())
    }

    /// Returns all trees.
    fn trees(&self) -> Result<BTreeMap<Digest, PathBuf>> {
        let trees = self.in_shards("trees")?.into_iter();
        Ok(trees.filter_map(|(_, path)| Some((digest_of_path(&path)?, path))).collect())
    }
}

/// Returns the bytes below a path. What goes away meanwhile is not counted.
///
/// # Errors
/// A folder cannot be read.
pub fn bytes_below(path: &Path) -> Result<u64> {
    Ok(size_and_time(path)?.0)
}
