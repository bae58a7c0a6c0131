//! Writing to a remote that is a folder. `object_store` writes files there without asking the disk to keep them, so the store's
//! own order is kept: a part file ([`super::part`]), sync, rename, sync of the folder.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::fault::Fault;
use super::part;
use super::stale;
use cwm_core::digest::Digest;
use cwm_core::files::StoreError;
use cwm_core::files::durable::Disk;

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

/// It was found there, or what stands for it: a part of it that a push left which was killed is not needed, and goes.
pub fn found(folder: &Path, name: &str, digest: &Digest) {
    stale::beside_what_is_whole(&folder.join(name), digest);
}

/// Removes what pushes that were killed long ago left beside `name`.
pub fn tidy(folder: &Path, name: &str) {
    if let Some(beside) = folder.join(name).parent() {
        stale::old_ones(beside);
    }
}

/// Writes a small file in one instant, for good.
///
/// # Errors
/// The disk refuses.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Fault> {
    let wanted = Wanted { digest: Digest::of(bytes), place: folder.join(name), patience: Duration::from_secs(1) };
    write(folder, &wanted, &mut Cursor::new(bytes))
}

/// Copies a file with this content there in one instant, for good; goes on with what an attempt that was killed left.
///
/// # Errors
/// The disk refuses.
pub fn copy(folder: &Path, name: &str, digest: Digest, from: &Path) -> Result<(), Fault> {
    let wanted = Wanted { digest, place: folder.join(name), patience: Duration::from_secs(60) };
    let mut from = File::open(from).map_err(|error| Fault::Here(format!("cannot read {}: {error}", from.display())))?;
    write(folder, &wanted, &mut from)
}

/// What is to stand where, and how long a part of somebody else's may be as it is.
struct Wanted {
    digest: Digest,
    place: PathBuf,
    patience: Duration,
}

/// Writes a part, syncs it, gives it its name and syncs the folder.
fn write(folder: &Path, wanted: &Wanted, from: &mut (impl Read + Seek)) -> Result<(), Fault> {
    let place = &wanted.place;
    above(folder, place)?;
    let disk = Disk::default();
    let beside = place.parent().unwrap_or(folder);
    let refused = |error: io::Error| failed("write", place, &error);
    match part::ask(beside, &wanted.digest, place, wanted.patience).map_err(refused)? {
        part::Asked::Mine(mut part) => {
            // Shares extents, or copies within the system, where it can.
            let copied = part.go_on(from).and_then(|()| io::copy(from, &mut part.file));
            if let Err(error) = copied.and_then(|_| part.file.sync_all()) {
                // A full disk gets its room back; and after a sync that failed nobody knows what is on it.
                let _ = disk.remove(&part.path);
                return Err(refused(error));
            }
            disk.place(&part.path, place).map_err(Fault::from_remote)?;
        }
        // His sync of the folder may be to come.
        part::Asked::Placed => {}
        part::Asked::Not => {
            let (mut to, temporary) = disk.new_file(beside).map_err(Fault::from_remote)?;
            io::copy(from, &mut to).and_then(|_| to.sync_all()).map_err(refused)?;
            temporary.place(place).map_err(Fault::from_remote)?;
        }
    }
    disk.sync_folder(beside).map_err(Fault::from_remote)
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
