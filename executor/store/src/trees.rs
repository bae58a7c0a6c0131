//! Folders, readable in place.
//!
//! `trees/ab/cdef…` holds, for the manifest of that digest, a folder of relative links into `objects/`. Trees hold
//! nothing of their own: one that is missing, or differs from its manifest, is made again. They are
//! made aside and renamed, so they are never half there, and their folders are read-only.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Store;
use super::manifest::Manifest;
use super::record::{OutputRecord, OutputShape};
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
    pub fn path_of(&self, output: &OutputRecord, outside: &DigestCache) -> Result<PathBuf> {
        match output.shape {
            OutputShape::Folder => {
                self.make_tree(&output.digest)?;
                Ok(self.tree_folder(&output.digest))
            }
            OutputShape::File { .. } => {
                let object = self.object_path(&output.digest);
                if object.is_file() {
                    return Ok(object);
                }
                if let Ok(Some(path)) = self.find_outside(output, outside) {
                    return Ok(path);
                }
                Err(match &output.outside {
                    Some(reference) => FileError::Missing {
                        path: reference.path.clone(),
                        what: "is gone, or is not what it was".into(),
                    },
                    None => FileError::Missing { path: object, what: "is not in the store".into() },
                })
            }
        }
    }

    /// Makes the tree, unless it is there and right.
    fn make_tree(&self, digest: &Digest) -> Result<()> {
        let manifest = self.manifest(digest)?;
        // Through a link in their place a tree would lie elsewhere, and its own links would lead nowhere.
        for folder in self.tree_folder(digest).ancestors().skip(1).take(2) {
            if fs::symlink_metadata(folder).is_ok_and(|metadata| !metadata.is_dir()) {
                let what = "is not a folder; `cwm verify` sets it aside".to_owned();
                return Err(FileError::Damaged { path: folder.to_owned(), what });
            }
        }
        if self.tree_is_right(digest, &manifest) {
            return Ok(());
        }
        let made = self.create().and_then(|()| match self.prepare_tree(digest, &manifest)? {
            Some(tree) => {
                tree.folders.iter().try_for_each(|folder| self.disk.sync_folder(folder))?;
                self.place_tree(tree)
            }
            None => Ok(()),
        });
        made.map_err(|error| match error.trouble() {
            FileErrorKind::ReadOnly => FileError::refused(
                &self.tree_folder(digest),
                "is missing or was changed, and the store cannot be written to make it again",
                "run any command once where the store can be written, or copy the store",
            ),
            _ => error,
        })
    }

    /// Makes the tree in `temporary/`, unless it is there and right.
    pub(super) fn prepare_tree(&self, digest: &Digest, manifest: &Manifest) -> Result<Option<PreparedTree<'_>>> {
        let place = self.tree_folder(digest);
        if self.tree_is_right(digest, manifest) {
            return Ok(None);
        }
        let root = self.disk.temporary_folder(&self.temporary_folder(), TEMPORARY)?;
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
        Ok(Some(PreparedTree { root, folders, place, digest: *digest, manifest: manifest.clone() }))
    }

    /// Gives a tree its name, in the place of a wrong one. If another process was faster, ours goes away: its tree may
    /// be in use.
    pub(super) fn place_tree(&self, tree: PreparedTree<'_>) -> Result<()> {
        let PreparedTree { root, place, digest, manifest, .. } = tree;
        if let Some(shard) = place.parent() {
            self.disk.make_folders(shard)?;
        }
        if self.tree_is_right(&digest, &manifest) {
            return Ok(());
        }
        let placed = match fs::symlink_metadata(&place) {
            // In one instant, since others may be reading there.
            Ok(_) => root.replace(&place),
            Err(_) => root.place(&place),
        };
        match placed {
            Ok(()) => Ok(()),
            Err(_) if self.tree_is_right(&digest, &manifest) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// From `depth` folders below the store's root to an object.
    fn link_target(&self, digest: &Digest, depth: usize) -> PathBuf {
        let object = self.object_path(digest);
        let inside = object.strip_prefix(self.root()).unwrap_or(&object);
        std::iter::repeat_n("..", depth).collect::<PathBuf>().join(inside)
    }

    /// Returns true if the tree of this manifest is there, and has exactly the right links and folders. A tree that cannot be read
    /// is not right.
    pub(super) fn tree_is_right(&self, digest: &Digest, manifest: &Manifest) -> bool {
        self.look_over_tree(&self.tree_folder(digest), manifest).unwrap_or(false)
    }

    fn look_over_tree(&self, root: &Path, manifest: &Manifest) -> io::Result<bool> {
        if !fs::symlink_metadata(root)?.is_dir() {
            return Ok(false);
        }
        let wanted: BTreeSet<&str> =
            manifest.files().keys().flat_map(|name| name.match_indices('/').map(|(at, _)| &name[..at])).collect();
        let mut links = 0;
        let mut folders = vec![(root.to_owned(), String::new(), 3)];
        while let Some((folder, prefix, depth)) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let Ok(part) = entry.file_name().into_string() else { return Ok(false) };
                let name = format!("{prefix}{part}");
                let kind = entry.file_type()?;
                if kind.is_dir() && wanted.contains(name.as_str()) {
                    folders.push((entry.path(), name + "/", depth + 1));
                    continue;
                }
                let Some(file) = manifest.files().get(&name).filter(|_| kind.is_symlink()) else { return Ok(false) };
                if fs::read_link(entry.path())? != self.link_target(&file.digest, depth) {
                    return Ok(false);
                }
                links += 1;
            }
        }
        Ok(links == manifest.files().len())
    }
}

/// A tree that is complete but has no name yet.
pub(super) struct PreparedTree<'store> {
    root: Temporary<'store>,
    /// Its folders, to be synced before it is placed.
    pub folders: BTreeSet<PathBuf>,
    place: PathBuf,
    digest: Digest,
    manifest: Manifest,
}
