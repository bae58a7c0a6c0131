//! Reading files that somebody may have replaced by a pipe, a device or a folder.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The bytes of a plain file. Without this, a pipe would be waited for and a device read without end.
///
/// # Errors
/// It is something else ([`io::ErrorKind::InvalidData`]), or cannot be read.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a plain file"));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(1 << 20) as usize);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
