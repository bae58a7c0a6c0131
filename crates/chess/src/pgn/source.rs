//! The bytes of a PGN file, decompressed.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::decode::{Decoded, Members, Packing, Position};
use super::frames::Frames;

/// The text of a PGN file as a stream. What the file is compressed with is told from its first bytes, not from its name.
pub struct PgnSource {
    parts: Parts,
    current: Option<Part>,
}

/// A piece of the text that can be decompressed without those before it.
pub type Part = Box<dyn Read + Send>;

/// What was read of some files, for telling from elsewhere.
#[derive(Debug, Default)]
pub struct Meter {
    consumed: AtomicU64,
    ignored: Mutex<Vec<String>>,
}

impl Meter {
    /// Bytes of the files, compressed as they are, that have been read so far.
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// What was passed over at the ends of files, a sentence each.
    pub fn ignored(&self) -> Vec<String> {
        self.ignored.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn consume(&self, bytes: usize) {
        self.consumed.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn ignore(&self, what: String) {
        self.ignored.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }
}

/// How a file is compressed. A new kind is added here and in [`PgnSource::open`].
enum Compression {
    None,
    Zstd,
    Members(Packing),
    /// A kind that is recognised and not read, by name.
    Unread(&'static str),
}

impl Compression {
    fn of(start: &[u8]) -> Self {
        match start {
            // A zstd frame, or one of the skippable frames that may come before it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [0x1f, 0x8b, ..] => Compression::Members(Packing::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Compression::Members(Packing::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Compression::Unread("xz"),
            [b'P', b'K', 3 | 5 | 7, ..] => Compression::Unread("zip"),
            [b'7', b'z', 0xbc, 0xaf, ..] => Compression::Unread("7-Zip"),
            _ => Compression::None,
        }
    }
}

/// The pieces of one file in their order.
pub struct Parts(Kind);

enum Kind {
    /// One piece, until it is taken.
    One(Option<Part>),
    /// Groups of zstd frames.
    Frames(Frames),
}

impl PgnSource {
    /// Opens a file; what is read of it is added to `meter`.
    ///
    /// # Errors
    /// It cannot be opened, or is compressed in a way that is not read here.
    pub fn open(path: &Path, meter: &Arc<Meter>) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(8).read_to_end(&mut start)?;
        let compression = Compression::of(&start);
        if let (Compression::Zstd, true) = (&compression, metadata.is_file()) {
            let frames = Frames::new(file, metadata.len(), meter.clone());
            return Ok(PgnSource { parts: Parts(Kind::Frames(frames)), current: None });
        }
        let position = Position::new(0, meter.clone());
        let bytes = position.count(Cursor::new(start).chain(file));
        let part: Part = match compression {
            Compression::None => Box::new(bytes),
            Compression::Zstd => Box::new(Decoded::zstd(bytes, position)?),
            Compression::Members(packing) => {
                let buffered = BufReader::with_capacity(1 << 17, bytes);
                Box::new(Decoded::members(Members::new(packing, buffered, path, meter.clone()), position))
            }
            Compression::Unread(kind) => {
                let message =
                    format!("it is compressed with {kind}; PGN is read plain or compressed with zstd, gzip or bzip2");
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
        };
        Ok(PgnSource { parts: Parts(Kind::One(Some(part))), current: None })
    }

    /// The pieces of which the text is put together, to be decompressed side by side.
    pub fn into_parts(self) -> Parts {
        self.parts
    }
}

impl Iterator for Parts {
    type Item = io::Result<Part>;

    fn next(&mut self) -> Option<io::Result<Part>> {
        match &mut self.0 {
            Kind::One(part) => part.take().map(Ok),
            Kind::Frames(frames) => frames.next(),
        }
    }
}

impl Read for PgnSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(part) = &mut self.current {
                let read = part.read(buffer)?;
                if read > 0 {
                    return Ok(read);
                }
            }
            self.current = match self.parts.next() {
                Some(part) => Some(part?),
                None => return Ok(0),
            };
        }
    }
}
