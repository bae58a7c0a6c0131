//! A partly downloaded file, kept so that an interrupted download resumes.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use cwm_contract::{Context, Failure, FetchRequest, write_atomically};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::checksum::Checksum;
use crate::run::DownloadPaths;

/// Version of [`PartialFileStamp`]; with another one the fetch begins at the first byte.
const VERSION: u32 = 2;

/// The file to which the bytes belong, and how many of them are safe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PartialFileStamp {
    version: u32,
    fetch: FetchRequest,
    /// The server's name for these bytes: a strong `ETag`, else a strong `Last-Modified`. Without one only a sum shows
    /// whether further bytes belong to them.
    validator: Option<String>,
    /// Length of the whole file at the server, if known.
    total: Option<u64>,
    /// Number of bytes that were on the disk when this was written; bytes beyond may not survive a loss of power, and are
    /// thrown away.
    safe: u64,
    /// Answers that the bytes came in.
    pieces: u32,
}

impl PartialFileStamp {
    /// Returns true if every byte that is wanted is safe.
    fn is_complete(&self) -> bool {
        self.total == Some(self.safe) || self.fetch.first_bytes == Some(self.safe)
    }
}

/// The file as far as it has arrived.
pub struct PartialFile {
    path: PathBuf,
    stamp_path: PathBuf,
    file: File,
    stamp: PartialFileStamp,
    length: u64,
    hasher: Sha256,
    checkpoint: u64,
}

impl PartialFile {
    /// Opens the partial file of `fetch` at `place`; it is empty if it belongs to something else or cannot be resumed.
    /// `is_summed` is whether the sum of the whole is known; without it the last byte of a whole file is left out.
    /// Bytes are made safe after each `checkpoint` of them.
    ///
    /// # Errors
    /// The place cannot be read or written.
    pub fn open(
        context: &Context,
        place: &DownloadPaths,
        fetch: &FetchRequest,
        is_summed: bool,
        checkpoint: u64,
    ) -> Result<Self, Failure> {
        let path = place.file.clone();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(|error| Failure::io("open", &path, error))?;
        let stamp = PartialFileStamp {
            version: VERSION,
            fetch: fetch.clone(),
            validator: None,
            total: None,
            safe: 0,
            pieces: 0,
        };
        let stamp_path = place.stamp.clone();
        let mut partial = PartialFile { path, stamp_path, file, stamp, length: 0, hasher: Sha256::new(), checkpoint };
        match partial.valid_stamp(is_summed)? {
            Some(stamp) => {
                context.activity("looking at what has arrived before");
                partial.stamp = stamp;
                if !is_summed && partial.stamp.is_complete() {
                    partial.drop_last_byte()?;
                }
                partial.rehash(context)?;
                if partial.length > 0 && !partial.is_complete() {
                    context.note(format!("{}: going on after {} bytes", fetch.url, partial.length));
                }
            }
            None => partial.reset()?,
        }
        Ok(partial)
    }

