//! Eviction: results whose content was removed on purpose. Their records stay, and missing content is no damage.
//!
//! A file beside the record gives the reason: `0001-<digest>.collected`, `0001-<digest>.not-kept` (both empty),
//! `0001-<digest>.not-pulled` (with the name of the remote that the record came from). It is made before anything is
//! deleted, and is removed when the content is there again; so it allows content to be missing, which it need not be. A
//! record without it whose content is missing was damaged.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Store;
use cwm_core::files::Result;

/// The reason why the content of a result was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvictionReason {
    /// `cwm store gc` took it.
    Collected,
    /// Its stage has `keep: false`.
    NotKept,
    /// It came from a remote as a record only; its files were not pulled, or not all.
    NotPulled,
}

impl EvictionReason {
    /// Every reason, in their order, with the extension of its marker.
    const ALL: [(EvictionReason, &str); 3] = [
        (EvictionReason::Collected, "collected"),
        (EvictionReason::NotKept, "not-kept"),
        (EvictionReason::NotPulled, "not-pulled"),
    ];

    /// Reads the name of a marker: the name of its record without extension, and the reason.
    pub(super) fn read(name: &str) -> Option<(&str, EvictionReason)> {
        let (stem, extension) = name.rsplit_once('.')?;
        EvictionReason::ALL.into_iter().find(|(_, known)| *known == extension).map(|(reason, _)| (stem, reason))
    }

    /// Returns the path of the marker of the record in `file`.
    pub(super) fn path(self, file: &Path) -> PathBuf {
        let (_, extension) = EvictionReason::ALL[self as usize];
        file.with_extension(extension)
    }
}

impl Store {
    /// Marks these records, by their files, as evicted, durably.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub(super) fn mark_evicted(&self, records: &[PathBuf], reason: EvictionReason) -> Result<()> {
        records.par_iter().try_for_each(|file| self.disk.write_marker(&reason.path(file), ""))?;
        if records.is_empty() { Ok(()) } else { self.disk.sync_all(self.root()) }
    }

    /// Removes the marker of the record in `file`, whose content is there again.
    pub(super) fn unmark_evicted(&self, file: &Path) -> Result<()> {
        EvictionReason::ALL.into_iter().try_for_each(|(reason, _)| self.disk.remove(&reason.path(file)))
    }
}
