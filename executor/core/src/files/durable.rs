//! Every change that the store makes to the disk goes through here, one step at a time.
//!
//! What must survive a power loss is written in this order: the content to a temporary file in the same file system,
//! `fsync`, mode 0444, `rename`, `fsync` of the folder. A failed `fsync` is final: the kernel may have dropped the
//! pages, so the file is given up and never synced again. In tests each step can be watched, failed, or be the last
//! one that happens.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use super::error::{FileError, Result};
use crate::os;

/// Begins the name of everything temporary: hidden, since some of it lies beside the user's files for an instant.
pub const TEMPORARY: &str = ".cwm-";

/// Syncs that wait for the disk side by side. They wait and do not compute, so this is not a matter of cores.
const SYNCS_AT_ONCE: usize = 16;

/// One change to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A folder is made.
    MakeFolder,
    /// A temporary file is filled.
    Write,
    /// The content of a file, or the names in a folder, go to the disk for good.
    Sync,
    /// A file becomes read-only.
    MakeReadOnly,
    /// A symbolic link is made.
    Link,
    /// A file or folder gets its name.
    Rename,
    /// A file or folder is removed.
    Remove,
}

/// A function called before each step, with the path and, where a file gets its name, its previous path.
pub type Hook = std::sync::Arc<dyn Fn(Step, &Path, Option<&Path>) -> io::Result<()> + Send + Sync>;

/// The disk, as the store changes it.
#[derive(Clone, Default)]
pub struct DurableFs {
    hook: Option<Hook>,
}

impl DurableFs {
    /// Returns the disk, with `hook` called before each step: tests of crash consistency fail a step, or let it be the last.
    pub fn with_hook(hook: Hook) -> DurableFs {
        DurableFs { hook: Some(hook) }
    }

    fn before(&self, step: Step, path: &Path, from: Option<&Path>) -> io::Result<()> {
        self.hook.as_ref().map_or(Ok(()), |hook| hook(step, path, from))
    }

    fn step<T>(
        &self,
        step: Step,
        operation: &'static str,
        path: &Path,
        change: impl FnOnce() -> io::Result<T>,
    ) -> Result<T> {
        self.before(step, path, None).and_then(|()| change()).map_err(FileError::io(operation, path))
    }

    /// Makes a folder and those above it, if they are not there. Their names survive a power loss once the folders that hold them
    /// are synced.
    pub fn make_folders(&self, path: &Path) -> Result<()> {
        match self.step(Step::MakeFolder, "make the folder", path, || fs::create_dir_all(path)) {
            Err(FileError::Io { cause, .. }) if cause.kind() == io::ErrorKind::AlreadyExists => {
                let hint = "move it away; if it is in a store, `cwm store verify` moves it to quarantine";
                Err(FileError::rejected(path, "is not a folder", hint))
            }
            made => made,
        }
    }

    /// Sends the content of a file, or the names in a folder, to the disk for good.
    pub fn sync(&self, path: &Path) -> Result<()> {
        self.step(Step::Sync, "sync", path, || File::open(path)?.sync_all())
    }

