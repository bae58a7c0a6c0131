//! What interrupted work left in `temporary/`: garbage, but for transfers with remotes, which the next attempt goes on with.

use std::path::PathBuf;

use jiff::Timestamp;

use super::Store;
use super::actions::list;
use super::inventory::size_and_time;
use super::partial_object::partial_name;
use cwm_core::Digest;
use cwm_core::files::Result;
use cwm_core::files::durable::TEMPORARY;

/// Begins the names of journals of uploads: whose upload it is and the digest of its content follow.
const UPLOAD: &str = "upload-";

/// A file or folder in `temporary/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleTemporary {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes in it.
    pub bytes: u64,
    /// When it last changed.
    pub changed: Timestamp,
    /// Whether somebody can go on with it: a download whose content is not here yet, or an upload of content that still is.
    pub is_transfer: bool,
}

impl Store {
    /// The path of the partial object of this content.
    pub(super) fn partial_path(&self, digest: &Digest) -> PathBuf {
        self.layout.temporary().join(partial_name(digest))
    }

    /// Where it is noted how far the upload of this content is; `whose` tells remotes apart.
    pub fn upload_path(&self, whose: &str, digest: &Digest) -> PathBuf {
        self.layout.temporary().join(format!("{TEMPORARY}{UPLOAD}{whose}-{digest}"))
    }

    /// What interrupted work left. With the store alone, nobody writes it any more.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn leftovers(&self) -> Result<Vec<StaleTemporary>> {
        let left = list(&self.layout.temporary())?.into_iter().map(|(name, path)| {
            let (bytes, changed) = size_and_time(&path, None)?;
            Ok(StaleTemporary { path, bytes, changed, is_transfer: self.is_transfer(&name) })
        });
        left.collect()
    }

    fn is_transfer(&self, name: &str) -> bool {
        let Some(digest) = name.rsplit_once('-').and_then(|(_, digest)| digest.parse::<Digest>().ok()) else {
            return false;
        };
        let is_upload = name.strip_prefix(TEMPORARY).is_some_and(|name| name.starts_with(UPLOAD));
        match self.object_path(&digest).exists() {
            true => is_upload,
            false => name == partial_name(&digest),
        }
    }
}
