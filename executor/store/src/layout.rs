//! Where things are in a store.

use std::path::{Path, PathBuf};

use cwm_core::files::STORE_FOLDERS;
use cwm_core::{Digest, Key};

/// Version of the layout, in the file `format`.
pub const STORE_FORMAT: u32 = 1;

/// Whether `folder`, which says that it is cwm's, is a remote: nothing of what a store alone has is there.
pub(super) fn is_remote(folder: &Path) -> bool {
    let shared = ["objects", "actions"];
    let mut own = STORE_FOLDERS.into_iter().filter(|name| !shared.contains(name)).chain(["README.md"]);
    !own.any(|name| folder.join(name).exists()) && shared.iter().any(|name| folder.join(name).is_dir())
}

/// The paths of a store.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub root: PathBuf,
}

impl Layout {
    fn sharded(&self, folder: &str, hexadecimal: &str) -> PathBuf {
        self.root.join(folder).join(&hexadecimal[..2]).join(&hexadecimal[2..])
    }

    /// `format`.
    pub fn format(&self) -> PathBuf {
        self.root.join("format")
    }

    /// `objects/ab/cdef…`.
    pub fn object(&self, digest: &Digest) -> PathBuf {
        self.sharded("objects", &digest.to_string())
    }

    /// `trees/ab/cdef…`.
    pub fn tree(&self, digest: &Digest) -> PathBuf {
        self.sharded("trees", &digest.to_string())
    }

    /// `actions/ab`, which holds `<key>/`.
    pub fn action_shard(&self, key: &Key) -> PathBuf {
        self.root.join("actions").join(&key.to_string()[..2])
    }

    /// `actions/ab/<key>`.
    pub fn action_folder(&self, key: &Key) -> PathBuf {
        // Asked for each cell of a run: one allocation.
        let key = key.to_string();
        let mut path = PathBuf::with_capacity(self.root.as_os_str().len() + "/actions/ab/".len() + key.len());
        path.extend([self.root.as_path(), Path::new("actions"), Path::new(&key[..2]), Path::new(&key)]);
        path
    }

    /// `work/<key>`.
    pub fn work(&self, key: &Key) -> PathBuf {
        self.root.join("work").join(key.to_string())
    }

    /// `locks/<name>`.
    pub fn lock(&self, name: &str) -> PathBuf {
        self.root.join("locks").join(name)
    }

    /// `temporary`: files and folders before they get their names.
    pub fn temporary(&self) -> PathBuf {
        self.root.join("temporary")
    }

    /// `quarantine`: what `verify` found damaged.
    pub fn quarantine(&self) -> PathBuf {
        self.root.join("quarantine")
    }

    /// `roots`: the lock files that the store has seen.
    pub fn roots(&self) -> PathBuf {
        self.root.join("roots")
    }

    /// `tags`: results that people named.
    pub fn tags(&self) -> PathBuf {
        self.root.join("tags")
    }

    /// `garbage`: what was set aside to be deleted.
    pub fn garbage(&self) -> PathBuf {
        self.root.join("garbage")
    }

    /// `outside.cache`: digests of files from outside.
    pub fn outside_cache(&self) -> PathBuf {
        self.root.join("outside.cache")
    }
}

/// The 256 shards: `00` … `ff`.
pub(super) fn shards() -> impl Iterator<Item = String> {
    (0..=255u8).map(|byte| format!("{byte:02x}"))
}

/// The digest that the path of a sharded file spells: `…/ab/cdef…`.
pub(super) fn digest_of_path(path: &Path) -> Option<Digest> {
    let shard = path.parent()?.file_name()?.to_str()?;
    let rest = path.file_name()?.to_str()?;
    (shard.len() == 2).then(|| format!("{shard}{rest}").parse().ok()).flatten()
}
