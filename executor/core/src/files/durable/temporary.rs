//! Files and folders that have no name yet.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{DurableFs, Step, TEMPORARY};
use crate::files::Result;

/// A file or folder that is removed unless it is placed.
pub struct Temporary<'disk> {
    pub(super) disk: &'disk DurableFs,
    pub(super) path: Option<PathBuf>,
}

impl Temporary<'_> {
    /// Its path.
    pub fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    /// Gives it its name.
    pub fn persist(mut self, to: &Path) -> Result<()> {
        self.disk.rename(self.path(), to)?;
        self.path = None;
        Ok(())
    }

    /// Puts a folder in the place of what is at `to`, which is removed. The two names change places in one instant, where
    /// the file system can; else there is an instant without either.
    pub fn replace(self, to: &Path) -> Result<()> {
        let exchanged = self.disk.before(Step::Rename, to, Some(self.path())).and_then(|()| exchange(self.path(), to));
        if exchanged.is_ok() {
            // What was there is now ours to remove.
            return Ok(());
        }
        let Some(folder) = to.parent() else { return self.persist(to) };
        let old = self.disk.temporary_folder(folder, TEMPORARY)?;
        self.disk.rename(to, &old.path().join("old"))?;
        self.persist(to)
    }
}

/// Two names change places in one instant.
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            // Best effort: what stays in `temporary/` is never read, and `cwm gc` removes it.
            drop(self.disk.remove(&path));
        }
    }
}
