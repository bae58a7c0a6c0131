//! Files that spare work from run to run: a line that names the format, the BLAKE3 of the rest, and the rest.
//!
//! The loss of such a file costs only time: one that is damaged or of another format is ignored, and written anew.

use std::path::Path;

use cwm_core::{Digest, DurableFs, read_regular_file};

/// Reads the cache at `path`; nothing if it is not a whole cache of this format.
pub(crate) fn read(path: &Path, format: &str) -> Option<Vec<u8>> {
    let mut bytes = read_regular_file(path).ok()?;
    let (digest, content) = bytes.strip_prefix(format.as_bytes())?.split_first_chunk::<32>()?;
    let is_whole = Digest::of(content).0 == *digest;
    bytes.drain(..bytes.len() - content.len());
    is_whole.then_some(bytes)
}

/// Writes the cache at `path`; true if it was written. A failure is ignored.
pub(crate) fn write(path: &Path, format: &str, content: &[u8]) -> bool {
    let bytes = [format.as_bytes(), &Digest::of(content).0, content].concat();
    DurableFs::default().replace(path, &bytes, false).is_ok()
}
