//! Hashing files of our own, and reading files in blocks.

use std::io::{ErrorKind, Read};
use std::path::Path;

use cwm_core::files::Result;
use cwm_core::{Digest, FileError, read_regular_file};

/// Hashes a file that no other process writes: mapped into memory, on all cores of the current rayon pool.
///
/// Not for files from outside: one that is cut short while it is mapped would kill the process
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

/// Bytes that are compared at a time.
const BLOCK: usize = 256 << 10;

/// Returns the number of bytes from the beginning that are equal, and of the line breaks among them.
pub(crate) fn common_prefix(one: &mut impl Read, other: &mut impl Read) -> std::io::Result<(u64, u64)> {
    let (mut bytes, mut breaks) = (0, 0);
    loop {
        let (mut ours, mut theirs) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
        one.take(BLOCK as u64).read_to_end(&mut ours)?;
        other.take(BLOCK as u64).read_to_end(&mut theirs)?;
        let equal = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
        bytes += equal as u64;
        breaks += ours[..equal].iter().filter(|byte| **byte == b'\n').count() as u64;
        if equal < BLOCK {
            return Ok((bytes, breaks));
        }
    }
}
