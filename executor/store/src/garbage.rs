//! Setting garbage aside, and deleting it afterwards.
//!
//! What goes is moved into `garbage/` with the store's lock held alone, so nobody sees half of it; it is deleted without
//! the lock. What a killed collection left there is deleted by the next. In this order: records are marked and that is on
//! the disk for good; then trees, which would else be links to nothing; then manifests and files. At any instant what a
//! record lacks is missing, never half there, and the record says that it may be.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rayon::prelude::*;

use super::Store;
use super::actions::list;
use super::eviction::EvictionReason;
use super::inventory::size_and_time;
use super::layout::digest_of_path;
use super::locks::StoreLock;
use super::work::WorkFolder;
use cwm_core::files::Result;
use cwm_core::{Digest, FileErrorKind};

/// What is to go.
#[derive(Clone, Debug, Default)]
pub struct Garbage {
    /// Files of records whose content goes, or is gone already.
    pub records: Vec<PathBuf>,
    /// Content, manifests among it.
    pub objects: Vec<Digest>,
    /// Work folders.
    pub work: Vec<WorkFolder>,
    /// What lies in `temporary/` and `quarantine/` and is no longer wanted, or folders of links to what goes.
    pub others: Vec<PathBuf>,
}

impl Store {
    /// Moves garbage out of the way. Nothing of it is found any more; [`Store::delete_garbage`] frees the room.
    ///
    /// # Errors
    /// The disk refuses; what was moved until then is garbage all the same.
    pub fn set_aside_garbage(&self, garbage: &Garbage, reason: EvictionReason, _alone: &StoreLock) -> Result<()> {
        match self.mark_dropped(&garbage.records, reason) {
            // What needs no mark makes the room that marks lack: trees are made again from their manifests.
            Err(error) if error.trouble() == FileErrorKind::DiskFull => {
                let unmarked = Garbage { records: Vec::new(), objects: Vec::new(), ..garbage.clone() };
                self.move_aside(&unmarked)?;
                self.delete_garbage()?;
                self.mark_dropped(&garbage.records, reason)?;
            }
            marked => marked?,
        }
        self.move_aside(garbage)
    }

    fn move_aside(&self, garbage: &Garbage) -> Result<()> {
        let place = self.garbage_folder()?;
        let aside = |path: &Path| {
            let inside = path.strip_prefix(self.root()).unwrap_or(path);
            let name: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
            match self.disk.place(path, &place(&name.join("-"))) {
                Err(error) if error.trouble() == FileErrorKind::Missing => Ok(()),
                other => other,
            }
        };
        // Few objects are folders; to ask for the tree of each takes as long as to move it.
        let trees = self.trees()?;
        garbage.objects.iter().filter_map(|digest| trees.get(digest)).try_for_each(|path| aside(path))?;
        garbage.others.iter().try_for_each(|path| aside(path))?;
        garbage.objects.par_iter().try_for_each(|digest| aside(&self.layout.object(digest)))?;
        for folder in &garbage.work {
            // A stage that nobody watches any more may still run there.
            if let Some(_held) = self.try_lock_key_silently(folder.key())? {
                aside(folder.path())?;
            }
        }
        Ok(())
    }

    /// Where in a new folder of `garbage/` something goes, by its name there. On a full disk, for which a folder may be too much,
    /// it is `garbage/` itself.
    fn garbage_folder(&self) -> Result<impl Fn(&str) -> PathBuf + Sync> {
        let place = self.layout.garbage();
        self.disk.make_folders(&place)?;
        let name = format!("{}-{}", Timestamp::now().as_nanosecond(), std::process::id());
        let folder = place.join(&name);
        let is_made = match self.disk.make_folder(&folder) {
            Err(error) if error.trouble() == FileErrorKind::DiskFull => false,
            made => made.map(|_| true)?,
        };
        Ok(move |inside: &str| if is_made { folder.join(inside) } else { place.join(format!("{name}-{inside}")) })
    }

    /// Deletes what was set aside, by this collection and by earlier ones that did not come to it.
    ///
    /// # Errors
    /// The disk refuses; the next collection goes on.
    pub fn delete_garbage(&self) -> Result<()> {
        for (_, folder) in list(&self.layout.garbage())? {
            let inside = if folder.is_dir() { list(&folder)? } else { Vec::new() };
            inside.par_iter().try_for_each(|(_, path)| self.disk.remove(path))?;
            self.disk.remove(&folder)?;
        }
        Ok(())
    }

    /// Bytes that earlier collections set aside and did not delete.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn garbage_bytes(&self) -> Result<u64> {
        Ok(size_and_time(&self.layout.garbage(), None)?.0)
    }

    /// These paths, with their bytes.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn sized(&self, paths: impl Iterator<Item = PathBuf>) -> Result<Vec<(PathBuf, u64)>> {
        sized(paths.map(|path| (String::new(), path)).collect())
    }

    /// What was set aside as damaged before `time`, with its bytes.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn quarantined_before(&self, time: Timestamp) -> Result<Vec<(PathBuf, u64)>> {
        let mut old = list(&self.layout.quarantine())?;
        // A rename changes the ctime alone.
        old.retain(|(_, path)| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.ctime() < time.as_second()));
        sized(old)
    }

    /// Trees whose manifests are not there.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn trees_without_manifests(&self) -> Result<Vec<PathBuf>> {
        let trees = self.trees()?.into_iter();
        Ok(trees.filter(|(digest, _)| !self.object_path(digest).exists()).map(|(_, path)| path).collect())
    }

    /// All trees that there are.
    fn trees(&self) -> Result<BTreeMap<Digest, PathBuf>> {
        let mut found = BTreeMap::new();
        for (_, shard) in list(&self.root().join("trees"))? {
            if shard.is_dir() {
                found.extend(list(&shard)?.into_iter().filter_map(|(_, path)| Some((digest_of_path(&path)?, path))));
            }
        }
        Ok(found)
    }
}

fn sized(paths: Vec<(String, PathBuf)>) -> Result<Vec<(PathBuf, u64)>> {
    paths.into_iter().map(|(_, path)| size_and_time(&path, None).map(|(bytes, _)| (path, bytes))).collect()
}
