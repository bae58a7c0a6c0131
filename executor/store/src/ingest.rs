//! Taking in what no stage made: bytes that come once, and are content from then on.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use super::Store;
use super::objects::shard_of;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError};

/// Bytes that were taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestedFile {
    /// Where they lie now, read-only.
    pub path: PathBuf,
    /// Their digest.
    pub digest: Digest,
    /// How many they are.
    pub size: u64,
}

impl Store {
    /// Takes in what `read` hands, piece by piece, to the function that it is given. Nothing stays if it fails. Until a
    /// record names the content it is garbage: hold the store's shared lock.
    ///
    /// # Errors
    /// `read` fails (`path` is what it reads, for the message), or the disk refuses.
    pub fn ingest(
        &self,
        path: &std::path::Path,
        read: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> Result<IngestedFile> {
        self.create()?;
        let (mut file, temporary) = self.disk.new_file(&self.layout.temporary())?;
        let mut hasher = blake3::Hasher::new();
        let mut size = 0u64;
        let mut written = Ok(());
        read(&mut |piece| {
            hasher.update(piece);
            size += piece.len() as u64;
            written = file.write_all(piece).map_err(FileError::io("write", temporary.path()));
            if written.is_ok() { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
        })
        .map_err(|error| written.err().unwrap_or_else(|| FileError::io("read", path)(error)))?;
        let digest = Digest(*hasher.finalize().as_bytes());
        let place = self.object_path(&digest);
        // Also for content that was there: the process that placed it may have been killed before this sync.
        let mut touched = BTreeSet::from([shard_of(&place).to_owned()]);
        if !self.has_intact(&digest, size)? {
            self.disk.sync_file(temporary.path())?;
            self.place_object(temporary.path(), &digest, &mut touched)?;
        }
        self.disk.sync_together(&[], &touched)?;
        Ok(IngestedFile { path: place, digest, size })
    }
}
