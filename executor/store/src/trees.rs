//! Folders, readable in place.
//!
//! `trees/ab/cdef…` holds, for the manifest of that digest, a folder of relative links into `objects/`. Trees hold
//! nothing of their own: one that is missing, or differs from its manifest, is made again before it is read. They are
//! made in a temporary folder and renamed, so that no reader finds half of one. They are not synced: what a power loss leaves
//! of one is made again, too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Store;
use super::manifest::Manifest;
use super::record::OutputRecord;
use super::walk::{all_below, metadata};
use crate::external_files::DigestCache;
use cwm_core::files::{Result, TEMPORARY};
use cwm_core::{Digest, FileError, FileErrorKind};

impl Store {
    /// Returns the path at which an output can be read: its object, its tree of links, or the external file.
    ///
    /// A tree that is missing is made first, and one that was changed is replaced. The files in it are symbolic links: use
    /// `fs::metadata`, not the folder entry's own type. [`Store::missing`] checks the objects that they point to.
    ///
    /// # Errors
    /// It is not in the store, or its tree is missing or wrong and cannot be made.
    pub fn path_of(&self, output: &OutputRecord, digests: &DigestCache) -> Result<PathBuf> {
        if output.shape.is_folder() {
            let tree = self.tree_folder(&output.digest);
            let made = self.make_tree(&output.digest, &self.manifest(&output.digest)?);
            return made.map(|()| tree.clone()).map_err(|error| match error.kind() {
                FileErrorKind::ReadOnly => FileError::rejected(
                    &tree,
                    "is missing or was changed, and cannot be restored, as the store cannot be written",
                    "run any command once where the store can be written, or copy the store",
                ),
                _ => error,
            });
        }
        let object = self.object_path(&output.digest);
        if object.is_file() {
            return Ok(object);
        }
        if let Ok(Some(path)) = self.find_external(output, digests) {
            return Ok(path);
        }
        let (path, what) = match &output.external {
            Some(reference) => (reference.path.clone(), "was deleted or changed"),
            None => (object, "is not in the store"),
        };
        Err(FileError::Missing { path, what: what.into() })
    }

    /// Makes the tree of a manifest, unless it is there and right. A wrong one is replaced. If another process was faster, its tree
    /// stays: it may be in use.
    pub(super) fn make_tree(&self, digest: &Digest, manifest: &Manifest) -> Result<()> {
        let (place, entries) = (self.tree_folder(digest), self.tree_entries(manifest));
        // Through a link in their place a tree would lie elsewhere, and its own links would lead nowhere.
        for folder in place.ancestors().skip(1).take(2) {
            if fs::symlink_metadata(folder).is_ok_and(|metadata| !metadata.is_dir()) {
                return Err(FileError::damaged(folder, "it is not a folder"));
            }
        }
        let is_right = || read_tree(&place).is_ok_and(|found| found == entries);
        if is_right() {
            return Ok(());
        }
        self.create()?;
        let tree = self.disk.temporary_folder(&self.folder("temporary"), TEMPORARY)?;
        for (name, target) in &entries {
            let path = tree.path().join(name);
            match target {
                Some(target) => self.disk.link(target, &path)?,
                None => self.disk.make_folders(&path)?,
            }
        }
        self.disk.make_folders(place.parent().unwrap_or(&place))?;
        // Looked at first: what appears after that is right.
        let _lock = self.lock_replacing(&place)?;
        let placed = match fs::symlink_metadata(&place) {
            Ok(_) if is_right() => return Ok(()),
            // In one instant, since others may be reading there.
            Ok(_) => tree.replace(&place),
            Err(_) => tree.persist(&place),
        };
        placed.or_else(|error| if is_right() { Ok(()) } else { Err(error) })
    }

    /// Returns true if the tree of this manifest is there, and has exactly the right links and folders. A tree that cannot be read
    /// is not right.
    pub(super) fn tree_is_right(&self, digest: &Digest, manifest: &Manifest) -> bool {
        read_tree(&self.tree_folder(digest)).is_ok_and(|found| found == self.tree_entries(manifest))
    }

    /// Returns the entries that the tree of a manifest has.
    fn tree_entries(&self, manifest: &Manifest) -> TreeEntries {
        let mut entries = TreeEntries::new();
        for (name, file) in manifest.files() {
            let object = self.object_path(&file.digest);
            let inside = object.strip_prefix(self.root()).unwrap_or(&object);
            let name = Path::new(name);
            // Out of the folders of its name, of the tree, of its shard and of `trees`.
            let up: PathBuf = std::iter::repeat_n("..", name.components().count() + 2).collect();
            entries.insert(name.to_owned(), Some(up.join(inside)));
            let parents = name.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
            entries.extend(parents.map(|parent| (parent.to_owned(), None)));
        }
        entries
    }
}

/// The entries of a tree by their paths in it: links with their targets, and folders.
type TreeEntries = BTreeMap<PathBuf, Option<PathBuf>>;

/// Reads the entries of a tree. Anything but links and folders is an error.
fn read_tree(root: &Path) -> Result<TreeEntries> {
    if !metadata(root)?.is_some_and(|found| found.is_dir()) {
        return Err(FileError::damaged(root, "it is not a folder"));
    }
    let entry = |(path, metadata): (PathBuf, fs::Metadata)| {
        let name = path.strip_prefix(root).unwrap_or(&path).to_owned();
        let target = if metadata.is_dir() { Ok(None) } else { fs::read_link(&path).map(Some) };
        Ok((name, target.map_err(FileError::io("read the link", &path))?))
    };
    all_below(root)?.into_iter().map(entry).collect()
}
