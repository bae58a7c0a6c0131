//! Whether what should be a folder of the store is one, a lock's file a file, and what holds records named like a key.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::actions::list;
use super::{Finding, Store};
use cwm_core::Key;
use cwm_core::files::{Result, STORE_FOLDERS};

impl Store {
    /// Sets aside what stands where only a folder can, or where only a lock's file can: nothing could be written there
    /// any more, and nobody should have to find out by hand what is in the way.
    pub(super) fn verify_layout(&self) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        let root = self.root();
        let quarantine = self.layout.quarantine();
        if is_other(&quarantine, fs::Metadata::is_dir) {
            // It cannot be moved into itself.
            let beside = root.join(".cwm-no-quarantine");
            self.disk.place(&quarantine, &beside)?;
            findings.push(self.set_aside(beside, "stood where the folder `quarantine` belongs".into())?);
        }
        for folder in STORE_FOLDERS.map(|name| root.join(name)) {
            if is_other(&folder, fs::Metadata::is_dir) {
                findings.push(self.set_aside(folder, "is not a folder".into())?);
            }
        }
        let shards = |name: &str| -> Result<Vec<PathBuf>> {
            let named = list(&root.join(name))?.into_iter().filter(|(name, _)| name.len() == 2);
            Ok(named.map(|(_, path)| path).collect())
        };
        let mut folders = [shards("objects")?, shards("trees")?, shards("actions")?].concat();
        for shard in shards("actions")?.into_iter().filter(|shard| shard.is_dir()) {
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
            findings.push(self.set_aside(folder, "is not a folder".into())?);
        }
        for (_, file) in list(&root.join("locks"))? {
            if is_other(&file, fs::Metadata::is_file) {
                findings.push(self.set_aside(file, "is not a lock's file".into())?);
            }
        }
        if findings.iter().any(|finding| finding.quarantined.is_some()) {
            // What was moved is missing now: whoever writes next makes it.
            self.whole.store(false, Ordering::Release);
        }
        Ok(findings)
    }
}

/// Whether something is there, and is of another kind.
fn is_other(path: &Path, is_right: fn(&fs::Metadata) -> bool) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| !is_right(&metadata))
}
