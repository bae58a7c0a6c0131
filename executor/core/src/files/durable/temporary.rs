//! Files and folders that have no name yet.

use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{DurableFs, Step, TEMPORARY};
use crate::files::Result;

/// A file or folder that is removed unless it is persisted.
pub struct Temporary<'disk> {
    pub(super) disk: &'disk DurableFs,
    pub(super) path: PathBuf,
    pub(super) is_persisted: bool,
}

impl Temporary<'_> {
    /// Its path.
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
    /// the file system can; else there is an instant without either.
    pub fn replace(self, to: &Path) -> Result<()> {
        let exchange = || Ok(renameat_with(CWD, &self.path, CWD, to, RenameFlags::EXCHANGE)?);
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

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_persisted {
            // Best effort: what stays in `temporary/` is never read, and `cwm store gc` removes it.
            drop(self.disk.remove(&self.path));
        }
    }
}
