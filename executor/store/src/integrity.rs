//! Whether an object is still what its name says, as far as can be told without reading all of it; and what is done if not.
//!
//! One that bears its [seal](super::mtime_seal) was not written since it was stored. Any other is hashed before anybody reads it,
//! as a file from outside, and remembered as those are.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::finding::Finding;
use super::hashing::hash_own_file;
use super::locks;
use super::output_snapshot::OutputSnapshot;
use super::{Store, layout, mtime_seal};
use crate::external_files::DigestCache;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, FileErrorKind, Stat};

/// What stands where an object belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ObjectState {
    /// What should.
    Intact,
    /// Nothing.
    Gone,
    /// Something else.
    Damaged(Corruption),
}

/// What is wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corruption {
    path: PathBuf,
    /// What was looked at: another file may have been put in its place since.
    seen: Option<Stat>,
    /// In words that follow the path.
    what: String,
}

impl Store {
    /// What stands where this object belongs, which has `size` bytes if that is known. One that does not bear its seal is
    /// hashed, if `outside` does not remember it.
    ///
    /// # Errors
    /// The system cannot tell.
    pub(super) fn object_state(
        &self,
        digest: &Digest,
        size: Option<u64>,
        outside: &DigestCache,
    ) -> Result<ObjectState> {
        let path = self.object_path(digest);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ObjectState::Gone),
            Err(error) => return Err(FileError::io("look at", &path)(error)),
        };
        let seen = Stat::from(&metadata);
        let damaged =
            |what: String| Ok(ObjectState::Damaged(Corruption { path: path.clone(), seen: Some(seen), what }));
        if !metadata.is_file() {
            return damaged("is not a plain file".into());
        }
        if let Some(size) = size.filter(|size| *size != seen.size) {
            return damaged(format!("has {} bytes in place of {size}", seen.size));
        }
        if mtime_seal::has_valid_seal(digest, seen.mtime_ns) {
            return Ok(ObjectState::Intact);
        }
        match outside.snapshot(&path) {
            Ok(found) if found.digest == *digest => Ok(ObjectState::Intact),
            Ok(found) => damaged(format!("was changed: its content has the digest {}", found.digest)),
            Err(error) if error.trouble() == FileErrorKind::Missing => Ok(ObjectState::Gone),
            Err(error) => damaged(format!("cannot be checked: {error}")),
        }
    }

    /// Whether this object is there, with so many bytes, and was not changed since it was stored.
    pub(super) fn has_intact(&self, digest: &Digest, size: u64) -> Result<bool> {
        Ok(self.object_state(digest, Some(size), &DigestCache::without_cache())? == ObjectState::Intact)
    }

    /// Objects are replaced, or set aside as damaged, by one process at a time: what was found damaged must not be replaced
    /// by what is right just before it is moved away. Where nothing stands yet, nothing is locked.
    pub(super) fn lock_replacing(&self, place: &Path) -> Result<Option<File>> {
        if fs::symlink_metadata(place).is_err() {
            return Ok(None);
        }
        locks::wait_alone(&self.layout.lock("objects")).map(Some)
    }

    /// Moves what was found damaged to the quarantine, if the store can be written; nothing, if something else stands
    /// there by now.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn quarantine_corrupt(&self, damage: &Corruption) -> Result<Option<Finding>> {
        let Corruption { path, seen, what } = damage.clone();
        let _only_one = match self.lock_replacing(&path) {
            Err(error) if matches!(error.trouble(), FileErrorKind::ReadOnly | FileErrorKind::Missing) => {
                return Ok(Some(Finding { path, what, quarantined: None }));
            }
            locked => locked?,
        };
        let now = fs::symlink_metadata(&path).ok().map(|metadata| Stat::from(&metadata));
        if now.is_none() || seen.is_some() && now != seen {
            return Ok(None);
        }
        self.set_aside(path, what).map(Some)
    }

    /// Moves the objects that were written since the snapshot `before` to the quarantine, so that they are made again. All that
    /// differ are hashed, since the process that wrote may have set the seal back.
    ///
    /// # Errors
    /// The system refuses.
    pub fn quarantine_rewritten(&self, before: &OutputSnapshot) -> Result<()> {
        for path in before.changed_paths()? {
            let (Some(digest), Ok(metadata)) = (layout::digest_of_path(path), fs::symlink_metadata(path)) else {
                continue;
            };
            let what = match metadata.is_file().then(|| hash_own_file(path)) {
                Some(Ok(found)) if found == digest => continue,
                Some(Ok(found)) => format!("was changed: its content has the digest {found}"),
                Some(Err(error)) => format!("cannot be checked: {error}"),
                None => "is not a plain file".to_owned(),
            };
            self.quarantine_corrupt(&Corruption::of(path.to_owned(), Some(Stat::from(&metadata)), what))?;
        }
        Ok(())
    }

    /// Sees that the objects of a stamp are what their names say. To be asked after the stamp was taken: a change that comes
    /// later shows by the next stamp.
    ///
    /// # Errors
    /// One is gone or damaged, or the system cannot tell.
    pub fn verify_intact(&self, stamp: &OutputSnapshot, outside: &DigestCache) -> Result<()> {
        for path in stamp.objects() {
            let Some(digest) = layout::digest_of_path(path) else { continue };
            match self.object_state(&digest, None, outside)? {
                ObjectState::Intact => {}
                // The content of a file from outside need not be in the store.
                ObjectState::Gone if stamp.is_of_outside() => {}
                ObjectState::Gone => {
                    return Err(FileError::Missing { path: path.to_owned(), what: "is not in the store".into() });
                }
                ObjectState::Damaged(damage) => return Err(FileError::damaged(path, format!("it {}", damage.what))),
            }
        }
        Ok(())
    }
}

impl Corruption {
    /// What was found wrong, in words, with the file at `path` that was seen there before, if that is known.
    pub(super) fn of(path: PathBuf, seen: Option<Stat>, what: String) -> Corruption {
        Corruption { path, seen, what }
    }
}
