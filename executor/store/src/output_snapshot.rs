//! Snapshots of outputs, which show that nobody changed them while a stage read them.
//!
//! Read-only modes stop slips, not an owner who gives the right back, and not root. So the process that runs a stage compares
//! snapshots of its inputs before and after. Nothing is hashed but young external files.

use std::collections::BTreeMap;
use std::fs;

use super::Store;
use super::damage::{Check, ObjectState};
use super::record::{OutputRecord, OutputShape};
use super::walk::metadata;
use crate::external_files::DigestCache;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, Stat};

/// The metadata of everything in an output of the store. If two snapshots are equal, nobody changed it in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSnapshot {
    /// By object; nothing if it is not there or is no plain file.
    objects: BTreeMap<Digest, Option<Stat>>,
    /// True if a folder's tree is that of its manifest, and for a file.
    tree_is_right: bool,
}

impl Store {
    /// Makes a snapshot of an output. Call [`Store::path_of`] first, which repairs a folder's tree.
    ///
    /// # Errors
    /// A manifest is lost, damaged or of a newer version; a system call fails.
    pub fn snapshot(&self, output: &OutputRecord) -> Result<OutputSnapshot> {
        let mut digests = vec![output.digest];
        let mut tree_is_right = true;
        if output.shape == OutputShape::Folder {
            let manifest = self.manifest(&output.digest)?;
            digests.extend(manifest.digests());
            tree_is_right = self.tree_is_right(&output.digest, &manifest);
        }
        let objects = digests.into_iter().map(|digest| Ok((digest, self.object_stat(&digest)?)));
        Ok(OutputSnapshot { objects: objects.collect::<Result<_>>()?, tree_is_right })
    }

    /// Returns the metadata of an object; nothing if it is not there or is no plain file.
    pub(super) fn object_stat(&self, digest: &Digest) -> Result<Option<Stat>> {
        Ok(metadata(&self.object_path(digest))?.filter(fs::Metadata::is_file).map(|metadata| Stat::from(&metadata)))
    }

    /// Returns true if nobody wrote to an output since the snapshot `before`: it is as it was, or differs by a second name or
    /// another mode alone. So a stage that links to an input spoils no other stage that reads it. Objects that differ are hashed,
    /// since the process that wrote may have set the seal back. Those with other content are moved to the quarantine, and made
    /// again.
    ///
    /// # Errors
    /// A system call fails.
    pub fn verify_unmodified(&self, output: &OutputRecord, before: &OutputSnapshot) -> Result<bool> {
        let mut is_unmodified = self.snapshot(output).is_ok_and(|now| now.tree_is_right == before.tree_is_right);
        for (digest, before) in &before.objects {
            let now = self.object_stat(digest)?;
            if now == *before {
                continue;
            }
            let written = |stat: Stat| (stat.device, stat.inode, stat.size, stat.mtime_ns);
            let state = self.object_state(digest, None, Check::Hash)?;
            is_unmodified &= state == ObjectState::Intact && now.map(written) == before.map(written);
            if let ObjectState::Damaged(damage) = state {
                self.quarantine_damaged(&damage)?;
            }
        }
        Ok(is_unmodified)
    }

    /// Checks that the objects of a snapshot have the digests that name them. To be called after the snapshot was made: a later
    /// change shows in the next snapshot.
    ///
    /// # Errors
    /// An object is missing or damaged, or a system call fails.
    pub fn verify_intact(&self, snapshot: &OutputSnapshot, digests: &DigestCache) -> Result<()> {
        for digest in snapshot.objects.keys() {
            let path = self.object_path(digest);
            match self.object_state(digest, None, Check::Seal(digests, i64::MAX))? {
                ObjectState::Intact => {}
                ObjectState::Missing => return Err(FileError::Missing { path, what: "is not in the store".into() }),
                ObjectState::Damaged(damage) => return Err(FileError::damaged(&path, format!("it {}", damage.what))),
            }
        }
        Ok(())
    }
}
