//! What pushes that were killed left in a folder that is a remote, and nobody goes on with. Nothing is removed that somebody
//! has locked, nor what may be gone on with yet.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;

use super::part::{PREFIX, is_at};
use cwm_core::digest::Digest;
use cwm_core::files::durable::TEMPORARY;

/// What is older nobody goes on with: as long as `gc` lets transfers be in a store.
const AGE: Duration = Duration::from_secs(14 * 24 * 3600);

/// Removes the part that lies beside `place`, where the same content is whole, or not wanted any more: nobody needs it, unless
/// somebody writes it just now. One look where there is none.
pub fn beside_what_is_whole(place: &Path, digest: &Digest) {
    let part = place.with_file_name(format!("{PREFIX}{digest}"));
    if fs::symlink_metadata(&part).is_ok_and(|part| part.is_file()) {
        // Best effort: the next push that finds the content looks again.
        let _ = remove_unlocked(&part);
    }
}

/// Removes from `folder` what has no name yet and was not written to for two weeks: parts, and what stood for parts that could
/// not be locked. Nobody writes for so long without a byte; and whoever did would be told that his file is gone, and send it
/// again.
pub fn old_ones(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(|name| name.starts_with(TEMPORARY)) {
            continue;
        }
        let Ok(metadata) = entry.metadata() else { continue };
        let is_old = metadata.modified().is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age >= AGE));
        if metadata.is_file() && is_old {
            let _ = remove_unlocked(&entry.path());
        }
    }
}

/// Removes a plain file that nobody has locked. Where files cannot be locked it stays: nobody can tell.
fn remove_unlocked(path: &Path) -> io::Result<()> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    // Some file systems lock only what is open for writing; and what others wrote may be read only.
    let opened = File::options().read(true).write(true).custom_flags(flags).open(path);
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            File::options().read(true).custom_flags(flags).open(path)
        }
        opened => opened,
    }?;
    file.try_lock()?;
    // Whoever opened it meanwhile finds, once he has the lock, that it stands there no more, and makes another.
    if is_at(&file, path) { fs::remove_file(path) } else { Ok(()) }
}
