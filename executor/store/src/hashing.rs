//! Hashing and reading files of our own.

use std::io::ErrorKind;
use std::path::Path;

use cwm_core::files::Result;
use cwm_core::{Digest, FileError, read_regular_file};

/// Hashes a file that no other process writes: mapped into memory, on all cores of the current rayon pool.
///
/// Not for external files: one that is cut short while it is mapped would kill the process
/// ([`crate::external_files`] reads those).
///
/// # Errors
/// The file cannot be read.
pub fn hash_own_file(path: &Path) -> Result<Digest> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_mmap_rayon(path).map_err(FileError::io("read", path))?;
    Ok(Digest(*hasher.finalize().as_bytes()))
}

/// Reads a file of our own, which is damaged if it is no plain file.
///
/// # Errors
/// It is damaged, or cannot be read.
pub fn read_own_file(path: &Path) -> Result<Vec<u8>> {
    read_regular_file(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => FileError::damaged(path, error.to_string()),
        _ => FileError::io("read", path)(error),
    })
}
