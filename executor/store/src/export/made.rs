//! Exports of what is made from an output, rather than copied: held to the same rules.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Exported;
use super::list::{Copied, List, mtime, write_list};
use crate::Store;
use crate::hashing::hash_own_file;
use cwm_core::FileError;
use cwm_core::files::Result;

impl Store {
    /// Fills the folder `destination` with the files that `fill` makes in an empty one. Nothing has its name before all is
    /// complete; where an earlier export has the same content, it stays as it is. They are made anew each time: what they
    /// are made from does not tell whether the code that makes them has changed.
    ///
    /// # Errors
    /// Those of `fill`; the destination is in the store; something is in the way that no export made; the disk refuses.
    pub fn export_generated<E: From<FileError>>(
        &self,
        destination: &Path,
        fill: impl FnOnce(&Path) -> std::result::Result<(), E>,
    ) -> std::result::Result<Exported, E> {
        let target = std::path::absolute(destination).map_err(FileError::io("find", destination))?;
        let export = self.export_to(&target)?;
        let _turn = export.turn()?;
        let earlier = export.earlier()?;
        self.disk.make_folders(export.parent)?;
        let (aside, _held) = export.aside()?;
        fill(aside.path())?;
        let made = list_of(aside.path())?;
        let files = made.files.iter().map(|(name, file)| (name.clone(), file.digest, file.executable));
        if earlier.as_ref().is_some_and(|list| list.whole && list.stands(&target, files)) {
            return Ok(Exported { path: target.clone(), written: false, replaced: false });
        }
        write_list(&aside, &made)?;
        let replaced = earlier.as_ref().is_some_and(|list| list.whole);
        match earlier {
            Some(_) => aside.replace(&target)?,
            None => aside.place(&target)?,
        }
        Ok(Exported { path: target, written: true, replaced })
    }
}

/// The files in a folder, as they are now.
fn list_of(folder: &Path) -> Result<List> {
    let mut list = List::new(true);
    for entry in fs::read_dir(folder).map_err(FileError::io("read the folder", folder))? {
        let entry = entry.map_err(FileError::io("read the folder", folder))?;
        let path = entry.path();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).map_err(FileError::io("make writable", &path))?;
        let metadata = entry.metadata().map_err(FileError::io("look at", &path))?;
        let copied = Copied {
            digest: hash_own_file(&path)?,
            size: metadata.len(),
            mtime_ns: mtime(&metadata),
            executable: false,
        };
        list.files.insert(entry.file_name().to_string_lossy().into_owned(), copied);
    }
    Ok(list)
}
