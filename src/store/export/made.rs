//! Exports of what is made from an output, rather than copied: held to the same rules.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{Copied, Exported, List, mtime, write_list};
use crate::store::hashing::hash_own_file;
use crate::store::{Result, Store, StoreError};

impl Store {
    /// Fills the folder `destination` with the files that `fill` makes in an empty one. `recipe` says what they are made
    /// from and how; where an earlier export with this recipe is there, unchanged, `fill` is not called. Nothing has its
    /// name before all is complete.
    ///
    /// # Errors
    /// Those of `fill`; the destination is in the store; something is in the way that no export made, or that was
    /// changed since; the disk refuses.
    pub fn export_made<E: From<StoreError>>(
        &self,
        recipe: &str,
        destination: &Path,
        fill: impl FnOnce(&Path) -> std::result::Result<(), E>,
    ) -> std::result::Result<Exported, E> {
        let target = std::path::absolute(destination).map_err(StoreError::io("find", destination))?;
        let export = self.export_to(&target)?;
        let exists = fs::symlink_metadata(&target).is_ok();
        if exists {
            let (exported, there) = export.look_at_folder()?;
            if exported.recipe.as_deref() == Some(recipe) && there == exported.files.len() {
                return Ok(Exported { path: target, written: false });
            }
        }
        self.disk.make_folders(export.parent)?;
        let (aside, _held) = export.aside()?;
        fill(aside.path())?;
        write_list(&aside, &list_of(aside.path(), recipe)?)?;
        if exists {
            aside.replace(&target)?
        } else {
            aside.place(&target)?
        }
        Ok(Exported { path: target, written: true })
    }
}

/// The files in a folder, as they are now.
fn list_of(folder: &Path, recipe: &str) -> Result<List> {
    let mut list = List { whole: true, recipe: Some(recipe.to_owned()), ..List::default() };
    for entry in fs::read_dir(folder).map_err(StoreError::io("read the folder", folder))? {
        let entry = entry.map_err(StoreError::io("read the folder", folder))?;
        let path = entry.path();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).map_err(StoreError::io("make writable", &path))?;
        let metadata = entry.metadata().map_err(StoreError::io("look at", &path))?;
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
