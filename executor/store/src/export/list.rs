//! The file `.cwm-export`: what exports put into a folder, and whether that is still what they put there.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use cwm_core::Digest;
pub(super) use cwm_core::files::EXPORT_LIST as LIST;
use cwm_core::files::Result;
use cwm_core::files::durable::Temporary;
use cwm_core::{FileError, read_regular_file};

/// Version of its format.
const LIST_FORMAT: u32 = 1;

pub(super) const OUT_OF_THE_WAY: &str =
    "move it away, or export to another place; cwm replaces only what it exported itself";

/// What people find who open the file.
const NOTE: &str = "`cwm export` made these files; the next export overwrites what is changed in them";

/// What `.cwm-export` holds: JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct List {
    #[serde(default)]
    note: String,
    cwm_export: u32,
    /// Whether the folder as a whole is one export; else each file is one.
    pub whole: bool,
    /// By name in the folder.
    pub files: BTreeMap<String, Copied>,
}

impl List {
    /// A list of no files.
    pub fn new(whole: bool) -> Self {
        List { note: NOTE.to_owned(), cwm_export: LIST_FORMAT, whole, files: BTreeMap::new() }
    }

    /// Whether these files, by name, content and mode, are what was exported into `folder`, and stand there as they were
    /// copied.
    pub fn stands(&self, folder: &Path, files: impl ExactSizeIterator<Item = (String, Digest, bool)>) -> bool {
        self.files.len() == files.len()
            && files.into_iter().all(|(name, digest, executable)| {
                self.files.get(&name).is_some_and(|copied| {
                    (copied.digest, copied.executable) == (digest, executable) && copied.stands(&folder.join(&name))
                })
            })
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

impl Copied {
    /// Whether the file at `path` was not written since.
    pub fn stands(&self, path: &Path) -> bool {
        let found = fs::symlink_metadata(path);
        found.is_ok_and(|found| found.is_file() && (found.len(), mtime(&found)) == (self.size, self.mtime_ns))
    }
}

pub(super) fn write_list(aside: &Temporary<'_>, exported: &List) -> Result<()> {
    let path = aside.path().join(LIST);
    let text = serde_json::to_string_pretty(exported).map_err(|error| FileError::io("write", &path)(error.into()))?;
    fs::write(&path, text + "\n").map_err(FileError::io("write", &path))
}

/// What was exported; nothing if there is no list.
pub(super) fn read_list(path: &Path) -> Result<List> {
    let bytes = match read_regular_file(path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(List::new(false));
        }
        Err(error) => return Err(FileError::io("read", path)(error)),
    };
    let list: List = serde_json::from_slice(&bytes).map_err(|error| {
        FileError::refused(path, format!("is not a list of exported files: {error}"), OUT_OF_THE_WAY)
    })?;
    if list.cwm_export > LIST_FORMAT {
        return Err(FileError::TooNew {
            path: path.to_owned(),
            what: "the list of exported files",
            found: list.cwm_export.into(),
            known: LIST_FORMAT,
        });
    }
    Ok(list)
}

pub(super) fn mtime(metadata: &fs::Metadata) -> i64 {
    metadata.mtime().wrapping_mul(1_000_000_000).wrapping_add(metadata.mtime_nsec())
}