    /// The stamp that lies there, if it is for this and its bytes are there.
    fn valid_stamp(&self, is_summed: bool) -> Result<Option<PartialFileStamp>, Failure> {
        let text = match std::fs::read(&self.stamp_path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::io("read", &self.stamp_path, error)),
        };
        let length = self.file.metadata().map_err(|error| self.io_failure("read", error))?.len();
        Ok(serde_json::from_slice(&text).ok().filter(|stamp: &PartialFileStamp| {
            stamp.version == VERSION
                && stamp.fetch == self.stamp.fetch
                && (stamp.validator.is_some() || is_summed)
                && stamp.safe <= length
        }))
    }

    /// Gives up the last byte of a whole file, so that it is requested from the server: without a sum only the server
    /// shows whether a file that came at another time is still the one that it has. The stamp is written first: if the
    /// process is killed after it, the file still has at least the bytes that the stamp counts.
    fn drop_last_byte(&mut self) -> Result<(), Failure> {
        self.stamp.safe = self.stamp.safe.saturating_sub(1);
        self.write_stamp()
    }

    /// Sums up the safe bytes and stands behind the last of them.
    fn rehash(&mut self, context: &Context) -> Result<(), Failure> {
        let mut piece = vec![0; 1 << 20];
        while self.length < self.stamp.safe {
            context.check_cancelled()?;
            let wanted = piece.len().min((self.stamp.safe - self.length) as usize);
            self.file.read_exact(&mut piece[..wanted]).map_err(|error| self.io_failure("read", error))?;
            self.hasher.update(&piece[..wanted]);
            self.length += wanted as u64;
            context.progress(self.length, self.stamp.total, "bytes");
        }
        self.file.set_len(self.length).map_err(|error| self.io_failure("cut", error))
    }

    fn io_failure(&self, what: &str, error: std::io::Error) -> Failure {
        Failure::io(what, &self.path, error)
    }

    /// Returns the number of bytes that have arrived.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Length of the whole file at the server, if known.
    pub fn total(&self) -> Option<u64> {
        self.stamp.total
    }

    /// Returns the number of bytes that are wanted, if known.
    pub fn expected_length(&self) -> Option<u64> {
        match (self.stamp.total, self.stamp.fetch.first_bytes) {
            (Some(total), Some(first)) => Some(total.min(first)),
            (total, first) => total.or(first),
        }
    }

    /// Returns true if every byte that is wanted has arrived.
    pub fn is_complete(&self) -> bool {
        self.stamp.total == Some(self.length) || self.stamp.fetch.first_bytes == Some(self.length)
    }

    /// Returns true if it came in several answers.
    pub fn is_in_pieces(&self) -> bool {
        self.stamp.pieces > 1
    }

    /// The server's name for the bytes, if there are any.
    pub fn validator(&self) -> Option<&str> {
        self.stamp.validator.as_deref().filter(|_| self.length > 0)
    }

    /// Throws away what has arrived.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn reset(&mut self) -> Result<(), Failure> {
        self.begin(None, None)
    }

    /// Throws away what has arrived, for the beginning of a file of `total` bytes that the server calls `validator`.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn begin(&mut self, validator: Option<String>, total: Option<u64>) -> Result<(), Failure> {
        self.file
            .set_len(0)
            .and_then(|()| self.file.seek(SeekFrom::Start(0)))
            .map_err(|error| self.io_failure("cut", error))?;
        self.length = 0;
        self.hasher = Sha256::new();
        self.stamp = PartialFileStamp { validator, total, safe: 0, pieces: 1, ..self.stamp.clone() };
        self.write_stamp()
    }

    /// Continues with another response, for a file of `total` bytes.
    pub fn resume(&mut self, total: Option<u64>) {
        self.stamp.pieces += 1;
        self.stamp.total = self.stamp.total.or(total);
    }

    /// Notes that the whole file has `total` bytes.
    pub fn set_total(&mut self, total: u64) {
        self.stamp.total = Some(total);
    }

    /// Adds the next bytes, as far as they are wanted.
    ///
    /// # Errors
    /// An operation on the disk fails: it may be full.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let wanted = self.stamp.fetch.first_bytes.map_or(u64::MAX, |first| first.saturating_sub(self.length));
        let bytes = &bytes[..bytes.len().min(usize::try_from(wanted).unwrap_or(usize::MAX))];
        self.file.write_all(bytes).map_err(|error| self.io_failure("write", error))?;
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        if self.length - self.stamp.safe >= self.checkpoint { self.save() } else { Ok(()) }
    }

    /// Makes what has arrived safe against the loss of power.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn save(&mut self) -> Result<(), Failure> {
        self.file.sync_data().map_err(|error| self.io_failure("save", error))?;
        self.stamp.safe = self.length;
        self.write_stamp()
    }

    /// Writes the stamp in one step, so that there is always a whole one.
    fn write_stamp(&self) -> Result<(), Failure> {
        let (path, temporary) = (&self.stamp_path, self.stamp_path.with_extension("new"));
        let text = serde_json::to_vec(&self.stamp).map_err(|error| Failure::internal(error.to_string()))?;
        write_atomically(path, &temporary, |file| file.write_all(&text))
            .map_err(|error| Failure::io("write", path, error))
    }

    /// The sum of what has arrived.
    pub fn checksum(&self) -> Checksum {
        Checksum::of(self.hasher.clone())
    }

    /// Makes the whole file safe; it stays where it is.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.save()
    }
}
