//! A file as it was at one moment: its metadata and its digest.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::digest_cache::DigestCache;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, Stat};

/// A file as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFingerprint {
    /// Absolute.
    pub path: PathBuf,
    /// Its metadata.
    pub stat: Stat,
    /// The digest of its content.
    pub digest: Digest,
    /// True if the file was old enough, when it was hashed, for `stat` to prove the content.
    #[serde(rename = "settled")]
    pub is_stable: bool,
}

impl FileFingerprint {
    /// Returns true if the file still has this content: a run whose inputs changed meanwhile is not recorded. Reads the file only
    /// where its metadata is not enough; a file that was touched but has the same content is the same, one that is gone is not.
    ///
    /// # Errors
    /// The file is there but cannot be read.
    pub fn is_unchanged(&self) -> Result<bool> {
        match FileError::optional(Stat::of(&self.path))? {
            None => Ok(false),
            Some(stat) if stat == self.stat && self.is_stable => Ok(true),
            Some(stat) if stat.size != self.stat.size => Ok(false),
            Some(_) => Ok(DigestCache::without_cache().snapshot(&self.path)?.digest == self.digest),
        }
    }
}
