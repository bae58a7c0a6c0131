//! Decompressors whose errors say what they were reading and how far they came.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::source::{Meter, PgnReader};

/// Counts the bytes that were read of a file, or of a part of it.
#[derive(Clone)]
pub struct StreamOffset {
    at: Arc<AtomicU64>,
    meter: Arc<Meter>,
}

impl StreamOffset {
    /// An offset that begins at byte `start` of the file.
    pub fn new(start: u64, meter: Arc<Meter>) -> Self {
        StreamOffset { at: Arc::new(AtomicU64::new(start)), meter }
    }

    /// Returns a reader of `inner` that counts its bytes.
    pub fn count<R>(&self, inner: R) -> CountingReader<R> {
        CountingReader { inner, offset: self.clone() }
    }
}

/// Counts what is read.
pub struct CountingReader<R> {
    inner: R,
    offset: StreamOffset,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.offset.at.fetch_add(read as u64, Ordering::Relaxed);
        self.offset.meter.consume(read);
        Ok(read)
    }
}

/// A decompressor.
pub struct DecodingReader {
    inner: PgnReader,
    kind: &'static str,
    /// The unit that the compressed data consist of.
    unit: &'static str,
    offset: StreamOffset,
}

impl DecodingReader {
    /// zstd frames, one after another.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn zstd(bytes: impl Read + Send + 'static, offset: StreamOffset) -> io::Result<Self> {
        let decoder = zstd::stream::read::Decoder::with_buffer(BufReader::with_capacity(1 << 17, bytes))?;
        Ok(DecodingReader { inner: Box::new(decoder), kind: "zstd", unit: "frame", offset })
    }

    /// Members of gzip or streams of bzip2.
    pub fn members<R: BufRead + Send + 'static>(members: MemberReader<R>, offset: StreamOffset) -> Self {
        let (kind, unit) = (members.format.name(), members.format.unit());
        DecodingReader { inner: Box::new(members), kind, unit, offset }
    }
}

impl Read for DecodingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let DecodingReader { kind, unit, .. } = *self;
            let bytes = self.offset.at.load(Ordering::Relaxed);
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

/// A compression format whose files are members that may follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberFormat {
    /// gzip, in members.
    Gzip,
    /// bzip2, in streams.
    Bzip2,
}

impl MemberFormat {
    fn name(self) -> &'static str {
        match self {
            MemberFormat::Gzip => "gzip",
            MemberFormat::Bzip2 => "bzip2",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            MemberFormat::Gzip => "member",
            MemberFormat::Bzip2 => "stream",
        }
    }

    fn magic(self) -> &'static [u8] {
        match self {
            MemberFormat::Gzip => b"\x1f\x8b",
            MemberFormat::Bzip2 => b"BZh",
        }
    }

    fn decoder<R: BufRead>(self, bytes: PeekedReader<R>) -> Member<R> {
        match self {
            MemberFormat::Gzip => Member::Gzip(Box::new(flate2::bufread::GzDecoder::new(bytes))),
            MemberFormat::Bzip2 => Member::Bzip2(Box::new(bzip2::bufread::BzDecoder::new(bytes))),
        }
    }
}

/// The members of a gzip or bzip2 file, one after another. Zeros after the last are padding; other bytes there are
/// passed over and noted in the meter, as gzip and bzip2 warn of them and go on.
pub struct MemberReader<R> {
    format: MemberFormat,
    member: Option<Member<R>>,
    path: PathBuf,
    meter: Arc<Meter>,
}

enum Member<R> {
    Gzip(Box<flate2::bufread::GzDecoder<PeekedReader<R>>>),
    Bzip2(Box<bzip2::bufread::BzDecoder<PeekedReader<R>>>),
}

impl<R: BufRead> MemberReader<R> {
    /// The members of `bytes`, which are the file `path`'s.
    pub fn new(format: MemberFormat, bytes: R, path: &Path, meter: Arc<Meter>) -> Self {
        let member = Some(format.decoder(PeekedReader { peeked: Vec::new(), inner: bytes }));
        MemberReader { format, member, path: path.to_owned(), meter }
    }

    /// Goes to the next member, if there is one.
    fn go_on(&mut self) -> io::Result<()> {
        let mut bytes = match self.member.take() {
            Some(Member::Gzip(decoder)) => decoder.into_inner(),
            Some(Member::Bzip2(decoder)) => decoder.into_inner(),
            None => return Ok(()),
        };
        let magic = self.format.magic();
        let mut peeked = Vec::new();
        Read::by_ref(&mut bytes).take(magic.len() as u64).read_to_end(&mut peeked)?;
        if peeked == magic {
            bytes.peeked = peeked;
            self.member = Some(self.format.decoder(bytes));
            return Ok(());
        }
        let mut ignored = peeked.len() as u64;
        let mut padding = peeked.iter().all(|&byte| byte == 0);
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
            let (path, name) = (self.path.display(), self.format.name());
            self.meter.ignore(format!("{path}: ignored {ignored} bytes after the end of its {name} data"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for MemberReader<R> {
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
struct PeekedReader<R> {
    peeked: Vec<u8>,
    inner: R,
}

impl<R: BufRead> Read for PeekedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for PeekedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.peeked.is_empty() { self.inner.fill_buf() } else { Ok(&self.peeked) }
    }

    fn consume(&mut self, bytes: usize) {
        if self.peeked.is_empty() {
            self.inner.consume(bytes);
        } else {
            self.peeked.drain(..bytes.min(self.peeked.len()));
        }
    }
}
