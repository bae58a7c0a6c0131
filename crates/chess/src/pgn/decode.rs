//! Decompressors whose errors say what they were reading and how far they came.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::source::{Meter, Part};

/// How far a file, or a part of it, was read.
#[derive(Clone)]
pub struct Position {
    at: Arc<AtomicU64>,
    meter: Arc<Meter>,
}

impl Position {
    /// A position that begins at byte `start` of the file.
    pub fn new(start: u64, meter: Arc<Meter>) -> Self {
        Position { at: Arc::new(AtomicU64::new(start)), meter }
    }

    /// The same bytes, counted.
    pub fn count<R>(&self, inner: R) -> Counted<R> {
        Counted { inner, position: self.clone() }
    }
}

/// Counts what is read.
pub struct Counted<R> {
    inner: R,
    position: Position,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.position.at.fetch_add(read as u64, Ordering::Relaxed);
        self.position.meter.consume(read);
        Ok(read)
    }
}

/// A decompressor.
pub struct Decoded {
    inner: Part,
    kind: &'static str,
    /// What its data consist of.
    unit: &'static str,
    position: Position,
}

impl Decoded {
    /// zstd frames, one after another.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn zstd(bytes: impl Read + Send + 'static, position: Position) -> io::Result<Self> {
        let decoder = zstd::stream::read::Decoder::with_buffer(BufReader::with_capacity(1 << 17, bytes))?;
        Ok(Decoded { inner: Box::new(decoder), kind: "zstd", unit: "frame", position })
    }

    /// Members of gzip or streams of bzip2.
    pub fn members<R: BufRead + Send + 'static>(members: Members<R>, position: Position) -> Self {
        let (kind, unit) = (members.packing.name(), members.packing.unit());
        Decoded { inner: Box::new(members), kind, unit, position }
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let Decoded { kind, unit, .. } = *self;
            let bytes = self.position.at.load(Ordering::Relaxed);
            // What zstd says of a frame whose window is above 128 MiB.
            let too_large = kind == "zstd" && error.to_string().contains("too much memory");
            let (error_kind, message) = match error.kind() {
                io::ErrorKind::Interrupted => return error,
                io::ErrorKind::UnexpectedEof => (
                    io::ErrorKind::UnexpectedEof,
                    format!("the file is cut: its {kind} data end in the middle of a {unit}, after {bytes} bytes"),
                ),
                _ if too_large => (
                    io::ErrorKind::Unsupported,
                    "its zstd data need a window of more than 128 MiB (as `zstd --long` makes)".to_owned(),
                ),
                _ => (
                    io::ErrorKind::InvalidData,
                    format!("its {kind} data are damaged within the first {bytes} bytes: {error}"),
                ),
            };
            io::Error::new(error_kind, message)
        })
    }
}

/// What packs a file in members that may follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// gzip, in members.
    Gzip,
    /// bzip2, in streams.
    Bzip2,
}

impl Packing {
    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Bzip2 => "bzip2",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Packing::Gzip => "member",
            Packing::Bzip2 => "stream",
        }
    }

    fn magic(self) -> &'static [u8] {
        match self {
            Packing::Gzip => b"\x1f\x8b",
            Packing::Bzip2 => b"BZh",
        }
    }

    fn decoder<R: BufRead>(self, bytes: Ahead<R>) -> Member<R> {
        match self {
            Packing::Gzip => Member::Gzip(flate2::bufread::GzDecoder::new(bytes)),
            Packing::Bzip2 => Member::Bzip2(bzip2::bufread::BzDecoder::new(bytes)),
        }
    }
}

/// The members of a gzip or bzip2 file, one after another. Zeros after the last are padding; other bytes there are
/// passed over and noted in the meter, as gzip and bzip2 warn of them and go on.
pub struct Members<R> {
    packing: Packing,
    member: Option<Member<R>>,
    path: PathBuf,
    meter: Arc<Meter>,
}

enum Member<R> {
    Gzip(flate2::bufread::GzDecoder<Ahead<R>>),
    Bzip2(bzip2::bufread::BzDecoder<Ahead<R>>),
}

impl<R: BufRead> Members<R> {
    /// The members of `bytes`, which are the file `path`'s.
    pub fn new(packing: Packing, bytes: R, path: &Path, meter: Arc<Meter>) -> Self {
        let member = Some(packing.decoder(Ahead { seen: Vec::new(), inner: bytes }));
        Members { packing, member, path: path.to_owned(), meter }
    }

    /// Goes to the next member, if there is one.
    fn go_on(&mut self) -> io::Result<()> {
        let mut bytes = match self.member.take() {
            Some(Member::Gzip(decoder)) => decoder.into_inner(),
            Some(Member::Bzip2(decoder)) => decoder.into_inner(),
            None => return Ok(()),
        };
        let magic = self.packing.magic();
        let mut seen = Vec::new();
        Read::by_ref(&mut bytes).take(magic.len() as u64).read_to_end(&mut seen)?;
        if seen == magic {
            bytes.seen = seen;
            self.member = Some(self.packing.decoder(bytes));
            return Ok(());
        }
        let mut ignored = seen.len() as u64;
        let mut padding = seen.iter().all(|&byte| byte == 0);
        loop {
            let rest = bytes.fill_buf()?;
            if rest.is_empty() {
                break;
            }
            padding &= rest.iter().all(|&byte| byte == 0);
            ignored += rest.len() as u64;
            let length = rest.len();
            bytes.consume(length);
        }
        if !padding {
            let (path, name) = (self.path.display(), self.packing.name());
            self.meter.ignore(format!("{path}: ignored {ignored} bytes after the end of its {name} data"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = match &mut self.member {
                Some(Member::Gzip(decoder)) => decoder.read(buffer)?,
                Some(Member::Bzip2(decoder)) => decoder.read(buffer)?,
                None => return Ok(0),
            };
            if read > 0 {
                return Ok(read);
            }
            self.go_on()?;
        }
    }
}

/// Bytes of which the first few have been looked at.
struct Ahead<R> {
    seen: Vec<u8>,
    inner: R,
}

impl<R: BufRead> Read for Ahead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Ahead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.seen.is_empty() { self.inner.fill_buf() } else { Ok(&self.seen) }
    }

    fn consume(&mut self, bytes: usize) {
        if self.seen.is_empty() {
            self.inner.consume(bytes);
        } else {
            self.seen.drain(..bytes.min(self.seen.len()));
        }
    }
}
