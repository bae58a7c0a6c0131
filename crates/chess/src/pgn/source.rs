//! The bytes of a PGN file, decompressed.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::decode::{DecodingReader, MemberFormat, MemberReader, StreamOffset};
use super::frames::FrameGroups;

/// The text of a PGN file as a stream. What the file is compressed with is known by its first bytes, not from its name.
pub struct PgnSource {
    readers: PgnReaders,
    current: Option<PgnReader>,
}

/// A piece of the text that can be decompressed without those before it.
pub type PgnReader = Box<dyn Read + Send>;

/// Counts what was read of some files, so that another thread can report it.
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

    /// Returns one sentence for each file whose end was skipped.
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

/// The compression of a file. A new kind is added here and in [`PgnSource::open`].
enum Compression {
    None,
    Zstd,
    Members(MemberFormat),
    /// A kind that is recognised and not read, by name.
    Unsupported(&'static str),
}

impl Compression {
    fn detect(start: &[u8]) -> Self {
        match start {
            // A zstd frame, or one of the skippable frames that may come before it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [0x1f, 0x8b, ..] => Compression::Members(MemberFormat::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Compression::Members(MemberFormat::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Compression::Unsupported("xz"),
            [b'P', b'K', 3 | 5 | 7, ..] => Compression::Unsupported("zip"),
            [b'7', b'z', 0xbc, 0xaf, ..] => Compression::Unsupported("7-Zip"),
            _ => Compression::None,
        }
    }
}

/// The pieces of one file in their order.
pub struct PgnReaders(Kind);

enum Kind {
    /// One piece, until it is taken.
    One(Option<PgnReader>),
    /// Groups of zstd frames.
    Frames(FrameGroups),
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
        let compression = Compression::detect(&start);
        if let (Compression::Zstd, true) = (&compression, metadata.is_file()) {
            let frames = FrameGroups::new(file, metadata.len(), meter.clone());
            return Ok(PgnSource { readers: PgnReaders(Kind::Frames(frames)), current: None });
        }
        let offset = StreamOffset::new(0, meter.clone());
        let bytes = offset.count(Cursor::new(start).chain(file));
        let reader: PgnReader = match compression {
            Compression::None => Box::new(bytes),
            Compression::Zstd => Box::new(DecodingReader::zstd(bytes, offset)?),
            Compression::Members(format) => {
                let buffered = BufReader::with_capacity(1 << 17, bytes);
                Box::new(DecodingReader::members(MemberReader::new(format, buffered, path, meter.clone()), offset))
            }
            Compression::Unsupported(kind) => {
                let message =
                    format!("it is compressed with {kind}; PGN is read plain or compressed with zstd, gzip or bzip2");
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
        };
        Ok(PgnSource { readers: PgnReaders(Kind::One(Some(reader))), current: None })
    }

    /// The pieces of which the text is put together, to be decompressed side by side.
    pub fn into_readers(self) -> PgnReaders {
        self.readers
    }
}

impl Iterator for PgnReaders {
    type Item = io::Result<PgnReader>;

    fn next(&mut self) -> Option<io::Result<PgnReader>> {
        match &mut self.0 {
            Kind::One(reader) => reader.take().map(Ok),
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
            if let Some(reader) = &mut self.current {
                let read = reader.read(buffer)?;
                if read > 0 {
                    return Ok(read);
                }
            }
            self.current = match self.readers.next() {
                Some(reader) => Some(reader?),
                None => return Ok(0),
            };
        }
    }
}
