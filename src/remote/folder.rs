//! Writing to a remote that is a folder. `object_store` writes files there without asking the disk to keep them, so the store's
//! own steps do it: temporary file, sync, rename, sync of the folder.

use std::fs;
use std::io;
use std::path::Path;

use super::fault::Fault;
use crate::store::StoreError;
use crate::store::durable::Disk;

/// Makes the remote's folder, if the one above is there: not a whole path, for a disk that is not mounted would be written
/// below its mount point.
///
/// # Errors
/// It cannot be made.
pub fn make(folder: &Path) -> Result<(), Fault> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Fault::NotReached(format!("there is no folder above {}; is it mounted?", folder.display())))
        }
        Err(error) => Err(failed("make", folder, &error)),
    }
}

/// The size of a plain file; nothing if it is not there.
///
/// # Errors
/// It is something else, or cannot be looked at.
pub fn size(file: &Path) -> Result<Option<u64>, Fault> {
    match fs::metadata(file) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
        Ok(_) => Err(Fault::Bad(format!("{} is no plain file", file.display()))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(failed("look at", file, &error)),
    }
}

/// Writes a small file in one instant, for good.
///
/// # Errors
/// The disk refuses.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Fault> {
    let place = folder.join(name);
    above(folder, &place)?;
    Disk::default().replace(&place, bytes, true).map_err(Fault::from_remote)
}

/// Copies a file there in one instant, for good. `told` is handed the bytes as they go.
///
/// # Errors
/// The disk refuses.
pub fn copy(folder: &Path, name: &str, from: &Path) -> Result<(), Fault> {
    let place = folder.join(name);
    above(folder, &place)?;
    let disk = Disk::default();
    let beside = place.parent().unwrap_or(folder);
    let (mut to, temporary) = disk.new_file(beside).map_err(Fault::from_remote)?;
    // Shares extents, or copies within the system, where it can.
    let copied = fs::File::open(from).and_then(|mut from| io::copy(&mut from, &mut to));
    copied.and_then(|_| to.sync_all()).map_err(|error| failed("write", &place, &error))?;
    temporary.place(&place).and_then(|()| disk.sync_folder(beside)).map_err(Fault::from_remote)
}

/// Makes the folders between the remote's own and the file.
fn above(folder: &Path, place: &Path) -> Result<(), Fault> {
    let disk = Disk::default();
    let missing: Vec<&Path> =
        place.ancestors().skip(1).take_while(|above| *above != folder && !above.is_dir()).collect();
    for made in missing.into_iter().rev() {
        disk.make_folder(made).map_err(Fault::from_remote)?;
        if let Some(above) = made.parent() {
            disk.sync_folder(above).map_err(Fault::from_remote)?;
        }
    }
    Ok(())
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> Fault {
    Fault::Refused(format!("cannot {doing} {}: {error}", path.display()))
}

impl Fault {
    /// What the disk of a remote refused.
    fn from_remote(error: StoreError) -> Fault {
        Fault::Refused(error.to_string())
    }
}
