//! Folders, readable in place.
//!
//! `trees/ab/cdef…` holds, for the manifest of that digest, a folder of relative links into `objects/`. Trees hold
//! nothing of their own: one that is missing is made again. They are made aside and renamed, so they are never half
//! there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::Store;
use super::durable::{TEMPORARY, Temporary};
use super::error::{Result, StoreError, Trouble};
use super::manifest::Manifest;
use super::record::{OutputRecord, OutputShape};
use crate::digest::Digest;
use crate::outside::Files;

impl Store {
    /// Where an output can be read: its object, its tree of links, or the file from outside that it is.
    ///
    /// A tree that is missing is made first. The files in it are symbolic links: ask `fs::metadata`, not the folder
    /// entry's own type. Whether what they point to is there, [`Store::missing`] tells.
    ///
    /// # Errors
    /// It is not in the store, or its tree is missing and cannot be made.
    pub fn path_of(&self, output: &OutputRecord, outside: &Files) -> Result<PathBuf> {
        match output.shape {
            OutputShape::Folder => {
                let tree = self.layout.tree(&output.digest);
                if !tree.is_dir() {
                    self.make_tree(&output.digest)?;
                }
                Ok(tree)
            }
            OutputShape::File { .. } => {
                let object = self.object_path(&output.digest);
                if object.is_file() {
                    return Ok(object);
                }
                if let Some(reference) = &output.outside {
                    for path in self.places_of(reference) {
                        if outside.snapshot(&path).is_ok_and(|snapshot| snapshot.digest == output.digest) {
                            return Ok(path);
                        }
                    }
                }
                Err(match &output.outside {
                    Some(reference) => StoreError::Missing {
                        path: reference.path.clone(),
                        what: "is gone, or is not what it was".into(),
                    },
                    None => StoreError::Missing { path: object, what: "is not in the store".into() },
                })
            }
        }
    }

    fn make_tree(&self, digest: &Digest) -> Result<()> {
        let manifest = self.manifest(digest)?;
        let made = self.create().and_then(|()| match self.prepare_tree(digest, &manifest)? {
            Some(tree) => {
                tree.folders.iter().try_for_each(|folder| self.disk.sync_folder(folder))?;
                self.place_tree(tree)
            }
            None => Ok(()),
        });
        made.map_err(|error| match error.trouble() {
            Trouble::ReadOnly => StoreError::refused(
                &self.layout.tree(digest),
                "is missing, and the store cannot be written to make it again",
                "run any command once where the store can be written, or copy the store",
            ),
            _ => error,
        })
    }

    /// Makes the tree aside, if it is not there yet.
    pub(super) fn prepare_tree(&self, digest: &Digest, manifest: &Manifest) -> Result<Option<PreparedTree<'_>>> {
        let place = self.layout.tree(digest);
        if place.is_dir() {
            return Ok(None);
        }
        let root = self.disk.temporary_folder(&self.layout.temporary(), TEMPORARY)?;
        let mut folders = BTreeSet::from([root.path().to_owned()]);
        for (name, file) in manifest.files() {
            let link = root.path().join(name);
            let mut depth = 3;
            for parent in Path::new(name).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
                depth += 1;
                folders.insert(root.path().join(parent));
            }
            if depth > 3 {
                self.disk.make_folders(link.parent().unwrap_or(root.path()))?;
            }
            self.disk.link(&self.link_target(&file.digest, depth), &link)?;
        }
        Ok(Some(PreparedTree { root, folders, place }))
    }

    /// Gives a tree its name. If another process was faster, ours goes away.
    pub(super) fn place_tree(&self, tree: PreparedTree<'_>) -> Result<()> {
        if let Some(shard) = tree.place.parent() {
            self.disk.make_folders(shard)?;
        }
        match tree.root.place(&tree.place) {
            Err(_) if tree.place.is_dir() => Ok(()),
            other => other,
        }
    }

    /// From `depth` folders below the store's root to an object.
    fn link_target(&self, digest: &Digest, depth: usize) -> PathBuf {
        let object = self.object_path(digest);
        let inside = object.strip_prefix(self.root()).unwrap_or(&object);
        std::iter::repeat_n("..", depth).collect::<PathBuf>().join(inside)
    }

    /// Whether the tree of this manifest, if it is there, holds exactly the right links.
    pub(super) fn tree_is_right(&self, digest: &Digest, manifest: &Manifest) -> Result<bool> {
        let root = self.layout.tree(digest);
        let mut links = 0;
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(StoreError::io("read the folder", &folder))? {
                let path = entry.map_err(StoreError::io("read the folder", &folder))?.path();
                let metadata = fs::symlink_metadata(&path).map_err(StoreError::io("look at", &path))?;
                if metadata.is_dir() {
                    folders.push(path);
                } else if !metadata.is_symlink() {
                    return Ok(false);
                } else {
                    links += 1;
                }
            }
        }
        Ok(links == manifest.files().len()
            && manifest.files().iter().all(|(name, file)| {
                let depth = 3 + name.matches('/').count();
                fs::read_link(root.join(name)).is_ok_and(|target| target == self.link_target(&file.digest, depth))
            }))
    }
}

/// A tree that is complete but has no name yet.
pub(super) struct PreparedTree<'store> {
    root: Temporary<'store>,
    /// Its folders, to be synced before it is placed.
    pub folders: BTreeSet<PathBuf>,
    place: PathBuf,
}
