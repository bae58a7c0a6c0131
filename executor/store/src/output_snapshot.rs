//! Whether an output is still as it was when a stage began to read it.
//!
//! Read-only modes stop slips, not an owner who gives the right back, and not root. So whoever runs a stage compares
//! stamps of its inputs before and after. Nothing is hashed but young files from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::Store;
use super::hashing::hash_own_file;
use super::layout;
use super::record::{OutputRecord, OutputShape};
use crate::external_files::DigestCache;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, FileErrorKind, Stat};

/// What the file system says about all that an output consists of. Equal stamps: nobody changed it in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSnapshot {
    /// By path; nothing for what is not there or is no plain file.
    objects: BTreeMap<PathBuf, Option<(Stat, u32)>>,
    /// By path; nothing for what is not there.
    outside: BTreeMap<PathBuf, Option<Digest>>,
    /// Whether a folder's tree is as its manifest says; true for a file.
    tree_is_right: bool,
}

impl OutputSnapshot {
    /// The objects that it is about.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Path> {
        self.objects.keys().map(PathBuf::as_path)
    }

    /// Whether nobody wrote between this stamp and a later one: they are equal, or differ in what a second name or another
    /// mode changes, and the content is what it is called. So whoever links to an input spoils no other stage that reads it.
    /// What differs is hashed: a seal alone can be set back by whoever wrote.
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

    /// Whether it is about a file from outside.
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

    /// A file in `folder`, or below it, that is one of the objects under another name. What cannot be read is passed over, and
    /// what has one name only: it may have the number of an object that is gone.
    pub fn linked_below(&self, folder: &Path) -> Option<PathBuf> {
        let objects: BTreeSet<(u64, u64)> =
            self.objects.values().flatten().map(|(stat, _)| (stat.device, stat.inode)).collect();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                if metadata.is_dir() {
                    folders.push(entry.path());
                } else if metadata.nlink() > 1 && objects.contains(&(metadata.dev(), metadata.ino())) {
                    return Some(entry.path());
                }
            }
        }
        None
    }
}

impl Store {
    /// What there is of an output now. Ask for [`Store::path_of`] first, which mends a folder's tree.
    ///
    /// An object is stamped by size, times, mode and inode; a tree by all its links; a file from outside by its digest,
    /// which `outside` remembers.
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
                        Err(error) if error.trouble() == FileErrorKind::Missing => None,
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
