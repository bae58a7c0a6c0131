//! Snapshots of outputs, which show that nobody changed them while a stage read them.
//!
//! Read-only modes stop slips, not an owner who gives the right back, and not root. So the process that runs a stage compares
//! snapshots of its inputs before and after. Nothing is hashed but young files from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::Store;
use super::hashing::hash_own_file;
use super::layout;
use super::record::{OutputRecord, OutputShape};
use super::walk::files_below;
use crate::external_files::DigestCache;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, FileErrorKind, Stat};

/// The metadata of everything in an output. If two snapshots are equal, nobody changed it in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSnapshot {
    /// By path; nothing if it is not there or is no plain file.
    objects: BTreeMap<PathBuf, Option<(Stat, u32)>>,
    /// By path; nothing if it is not there.
    outside: BTreeMap<PathBuf, Option<Digest>>,
    /// True if a folder's tree is as its manifest says, and for a file.
    tree_is_right: bool,
}

impl OutputSnapshot {
    /// The objects in it.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Path> {
        self.objects.keys().map(PathBuf::as_path)
    }

    /// Returns true if nobody wrote between this snapshot and a later one: they are equal, or differ by a second name or
    /// another mode alone, and the content has its digest. So a stage that links to an input spoils no other stage that reads it.
    /// Objects that differ are hashed: the process that wrote could set the seal back.
    pub fn unmodified_since(&self, later: &OutputSnapshot) -> bool {
        let is_same = |(path, before): (&PathBuf, &Option<(Stat, u32)>)| match (before, later.objects.get(path)) {
            (Some((before, _)), Some(Some((now, _)))) => {
                let of = |stat: &Stat| (stat.device, stat.inode, stat.size, stat.mtime_ns);
                let is_whole = |digest| hash_own_file(path).is_ok_and(|found| found == digest);
                before == now || of(before) == of(now) && layout::digest_of_path(path).is_some_and(is_whole)
            }
            (before, now) => now == Some(before),
        };
        self.objects.len() == later.objects.len()
            && self.objects.iter().all(is_same)
            && (&self.outside, self.tree_is_right) == (&later.outside, later.tree_is_right)
    }

    /// Returns true if the output is a file from outside.
    pub(super) fn is_of_outside(&self) -> bool {
        !self.outside.is_empty()
    }

    /// Returns the objects whose metadata is no longer that of this snapshot.
    pub(super) fn changed_paths(&self) -> Result<Vec<&Path>> {
        let mut changed = Vec::new();
        for (path, before) in &self.objects {
            if look_at_object(path)? != *before {
                changed.push(path.as_path());
            }
        }
        Ok(changed)
    }

    /// Returns a file below `folder` that is one of the objects under another name; nothing if the folder cannot be read. A file
    /// with one name is none: it may have the inode number of an object that is gone.
    pub fn linked_below(&self, folder: &Path) -> Option<PathBuf> {
        let objects: BTreeSet<(u64, u64)> =
            self.objects.values().flatten().map(|(stat, _)| (stat.device, stat.inode)).collect();
        let is_object = |metadata: &fs::Metadata| objects.contains(&(metadata.dev(), metadata.ino()));
        let mut files = files_below(folder).unwrap_or_default().into_iter();
        files.find(|(_, metadata)| metadata.nlink() > 1 && is_object(metadata)).map(|(path, _)| path)
    }
}

impl Store {
    /// Makes a snapshot of an output. Call [`Store::path_of`] first, which repairs a folder's tree.
    ///
    /// It has size, times, mode and inode of an object, the correctness of a tree, and the digest of a file from outside, which
    /// `outside` caches.
    ///
    /// # Errors
    /// A manifest is lost, damaged or of a newer version; a file from outside is being written; the system refuses.
    pub fn stamp(&self, output: &OutputRecord, outside: &DigestCache) -> Result<OutputSnapshot> {
        let own = self.object_path(&output.digest);
        let mut stamp = OutputSnapshot { objects: BTreeMap::new(), outside: BTreeMap::new(), tree_is_right: true };
        stamp.objects.insert(own.clone(), look_at_object(&own)?);
        match (&output.shape, &output.outside) {
            (OutputShape::Folder, _) => {
                let manifest = self.manifest(&output.digest)?;
                for file in manifest.files().values() {
                    let object = self.object_path(&file.digest);
                    let stat = look_at_object(&object)?;
                    stamp.objects.insert(object, stat);
                }
                stamp.tree_is_right = self.tree_is_right(&output.digest, &manifest);
            }
            (OutputShape::File { .. }, Some(reference)) => {
                for path in self.places_of(reference) {
                    let digest = match outside.digest(&path) {
                        Ok(digest) => Some(digest),
                        Err(error) if error.kind() == FileErrorKind::Missing => None,
                        Err(error) => return Err(error),
                    };
                    stamp.outside.insert(path, digest);
                }
            }
            (OutputShape::File { .. }, None) => {}
        }
        Ok(stamp)
    }
}

fn look_at_object(path: &Path) -> Result<Option<(Stat, u32)>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(Some((Stat::from(&metadata), metadata.permissions().mode()))),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::io("look at", path)(error)),
    }
}
