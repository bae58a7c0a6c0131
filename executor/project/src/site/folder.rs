//! A remote that is a folder: where it is, and that it is no store.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Address, Remote};
use cwm_core::error::Error;
use cwm_core::files::is_store;

/// The folder without `..` on its way, which names of remotes cannot hold: as the file system has it, as far as it is there.
pub fn real(folder: &Path) -> PathBuf {
    // Of a relative one that is not there, nothing would be found.
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut missing = Vec::new();
    let mut front = folder.as_path();
    loop {
        if let Ok(found) = fs::canonicalize(front) {
            return missing.into_iter().rev().fold(found, |path, name| path.join(name));
        }
        // What is behind a folder that is not there can only be taken as it is written.
        let (Some(parent), Some(name)) = (front.parent(), front.file_name()) else { return folder.clone() };
        missing.push(name);
        front = parent;
    }
}

impl Remote {
    /// Refuses a folder that is a store, or lies in one: what is pushed there nothing of the store names, so that its `gc` would
    /// delete it. `own` is the store that is used here, which need not be there yet.
    ///
    /// # Errors
    /// It is one, with what to do.
    pub fn must_be_no_store(&self, own: Option<&Path>) -> Result<(), Error> {
        let Address::Folder(folder) = &self.address else { return Ok(()) };
        let folder = real(folder);
        let own = own.map(real);
        let Some(store) = folder.ancestors().find(|above| is_store(above) || own.as_deref() == Some(*above)) else {
            return Ok(());
        };
        let whose = if own.as_deref() == Some(store) { "the store that is used here" } else { "a store of cwm" };
        let what = if store == folder { format!("is {whose}") } else { format!("is in {whose}, {}", store.display()) };
        let message = format!(
            "the remote `{}` cannot be {}: it {what}, whose `gc` would delete what is pushed there",
            self.name,
            folder.display()
        );
        let hint =
            "give the remote a folder of its own; to share a store itself, name it with `store = \"…\"` in cwm.toml";
        Err(Error::usage(message).hint(hint))
    }
}
