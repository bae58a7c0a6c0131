//! The file `.cwm-export`: what exports put into a folder, and whether that is still what they put there.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::hashing::hash_own_file;
use cwm_core::digest::Digest;
pub(super) use cwm_core::files::EXPORT_LIST as LIST;
use cwm_core::files::durable::Temporary;
use cwm_core::files::read_plain;
use cwm_core::files::{Result, StoreError};

/// Version of its format.
const LIST_FORMAT: u32 = 1;

pub(super) const OUT_OF_THE_WAY: &str =
    "move it away, or export to another place; cwm replaces only what it exported itself";

/// What `.cwm-export` holds: JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct List {
    pub cwm_export: u32,
    /// Whether the folder as a whole is one export; else each file is one.
    pub whole: bool,
    /// By name in the folder.
    pub files: BTreeMap<String, Copied>,
    /// What stood there when a file was last replaced, and does so still where we ended in the middle.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub before: BTreeMap<String, Copied>,
}

impl Default for List {
    fn default() -> Self {
        List { cwm_export: LIST_FORMAT, whole: false, files: BTreeMap::new(), before: BTreeMap::new() }
    }
}

/// One copy, as it was when it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Copied {
    pub digest: Digest,
    pub size: u64,
    pub mtime_ns: i64,
    pub executable: bool,
}

pub(super) fn write_list(aside: &Temporary<'_>, exported: &List) -> Result<()> {
    let path = aside.path().join(LIST);
    let text = serde_json::to_string_pretty(exported).map_err(|error| StoreError::io("write", &path)(error.into()))?;
    fs::write(&path, text + "\n").map_err(StoreError::io("write", &path))
}

/// What was exported; nothing if there is no list.
pub(super) fn read_list(path: &Path) -> Result<List> {
    let bytes = match read_plain(path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(List::default());
        }
        Err(error) => return Err(StoreError::io("read", path)(error)),
    };
    let list: List = serde_json::from_slice(&bytes).map_err(|error| {
        StoreError::refused(path, format!("is not a list of exported files: {error}"), OUT_OF_THE_WAY)
    })?;
    if list.cwm_export > LIST_FORMAT {
        return Err(StoreError::TooNew {
            path: path.to_owned(),
            what: "the list of exported files",
            found: list.cwm_export.into(),
            known: LIST_FORMAT,
        });
    }
    Ok(list)
}

/// How a file compares with the copy that an export made.
pub(super) enum There {
    AsCopied,
    /// With the digest that it has now, if it is a plain file.
    Changed(Option<Digest>),
}

pub(super) fn look_at_copy(path: &Path, known: Option<&Copied>) -> Result<There> {
    let metadata = fs::symlink_metadata(path).map_err(StoreError::io("look at", path))?;
    if !metadata.is_file() {
        return Ok(There::Changed(None));
    }
    if known.is_some_and(|known| known.size == metadata.len() && known.mtime_ns == mtime(&metadata)) {
        return Ok(There::AsCopied);
    }
    let digest = hash_own_file(path)?;
    match known {
        Some(known) if known.digest == digest => Ok(There::AsCopied),
        _ => Ok(There::Changed(Some(digest))),
    }
}

pub(super) fn mtime(metadata: &fs::Metadata) -> i64 {
    metadata.mtime().wrapping_mul(1_000_000_000).wrapping_add(metadata.mtime_nsec())
}
