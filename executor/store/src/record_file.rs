//! The file of a record: `0001-<digest>.json` in the folder of its key.

use std::path::PathBuf;

use super::eviction::EvictionReason;
use cwm_core::Digest;

/// The file of a record, found by its name in the folder of its key.
pub(super) struct RecordFile {
    /// The number of the record among those of its key, counted from 1.
    pub number: u32,
    /// The digest of the file's bytes.
    pub digest: Digest,
    /// Where the file is.
    pub path: PathBuf,
    /// Why content that the record names may be missing; nothing if it must be there.
    pub dropped: Option<EvictionReason>,
}

impl RecordFile {
    /// Returns the file name of record `number` with these bytes.
    pub fn name(number: u32, bytes: &[u8]) -> String {
        RecordFile::name_of(number, &Digest::of(bytes))
    }

    /// Returns the file name of record `number` whose bytes have this digest.
    pub fn name_of(number: u32, digest: &Digest) -> String {
        format!("{number:04}-{digest}.json")
    }
}
