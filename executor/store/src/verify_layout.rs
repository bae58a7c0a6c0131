//! The check of a store's folders, of lock files and of the names of keys.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::walk::list;
use super::{Finding, Store};
use cwm_core::Key;
use cwm_core::files::{Result, STORE_FOLDERS};

impl Store {
    /// Quarantines everything that is in the place of a folder or of a lock file: nothing could be written there any more, and
    /// nobody should have to find out by hand what is in the way.
    pub(super) fn verify_layout(&self) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        let root = self.root();
        let quarantine = self.quarantine_folder();
        if is_other(&quarantine, fs::Metadata::is_dir) {
            // It cannot be moved into itself.
            let beside = root.join(".cwm-no-quarantine");
            self.disk.rename(&quarantine, &beside)?;
            findings.push(self.quarantine(beside, "stood where the folder `quarantine` belongs".into())?);
        }
        for folder in STORE_FOLDERS.map(|name| root.join(name)) {
            if is_other(&folder, fs::Metadata::is_dir) {
                findings.push(self.quarantine(folder, "is not a folder".into())?);
            }
        }
        let mut folders = Vec::new();
        for name in ["objects", "trees", "actions"] {
            let shards = list(&root.join(name))?.into_iter().filter(|(shard, _)| shard.len() == 2);
            folders.extend(shards.map(|(_, path)| path));
        }
        let actions = root.join("actions");
        for shard in folders.clone().into_iter().filter(|shard| shard.starts_with(&actions) && shard.is_dir()) {
            for (name, path) in list(&shard)? {
                // As a file system leaves it that knows no small letters: its records are not found.
                if path.is_dir() && name.parse::<Key>().is_err() {
                    findings.push(Finding::about(path, "is not named like a key"));
                } else {
                    folders.push(path);
                }
            }
        }
        folders.extend(list(&root.join("work"))?.into_iter().map(|(_, path)| path));
        for folder in folders.into_iter().filter(|folder| is_other(folder, fs::Metadata::is_dir)) {
            findings.push(self.quarantine(folder, "is not a folder".into())?);
        }
        for (_, file) in list(&root.join("locks"))? {
            if is_other(&file, fs::Metadata::is_file) {
                findings.push(self.quarantine(file, "is not a lock's file".into())?);
            }
        }
        if findings.iter().any(|finding| finding.quarantined.is_some()) {
            // It is missing now: the next write makes it.
            self.whole.store(false, Ordering::Release);
        }
        Ok(findings)
    }
}

/// Returns true if something is there, and is of another kind.
fn is_other(path: &Path, is_right: fn(&fs::Metadata) -> bool) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| !is_right(&metadata))
}
