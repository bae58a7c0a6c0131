//! Writes to a remote that is a folder. `object_store` does not sync the files that it writes there, so the store's own order is
//! used: a partial object, sync, rename, sync of the folder.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::error::RemoteError;
use cwm_core::{Digest, DurableFs, FileError};
use cwm_store::{OpenedPartial, PartialObject, partial_name};

/// The pause before another look at a partial object that another process writes.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Makes the remote's folder, if the one above is there: not a whole path, for a disk that is not mounted would be written
/// below its mount point.
///
/// # Errors
/// It cannot be made.
pub fn create(folder: &Path) -> Result<(), RemoteError> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(RemoteError::Unreachable(format!("there is no folder above {}; is it mounted?", folder.display())))
        }
        Err(error) => Err(failed("make", folder, &error)),
    }
}

/// The size of a plain file; nothing if it is not there.
///
/// # Errors
/// It is something else, or cannot be looked at.
pub fn size(file: &Path) -> Result<Option<u64>, RemoteError> {
    match fs::metadata(file) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
        Ok(_) => Err(RemoteError::Invalid(format!("{} is no plain file", file.display()))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(failed("look at", file, &error)),
    }
}

/// Writes a small file with one rename, durably.
///
/// # Errors
/// The disk refuses.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), RemoteError> {
    let wanted =
        WantedFile { digest: Digest::of(bytes), place: folder.join(name), stall_timeout: Duration::from_secs(1) };
    write(folder, &wanted, &mut Cursor::new(bytes))
}

/// Copies a file there with one rename, durably; resumes what an attempt that was killed left.
///
/// # Errors
/// The disk refuses.
pub fn copy(folder: &Path, name: &str, digest: Digest, from: &Path) -> Result<(), RemoteError> {
    let wanted = WantedFile { digest, place: folder.join(name), stall_timeout: Duration::from_secs(60) };
    let mut from =
        File::open(from).map_err(|error| RemoteError::Local(format!("cannot read {}: {error}", from.display())))?;
    write(folder, &wanted, &mut from)
}

/// A file to write, and how long another process that writes it may make no progress.
struct WantedFile {
    digest: Digest,
    place: PathBuf,
    stall_timeout: Duration,
}

/// Writes a partial object, syncs it, renames it into place and syncs the folder.
fn write(root: &Path, wanted: &WantedFile, from: &mut (impl Read + Seek)) -> Result<(), RemoteError> {
    let place = &wanted.place;
    create_parents(root, place)?;
    let disk = DurableFs::default();
    let folder = place.parent().unwrap_or(root);
    let refused = |error: io::Error| failed("write", place, &error);
    match wait_for_partial(folder, wanted).map_err(refused)? {
        Some(OpenedPartial::Ours(mut partial)) => {
            // Shares extents, or copies within the system, where it can.
            let copied = partial.resume_from(from).and_then(|()| io::copy(from, &mut partial.file));
            if let Err(error) = copied.and_then(|_| partial.file.sync_all()) {
                // A full disk gets its room back; and after a sync that failed nobody knows what is on it.
                let _ = disk.remove(partial.path());
                return Err(refused(error));
            }
            disk.rename(partial.path(), place).map_err(from_disk)?;
        }
        // The other process may not have synced the folder yet.
        None => {}
        Some(_) => {
            let (mut to, temporary) = disk.new_file(folder).map_err(from_disk)?;
            io::copy(from, &mut to).and_then(|_| to.sync_all()).map_err(refused)?;
            temporary.persist(place).map_err(from_disk)?;
        }
    }
    disk.sync_folder(folder).map_err(from_disk)
}

/// Opens the partial object of a file, and waits for another process that writes it as long as it makes progress; nothing if that
/// process placed it.
fn wait_for_partial(folder: &Path, wanted: &WantedFile) -> io::Result<Option<OpenedPartial>> {
    let identity = || fs::symlink_metadata(&wanted.place).ok().map(|found| (found.dev(), found.ino()));
    let before = identity();
    let (mut size, mut grew) = (None, Instant::now());
    loop {
        let opened = PartialObject::open(folder.join(partial_name(&wanted.digest)), &wanted.digest)?;
        if identity() != before {
            if let OpenedPartial::Ours(partial) = opened {
                fs::remove_file(partial.path())?;
            }
            return Ok(None);
        }
        let OpenedPartial::Busy(theirs) = opened else { return Ok(Some(opened)) };
        let now = theirs.metadata().ok().map(|metadata| metadata.len());
        if now != size {
            (size, grew) = (now, Instant::now());
        }
        if grew.elapsed() >= wanted.stall_timeout {
            return Ok(Some(OpenedPartial::Busy(theirs)));
        }
        sleep(BUSY_PAUSE);
    }
}

/// Makes the folders between the remote's own and the file.
fn create_parents(folder: &Path, place: &Path) -> Result<(), RemoteError> {
    let disk = DurableFs::default();
    let missing: Vec<&Path> =
        place.ancestors().skip(1).take_while(|above| *above != folder && !above.is_dir()).collect();
    for made in missing.into_iter().rev() {
        disk.make_folder(made).map_err(from_disk)?;
        if let Some(above) = made.parent() {
            disk.sync_folder(above).map_err(from_disk)?;
        }
    }
    Ok(())
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> RemoteError {
    RemoteError::Refused(format!("cannot {doing} {}: {error}", path.display()))
}

/// An error of the disk of a remote.
fn from_disk(error: FileError) -> RemoteError {
    RemoteError::Refused(error.to_string())
}
