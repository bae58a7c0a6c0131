//! The check of a store's folders, of lock files and of the names of keys.

use std::fs::{self, Metadata};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::walk::list_folder;
use super::{Finding, Store};
use cwm_core::Key;
use cwm_core::files::{Result, STORE_FOLDERS};

impl Store {
    /// Quarantines everything that is in the place of a folder or of a lock file: nothing could be written there any more, and
    /// nobody should have to find out by hand what is in the way.
    pub(super) fn verify_layout(&self) -> Result<Vec<Finding>> {
        let root = self.root();
        let mut findings = Vec::new();
        let mut check = |paths: Vec<(String, PathBuf)>, is_right: fn(&Metadata) -> bool, what: &str| {
            for (_, path) in paths {
                if fs::symlink_metadata(&path).is_ok_and(|found| !is_right(&found)) {
                    findings.push(self.quarantine(path, what.to_owned())?);
                }
            }
            Result::Ok(())
        };
        let folders = STORE_FOLDERS.map(|name| (name.to_owned(), root.join(name)));
        check(folders.into(), Metadata::is_dir, "is not a folder")?;
        for folder in ["objects", "trees", "actions"] {
            let mut shards = list_folder(&root.join(folder))?;
            shards.retain(|(name, _)| name.len() == 2);
            check(shards, Metadata::is_dir, "is not a folder")?;
        }
        check(list_folder(&root.join("work"))?, Metadata::is_dir, "is not a folder")?;
        check(self.in_shards("actions")?, Metadata::is_dir, "is not a folder")?;
        check(list_folder(&root.join("locks"))?, Metadata::is_file, "is not a lock's file")?;
        if findings.iter().any(|finding| finding.quarantined.is_some()) {
            // It is missing now: the next write makes it.
            self.has_all_folders.store(false, Ordering::Release);
        }
        // As a file system without small letters leaves it: its records are not found.
        let others = self.in_shards("actions")?.into_iter().filter(|(name, _)| name.parse::<Key>().is_err());
        findings.extend(others.map(|(_, path)| Finding::about(path, "is not named like a key")));
        Ok(findings)
    }
}
