//! Writes to a remote that is a folder. `object_store` does not sync the files that it writes there, so the store's own order is
//! used: a temporary file, sync, rename, sync of the folder.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::error::{RemoteError, Result};
use cwm_core::files::Result as FileResult;
use cwm_core::{Digest, DurableFs, FileError};
use cwm_store::{PartialObject, partial_name};

/// Makes the remote's folder, if the one above is there: not a whole path, for a disk that is not mounted would be written
/// below its mount point. Returns whether it was not there.
///
/// # Errors
/// It cannot be made.
pub fn create(folder: &Path) -> Result<bool> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(true),
        Err(_) if folder.is_dir() => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(RemoteError::Unreachable(format!("there is no folder above {}; is it mounted?", folder.display())))
        }
        Err(error) => Err(from_disk(FileError::io("make the folder", folder)(error))),
    }
}

/// Returns the size of a plain file; nothing if it is not there.
///
/// # Errors
/// It is something else, or cannot be looked at.
pub fn size(file: &Path) -> Result<Option<u64>> {
    match fs::metadata(file) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
        Ok(_) => Err(RemoteError::Invalid(format!("{} is no plain file", file.display()))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(from_disk(FileError::io("look at", file)(error))),
    }
}

/// Copies a file there with one rename, durably.
///
/// # Errors
/// An operation on the disk fails.
pub fn copy(folder: &Path, name: &str, digest: &Digest, from: &Path) -> Result<()> {
    let mut from = File::open(from).map_err(FileError::io("read", from))?;
    put(folder, name, digest, &mut from)
}

/// Writes a file with one rename, durably: a temporary file, sync, rename, sync of the folder.
///
/// # Errors
/// An operation on the disk fails.
pub fn put(root: &Path, name: &str, digest: &Digest, from: &mut impl Read) -> Result<()> {
    let place = root.join(name);
    create_parents(root, &place)?;
    write(root, &place, digest, from).map_err(from_disk)
}

fn write(root: &Path, place: &Path, digest: &Digest, from: &mut impl Read) -> FileResult<()> {
    let disk = DurableFs::default();
    let folder = place.parent().unwrap_or(root);
    // The partial object that a killed upload of the same content left is used up, unless somebody has it: nothing else removes it.
    let (temporary, mut to) = match PartialObject::open(folder.join(partial_name(digest)), digest) {
        Ok(Some(partial)) => (disk.take_temporary(partial.path), partial.file),
        Ok(None) | Err(_) => disk.new_file(folder).map(|(file, temporary)| (temporary, file))?,
    };
    // The copy shares extents, or is made within the system, where that is possible.
    let copied = to.set_len(0).and_then(|()| io::copy(from, &mut to)).and_then(|_| to.sync_all());
    copied.map_err(FileError::io("write", place))?;
    temporary.persist(place)?;
    disk.sync(folder)
}

/// Makes the folders between the remote's own and the file.
fn create_parents(folder: &Path, place: &Path) -> Result<()> {
    let disk = DurableFs::default();
    let missing: Vec<&Path> =
        place.ancestors().skip(1).take_while(|above| *above != folder && !above.is_dir()).collect();
    for made in missing.into_iter().rev() {
        create(made)?;
        if let Some(above) = made.parent() {
            disk.sync(above).map_err(from_disk)?;
        }
    }
    Ok(())
}

/// An error of the disk of a remote.
fn from_disk(error: FileError) -> RemoteError {
    RemoteError::Unsupported(error.to_string())
}
