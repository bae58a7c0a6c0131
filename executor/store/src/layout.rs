//! The paths of a store.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::Store;
use super::walk::list_folder;
use cwm_core::files::{Result, STORE_FOLDERS};
use cwm_core::{Digest, Key};

/// Version of the layout, in the file `format`.
pub const STORE_FORMAT: u32 = 1;

/// Returns true if `folder`, whose `format` is cwm's, is a remote: it has nothing that only a store has.
pub(super) fn is_remote(folder: &Path) -> bool {
    let shared = ["objects", "actions"];
    let mut own = STORE_FOLDERS.into_iter().filter(|name| !shared.contains(name)).chain(["README.md"]);
    !own.any(|name| folder.join(name).exists()) && shared.iter().any(|name| folder.join(name).is_dir())
}

impl Store {
    /// Returns the folder of the store, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns `objects/ab/cdef…`, the path of the content with this digest, if it is there.
    pub fn object_path(&self, digest: &Digest) -> PathBuf {
        self.sharded("objects", digest)
    }

    /// Returns `trees/ab/cdef…`, the path of the tree of a folder, if it is there.
    pub fn tree_folder(&self, digest: &Digest) -> PathBuf {
        self.sharded("trees", digest)
    }

    fn sharded(&self, folder: &str, digest: &Digest) -> PathBuf {
        let hexadecimal = digest.to_string();
        self.root.join(folder).join(&hexadecimal[..2]).join(&hexadecimal[2..])
    }

    /// Returns `actions/ab/<key>`, the folder of the records of a key.
    pub(super) fn action_folder(&self, key: &Key) -> PathBuf {
        let key = key.to_string();
        self.root.join("actions").join(&key[..2]).join(&key)
    }

    /// Returns `locks/<name>`, the path of a lock.
    pub(super) fn lock_path(&self, name: &str) -> PathBuf {
        self.root.join("locks").join(name)
    }

    /// Returns a folder of the store, one of [`STORE_FOLDERS`].
    pub fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns everything in the shards of `objects`, `trees` or `actions`.
    ///
    /// # Errors
    /// A shard cannot be read.
    pub(super) fn in_shards(&self, folder: &str) -> Result<Vec<(String, PathBuf)>> {
        let shards = list_folder(&self.root.join(folder))?.into_par_iter().filter(|(name, _)| name.len() == 2);
        let inside: Vec<_> = shards.map(|(_, shard)| list_folder(&shard)).collect::<Result<_>>()?;
        Ok(inside.into_iter().flatten().collect())
    }
}

/// Reads the digest in the path of a sharded file: `…/ab/cdef…`.
pub(super) fn digest_of_path(path: &Path) -> Option<Digest> {
    let shard = path.parent()?.file_name()?.to_str()?;
    let rest = path.file_name()?.to_str()?;
    (shard.len() == 2).then(|| format!("{shard}{rest}").parse().ok()).flatten()
}
