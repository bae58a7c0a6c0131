//! The bytes of a PGN file, decompressed.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The text of a PGN file as a stream. What the file is compressed with is told from its first bytes, not from its name.
pub struct PgnSource {
    text: Box<dyn Read + Send>,
    size: u64,
    consumed: Arc<AtomicU64>,
}

/// How a file is compressed. A new kind is added here and in [`PgnSource::open`].
enum Compression {
    None,
    Zstd,
    /// A kind that is recognised and not read, by name.
    Unread(&'static str),
}

impl Compression {
    fn of(start: &[u8]) -> Self {
        match start {
            // A zstd frame, or one of the skippable frames that may come before it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [0x1f, 0x8b, ..] => Compression::Unread("gzip"),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Compression::Unread("bzip2"),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Compression::Unread("xz"),
            [b'P', b'K', 3, 4, ..] => Compression::Unread("zip"),
            _ => Compression::None,
        }
    }
}

impl PgnSource {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be opened, or is compressed in a way that is not read here.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(8).read_to_end(&mut start)?;
        let consumed = Arc::new(AtomicU64::new(0));
        let compression = Compression::of(&start);
        let bytes = Counted { inner: Cursor::new(start).chain(file), consumed: consumed.clone() };
        let text: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(bytes),
            Compression::Zstd => {
                let buffered = BufReader::with_capacity(1 << 17, bytes);
                let decoder = zstd::stream::read::Decoder::with_buffer(buffered)?;
                Box::new(Decoded { inner: decoder, kind: "zstd", consumed: consumed.clone() })
            }
            Compression::Unread(kind) => {
                let message = format!("it is compressed with {kind}; only plain and zstd-compressed PGN are read");
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
        };
        Ok(PgnSource { text, size, consumed })
    }

    /// Bytes of the file, compressed as it is.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// A counter of the file's bytes that have been read so far, for telling progress from elsewhere.
    pub fn consumed(&self) -> Arc<AtomicU64> {
        self.consumed.clone()
    }
}

impl Read for PgnSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.text.read(buffer)
    }
}

struct Counted<R> {
    inner: R,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.consumed.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A decompressor whose errors say what it was reading and how far it came.
struct Decoded<R> {
    inner: R,
    kind: &'static str,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let (kind, bytes) = (self.kind, self.consumed.load(Ordering::Relaxed));
            let message = match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    format!("the file is cut: its {kind} data end in the middle of a frame, after {bytes} bytes")
                }
                _ => format!("its {kind} data are damaged within the first {bytes} bytes: {error}"),
            };
            io::Error::new(error.kind(), message)
        })
    }
}
