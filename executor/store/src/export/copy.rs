//! One copy of an export.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::list::{Copied, mtime};
use crate::hashing::hash_own_file;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError};

/// What a copy is to be.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub digest: Digest,
    pub executable: bool,
}

/// Where the content of a copy comes from.
pub(super) enum Source<'a> {
    /// A file of the store, or from outside.
    Object(PathBuf),
    /// What stands in no store.
    Bytes(&'a [u8]),
}

/// Makes a copy, and sees that it is what it should be.
pub(super) fn copy_file(source: &Source, copy: &Path, wanted: Wanted) -> Result<Copied> {
    let from = match source {
        Source::Object(path) => {
            fs::copy(path, copy).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    FileError::Missing { path: path.clone(), what: "is not in the store".to_owned() }
                }
                _ => FileError::io("copy to", copy)(error),
            })?;
            path
        }
        Source::Bytes(bytes) => {
            fs::write(copy, bytes).map_err(FileError::io("write", copy))?;
            copy
        }
    };
    // The copy, since that is what people get; the bytes are still in memory.
    let found = hash_own_file(copy)?;
    if found != wanted.digest {
        return Err(FileError::damaged(
            from,
            format!("its content has the digest {found}, not {}; nothing was exported", wanted.digest),
        ));
    }
    let mode = if wanted.executable { 0o755 } else { 0o644 };
    fs::set_permissions(copy, Permissions::from_mode(mode)).map_err(FileError::io("make writable", copy))?;
    let metadata = fs::symlink_metadata(copy).map_err(FileError::io("look at", copy))?;
    Ok(Copied {
        digest: wanted.digest,
        size: metadata.len(),
        mtime_ns: mtime(&metadata),
        executable: wanted.executable,
    })
}
