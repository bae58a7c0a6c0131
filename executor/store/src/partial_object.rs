//! Content on its way to its place: a file that an interruption leaves as it is, and that the next attempt resumes. A store has
//! them in `temporary/`, a remote that is a folder beside the place of the content.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::hashing::hash_own_file;
use super::locks::still_exists;
use cwm_core::Digest;
use cwm_core::files::{Result, TEMPORARY};

/// The number of times that a file may be replaced before it is locked.
const ATTEMPTS: u32 = 100;

/// Begins the names of partial objects, after that of all temporary files.
pub(super) const PART: &str = "part-";

/// Returns the file name of the partial object of this content. It begins as all temporary names do.
pub fn partial_name(digest: &Digest) -> String {
    format!("{TEMPORARY}{PART}{digest}")
}

/// A partial object that this process alone writes, as it holds the lock of the file.
pub struct PartialObject {
    /// The content that it is to become.
    pub digest: Digest,
    /// The file, with what an earlier attempt wrote.
    pub file: File,
    /// The path of the file.
    pub path: PathBuf,
}

impl PartialObject {
    /// Opens the partial object of this content at `path`, and creates it if there is none; nothing if another process writes it.
    /// Does not wait.
    ///
    /// # Errors
    /// An operation on the disk fails, files cannot be locked there, or it is no file of its own, such as a link.
    pub fn open(path: PathBuf, digest: &Digest) -> io::Result<Option<PartialObject>> {
        let refused = |problem: &str| Err(io::Error::other(problem));
        for _ in 0..ATTEMPTS {
            let (file, is_writable) = match open(&path, true) {
                Ok(file) => (file, true),
                // It is read-only just before it gets its name; or its process was killed then, or is that of another user.
                Err(denied) if denied.kind() == io::ErrorKind::PermissionDenied => match open(&path, false) {
                    Ok(file) => (file, false),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(_) => return Err(denied),
                },
                Err(_) if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) => {
                    return refused("it is not a plain file");
                }
                Err(error) => return Err(error),
            };
            let metadata = file.metadata()?;
            // A file with other names would be changed under these, too.
            if is_writable && (!metadata.is_file() || metadata.nlink() > 1) {
                return refused("it is not a file of its own");
            }
            match file.try_lock() {
                // The owner of the lock has placed or removed it meanwhile.
                Ok(()) if !still_exists(&path, &file) => {}
                Ok(()) if is_writable => return Ok(Some(PartialObject { digest: *digest, file, path })),
                Ok(()) => fs::remove_file(&path)?,
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => {
                    if is_writable && metadata.len() == 0 {
                        fs::remove_file(&path)?;
                    }
                    return Err(error);
                }
            }
        }
        refused("a file that was locked is not the one at its path")
    }

    /// Returns true if it has all of its content: all of it is read and hashed.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_complete(&self) -> Result<bool> {
        Ok(hash_own_file(&self.path)? == self.digest)
    }
}

/// Opens a file without following a link, and without waiting for the other end of a pipe.
fn open(path: &Path, writing: bool) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = File::options();
    options.read(true).write(writing).create(writing).truncate(false).custom_flags(flags.bits() as i32);
    options.open(path)
}
