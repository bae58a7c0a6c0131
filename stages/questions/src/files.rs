//! Files from outside, plain or compressed.

use std::io::{BufReader, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use cwm_chess::pgn::{Meter, PgnSource};
use cwm_contract::Failure;

/// The text of a file, and how much of the file was read.
pub struct Text {
    /// The text.
    pub reader: BufReader<PgnSource>,
    /// Counts the bytes that were read of the file.
    pub meter: Arc<Meter>,
    /// Bytes of the file, if it is known.
    pub size: Option<u64>,
}

impl Text {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is compressed otherwise than with zstd, gzip or bzip2.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let meter = Arc::new(Meter::default());
        let size = path.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
        let source = PgnSource::open(path, &meter).map_err(|error| match error.kind() {
            ErrorKind::Unsupported => Failure::input(format!("cannot read {}: it is compressed", path.display()))
                .hint("files are read plain, or compressed with zstd, gzip or bzip2"),
            _ => Failure::io("read", path, error),
        })?;
        Ok(Text { reader: BufReader::with_capacity(1 << 17, source), meter, size })
    }
}
