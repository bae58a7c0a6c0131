//! Folders, readable in place.
//!
//! `trees/ab/cdef…` holds, for the manifest of that digest, a folder of relative links into `objects/`. Trees hold
//! nothing of their own: one that is missing, or differs from its manifest, is made again. They are
//! made in a temporary folder and renamed, so they are never half there, and their folders are read-only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::Store;
use super::manifest::Manifest;
use super::record::OutputRecord;
use super::walk::{all_below, metadata};
use crate::external_files::DigestCache;
use cwm_core::files::Result;
use cwm_core::files::durable::{TEMPORARY, Temporary};
use cwm_core::{Digest, FileError, FileErrorKind};

impl Store {
    /// Returns the path at which an output can be read: its object, its tree of links, or the file from outside.
    ///
    /// A tree that is missing is made first, and one that was changed is replaced. The files in it are symbolic links: use
    /// `fs::metadata`, not the folder entry's own type. [`Store::missing`] checks the objects that they point to.
    ///
    /// # Errors
    /// It is not in the store, or its tree is missing or wrong and cannot be made.
    pub fn path_of(&self, output: &OutputRecord, digests: &DigestCache) -> Result<PathBuf> {
        if output.shape.is_folder() {
            self.make_tree(&output.digest)?;
            return Ok(self.tree_folder(&output.digest));
        }
        let object = self.object_path(&output.digest);
        if object.is_file() {
            return Ok(object);
        }
        if let Ok(Some(path)) = self.find_external(output, digests) {
            return Ok(path);
        }
        let (path, what) = match &output.outside {
            Some(reference) => (reference.path.clone(), "is gone, or is not what it was"),
            None => (object, "is not in the store"),
        };
        Err(FileError::Missing { path, what: what.into() })
    }

    /// Makes the tree, unless it is there and right.
    fn make_tree(&self, digest: &Digest) -> Result<()> {
        let manifest = self.manifest(digest)?;
        // Through a link in their place a tree would lie elsewhere, and its own links would lead nowhere.
        for folder in self.tree_folder(digest).ancestors().skip(1).take(2) {
            if fs::symlink_metadata(folder).is_ok_and(|metadata| !metadata.is_dir()) {
                return Err(FileError::damaged(folder, "is not a folder; `cwm store verify` moves it to quarantine"));
            }
        }
        if self.tree_is_right(digest, &manifest) {
            return Ok(());
        }
        let made = self.create().and_then(|()| {
            let tree = self.prepare_tree(digest, &manifest)?;
            tree.folders.iter().try_for_each(|folder| self.disk.sync_folder(folder))?;
            self.place_tree(tree)
        });
        made.map_err(|error| match error.kind() {
            FileErrorKind::ReadOnly => FileError::refused(
                &self.tree_folder(digest),
                "is missing or was changed, and cannot be restored, as the store cannot be written",
                "run any command once where the store can be written, or copy the store",
            ),
            _ => error,
        })
    }

    /// Makes the tree in `temporary/`.
    pub(super) fn prepare_tree(&self, digest: &Digest, manifest: &Manifest) -> Result<PreparedTree<'_>> {
        let root = self.disk.temporary_folder(&self.folder("temporary"), TEMPORARY)?;
        let mut folders = BTreeSet::from([root.path().to_owned()]);
        let entries = self.tree_entries(manifest);
        for (name, target) in &entries {
            let path = root.path().join(name);
            match target {
                Some(target) => self.disk.link(target, &path)?,
                None => {
                    self.disk.make_folder(&path)?;
                    folders.insert(path);
                }
            }
        }
        Ok(PreparedTree { root, folders, place: self.tree_folder(digest), entries })
    }

    /// Gives a tree its name, in the place of a wrong one. If another process was faster, this one is removed: the other may be in
    /// use.
    pub(super) fn place_tree(&self, tree: PreparedTree<'_>) -> Result<()> {
        let PreparedTree { root, place, entries, .. } = tree;
        let is_right = || read_tree(&place).is_ok_and(|found| found == entries);
        self.disk.make_folders(place.parent().unwrap_or(&place))?;
        // Also against `verify`, which may be reading a tree that is removed here. Looked at first: what appears after that is right.
        let _lock = self.lock_replacing(&place)?;
        let placed = match fs::symlink_metadata(&place) {
            Ok(_) if is_right() => return Ok(()),
            // In one instant, since others may be reading there.
            Ok(_) => root.replace(&place),
            Err(_) => root.persist(&place),
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

/// A tree that is complete but has no name yet.
pub(super) struct PreparedTree<'store> {
    root: Temporary<'store>,
    /// Its folders, to be synced before it is placed.
    pub folders: BTreeSet<PathBuf>,
    place: PathBuf,
    entries: TreeEntries,
}

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
