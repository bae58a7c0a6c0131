//! The bytes of a pickle, counted.

use std::io::{BufRead, ErrorKind, Read};

use super::{MAX_NAME_BYTES, MAX_PICKLE_BYTES, PickleError};

/// A reader of pickles that tracks its place; it reads no further than requested.
#[derive(Debug)]
pub struct Input<R> {
    bytes: R,
    read: u64,
}

impl<R: BufRead> Input<R> {
    /// Reads from the first byte of `bytes`.
    pub fn new(bytes: R) -> Self {
        Input { bytes, read: 0 }
    }

    /// Bytes read so far.
    pub fn position(&self) -> u64 {
        self.read
    }

    /// Returns the input at the place where reading stopped.
    pub fn into_inner(self) -> R {
        self.bytes
    }

    /// A fault at the byte that was read last.
    pub(super) fn fault(&self, what: impl Into<String>) -> PickleError {
        PickleError { at: self.read, what: what.into() }
    }

    pub(super) fn byte(&mut self) -> Result<u8, PickleError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], PickleError> {
        let mut bytes = [0; N];
        self.bytes.read_exact(&mut bytes).map_err(|error| self.unread(&error))?;
        self.count(N as u64)?;
        Ok(bytes)
    }

    /// Reads so many bytes. Memory is allocated as they come, whatever length the file declares.
    pub(super) fn bytes(&mut self, length: u64) -> Result<Vec<u8>, PickleError> {
        self.count(length)?;
        let mut bytes = Vec::new();
        let read = self.bytes.by_ref().take(length).read_to_end(&mut bytes).map_err(|error| self.unread(&error))?;
        if read as u64 == length { Ok(bytes) } else { Err(self.cut_off()) }
    }

    pub(super) fn text(&mut self, length: u64) -> Result<Box<str>, PickleError> {
        // Python lets lone surrogates through, which no name has.
        Ok(String::from_utf8_lossy(&self.bytes(length)?).into())
    }

    /// The text before the next line end, which is passed over.
    pub(super) fn line(&mut self) -> Result<Box<str>, PickleError> {
        let mut line = Vec::new();
        loop {
            match self.byte()? {
                b'\n' => return Ok(String::from_utf8_lossy(&line).into()),
                _ if line.len() == MAX_NAME_BYTES => return Err(self.fault("a name is too long")),
                byte => line.push(byte),
            }
        }
    }

    fn count(&mut self, length: u64) -> Result<(), PickleError> {
        self.read = self.read.saturating_add(length);
        if self.read > MAX_PICKLE_BYTES {
            Err(self.fault(format!("it is longer than {MAX_PICKLE_BYTES} bytes")))
        } else {
            Ok(())
        }
    }

    fn unread(&self, error: &std::io::Error) -> PickleError {
        match error.kind() {
            ErrorKind::UnexpectedEof => self.cut_off(),
            _ => self.fault(format!("it cannot be read ({error})")),
        }
    }

    fn cut_off(&self) -> PickleError {
        self.fault("the file ends within it")
    }
}