    /// Sends files and folders to the disk for good, side by side: a file system serves concurrent requests together, so that
    /// many take hardly longer than one.
    pub fn sync_together<P: AsRef<Path>>(&self, paths: impl IntoIterator<Item = P>) -> Result<()> {
        let paths: Vec<PathBuf> = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.sync(path)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            // Where no thread can be had, the others do all of the work.
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..paths.len().min(SYNCS_AT_ONCE)).filter_map(start).collect();
            let own = work();
            let joined = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            joined.fold(own, Result::and)
        })
    }

    /// Sends all that was changed in the file system of `folder` to the disk for good: for many names at once.
    pub fn sync_all(&self, folder: &Path) -> Result<()> {
        self.step(Step::Sync, "sync the file system of", folder, || os::sync_file_system(&File::open(folder)?))
    }

    /// Writes into an open file; after a power loss it may be there and empty.
    pub fn write_into(&self, path: &Path, write: impl FnOnce() -> io::Result<()>) -> Result<()> {
        self.step(Step::Write, "write", path, write)
    }

    /// Writes a short file in place; after a power loss it may be there and empty.
    pub fn write_marker(&self, path: &Path, text: &str) -> Result<()> {
        self.step(Step::Write, "write", path, || fs::write(path, text))
    }

    /// Makes a file read-only for everyone.
    pub fn make_read_only(&self, path: &Path) -> Result<()> {
        self.step(Step::MakeReadOnly, "make read-only", path, || {
            fs::set_permissions(path, Permissions::from_mode(0o444))
        })
    }

    /// Makes a file read-only for everyone, last changed at this second since 1970. Where times cannot be set nothing is lost:
    /// it is then hashed before it is used.
    pub fn seal(&self, path: &Path, second: u64) -> Result<()> {
        let time = UNIX_EPOCH + Duration::from_secs(second);
        let _ = File::open(path).and_then(|file| file.set_modified(time));
        self.make_read_only(path)
    }

    /// Renames a file or folder, and replaces a file that has the new name.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let placed = self.before(Step::Rename, to, Some(from)).and_then(|()| fs::rename(from, to));
        placed.map_err(FileError::io("move a file to", to))
    }

    /// Makes the symbolic link `path`.
    pub fn link(&self, target: &Path, path: &Path) -> Result<()> {
        self.step(Step::Link, "make the link", path, || std::os::unix::fs::symlink(target, path))
    }

    /// Removes a file, a link or a whole folder; nothing there is fine. Folders that a stage left without permission
    /// to write are given it first.
    pub fn remove(&self, path: &Path) -> Result<()> {
        self.step(Step::Remove, "remove", path, || {
            // Most are files, and there may be many.
            let removed = fs::remove_file(path).or_else(|error| match fs::symlink_metadata(path) {
                Ok(metadata) if metadata.is_dir() => remove_tree(path),
                // Somebody else removed it just now.
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            });
            match removed {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                other => other,
            }
        })
    }

    /// Returns a new empty file in `folder` (mode 0666 less the umask); it is removed unless it is persisted.
    pub fn new_file(&self, folder: &Path) -> Result<(File, TemporaryPath<'_>)> {
        let (file, path) = self.step(Step::MakeFolder, "make a file in", folder, || {
            Ok(tempfile::Builder::new()
                .prefix(TEMPORARY)
                .permissions(Permissions::from_mode(0o666))
                .tempfile_in(folder)?
                .keep()?)
        })?;
        Ok((file, TemporaryPath { disk: self, path, is_persisted: false }))
    }

    /// Takes over a file that an interrupted process left: it is removed unless it is persisted.
    pub fn take_temporary(&self, path: PathBuf) -> TemporaryPath<'_> {
        TemporaryPath { disk: self, path, is_persisted: false }
    }

    /// Writes `bytes` to a new file in `folder` (mode 0666 less the umask), which is not synced; it is removed unless it is
    /// persisted.
    pub fn write_unsynced(&self, folder: &Path, bytes: &[u8]) -> Result<(File, TemporaryPath<'_>)> {
        let (mut file, temporary) = self.new_file(folder)?;
        self.step(Step::Write, "write", temporary.path(), || file.write_all(bytes))?;
        Ok((file, temporary))
    }

    /// Returns a new empty folder in `folder`, whose name begins with `prefix`; it is removed unless it is persisted.
    pub fn temporary_folder(&self, folder: &Path, prefix: &str) -> Result<TemporaryPath<'_>> {
        let path = self.step(Step::MakeFolder, "make a folder in", folder, || {
            Ok(tempfile::Builder::new()
                .prefix(prefix)
                .permissions(Permissions::from_mode(0o777))
                .tempdir_in(folder)?
                .keep())
        })?;
        Ok(TemporaryPath { disk: self, path, is_persisted: false })
    }

    /// Replaces or creates the file `path` in one instant: temporary file beside it, sync, rename. With `durable`, the
    /// new name survives a power loss too.
    pub fn replace(&self, path: &Path, bytes: &[u8], durable: bool) -> Result<()> {
        let folder = folder_of(path);
        // A rename would put a plain file in the place of a device.
        if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file() && !there.is_symlink()) {
            let cause = io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file");
            return Err(FileError::io("write", path)(cause));
        }
        let written = self.write_unsynced(folder, bytes).and_then(|(file, temporary)| {
            self.step(Step::Sync, "sync", temporary.path(), || file.sync_all())?;
            Ok(temporary)
        });
        let written = written.map_err(|error| match error {
            // A person looks for this file, not for the temporary one.
            FileError::Io { cause, .. } if cause.kind() == io::ErrorKind::PermissionDenied => {
                FileError::io("write", path)(cause.kind().into())
            }
            other => other,
        });
        written?.persist(path)?;
        if durable { self.sync(folder) } else { Ok(()) }
    }

    /// Does the same as [`DurableFs::replace`], for what may be gone or empty after a power loss.
    pub fn replace_unsynced(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.write_unsynced(folder_of(path), bytes)?.1.persist(path)
    }
}

/// Returns the folder of a file: `.` for a path that is a name alone.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file or folder that is removed unless it is persisted.
pub struct TemporaryPath<'disk> {
    disk: &'disk DurableFs,
    path: PathBuf,
    is_persisted: bool,
}

impl TemporaryPath<'_> {
    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its final name.
    pub fn persist(mut self, to: &Path) -> Result<()> {
        self.disk.rename(&self.path, to)?;
        self.is_persisted = true;
        Ok(())
    }

    /// Puts a folder in the place of what is at `to`, which is removed. The two names change places in one instant, where
    /// the system can; else there is an instant without either.
    pub fn replace(self, to: &Path) -> Result<()> {
        let exchange = || os::exchange_names(&self.path, to);
        if self.disk.before(Step::Rename, to, Some(&self.path)).and_then(|()| exchange()).is_ok() {
            // What was there is now ours to remove.
            return Ok(());
        }
        let Some(folder) = to.parent() else { return self.persist(to) };
        let old = self.disk.temporary_folder(folder, TEMPORARY)?;
        self.disk.rename(to, &old.path().join("old"))?;
        self.persist(to)
    }
}

impl Drop for TemporaryPath<'_> {
    fn drop(&mut self) {
        if !self.is_persisted {
            // Best effort: what stays in `temporary/` is never read, and `cwm store gc` removes it.
            drop(self.disk.remove(&self.path));
        }
    }
}

/// Removes a folder and all that is in it, also folders without permission to write.
fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            allow_changes(path);
            fs::remove_dir_all(path)
        }
        result => result,
    }
}

/// Gives the owner every permission on the folders in and under `path`, where the system allows that.
pub fn allow_changes(path: &Path) {
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let _ = fs::set_permissions(&folder, Permissions::from_mode(0o700));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(below.map(|entry| entry.path()));
    }
}
