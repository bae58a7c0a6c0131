//! Damage: objects whose content does not have the digest that names them, and the quarantine for everything that is found damaged.
//!
//! An object that bears its [seal](super::mtime_seal), and of which nothing was set since its result was recorded, was
//! not written since it was stored. Any other is hashed before it is read, as an external file, and its digest is
//! cached as those are.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::Store;
use super::hashing::hash_own_file;
use super::locks;
use super::mtime_seal;
use super::walk::metadata;
use crate::external_files::DigestCache;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, FileErrorKind, Stat};

/// Something that is wrong in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Defect {
    /// Its path.
    pub path: PathBuf,
    /// The problem, worded to follow the path in a message.
    pub what: String,
    /// The path that it was moved to. Nothing if it is not there or may stay, and on a store that cannot be written.
    pub quarantined: Option<PathBuf>,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path.display(), self.what)?;
        match &self.quarantined {
            Some(place) => write!(f, "; moved to {}", place.display()),
            None => Ok(()),
        }
    }
}

impl Defect {
    /// Creates a finding about something that stays where it is.
    pub fn new(path: PathBuf, what: impl Into<String>) -> Defect {
        Defect { path, what: what.into(), quarantined: None }
    }
}

/// The depth of a check of an object.
#[derive(Clone, Copy)]
pub(super) enum Check<'a> {
    /// Checks that the object is there, with the right size.
    Size,
    /// Also checks that it bears its seal and was not changed after this time (in nanoseconds since 1970). If not, its
    /// content is hashed, unless the cache has its digest.
    Seal(&'a DigestCache, i64),
    /// Compares the hash of the content.
    Hash,
}

/// The outcome of a check of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ObjectState {
    Intact,
    Missing,
    Damaged(Damage),
}

/// The damage of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub(super) path: PathBuf,
    /// The metadata of the file that was checked, if they are known: another may have been put in its place since.
    pub(super) stat: Option<Stat>,
    /// The problem, worded to follow the path in a message.
    pub(super) what: String,
}

impl Store {
    /// Checks an object, which has `size` bytes if that is known.
    ///
    /// # Errors
    /// A system call fails.
    pub(super) fn object_state(&self, digest: &Digest, size: Option<u64>, check: Check) -> Result<ObjectState> {
        let path = self.object_path(digest);
        let Some(metadata) = metadata(&path)? else { return Ok(ObjectState::Missing) };
        let stat = Stat::from(&metadata);
        let found = match check {
            _ if !metadata.is_file() => Err("is not a plain file".to_owned()),
            _ if size.is_some_and(|size| size != stat.size) => {
                Err(format!("has {} bytes in place of {}", stat.size, size.unwrap_or_default()))
            }
            Check::Size => return Ok(ObjectState::Intact),
            Check::Seal(_, time) if stat.ctime_ns <= time && mtime_seal::has_valid_seal(digest, stat.mtime_ns) => {
                return Ok(ObjectState::Intact);
            }
            Check::Seal(cache, _) => compare_content(digest, cache.digest(&path)),
            Check::Hash => compare_content(digest, hash_own_file(&path)),
        };
        Ok(match found {
            Ok(state) => state,
            Err(what) => ObjectState::Damaged(Damage { path, stat: Some(stat), what }),
        })
    }

    /// Locks the replacing and quarantining of objects and trees, so that a damaged one is not replaced by an intact one just
    /// before it is moved away. Nothing is locked where there is none yet.
    pub(super) fn lock_replacing(&self, object: &Path) -> Result<Option<File>> {
        if fs::symlink_metadata(object).is_err() {
            return Ok(None);
        }
        locks::wait_for(&self.lock_path("objects")).map(Some)
    }

    /// Moves a damaged object to the quarantine, if the store can be written; returns nothing if another file is in its place by
    /// now.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn quarantine_damaged(&self, damage: &Damage) -> Result<Option<Defect>> {
        let Damage { path, stat, what } = damage.clone();
        let _lock = match self.lock_replacing(&path) {
            Err(error) if matches!(error.kind(), FileErrorKind::ReadOnly | FileErrorKind::Missing) => {
                return Ok(Some(Defect::new(path, what)));
            }
            lock => lock?,
        };
        let now = fs::symlink_metadata(&path).ok().map(|metadata| Stat::from(&metadata));
        if now.is_none() || stat.is_some() && now != stat {
            return Ok(None);
        }
        self.quarantine(path, what).map(Some)
    }

    /// Moves something damaged to the quarantine, if the store can be written.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn quarantine(&self, path: PathBuf, what: String) -> Result<Defect> {
        let folder = self.folder("quarantine");
        // Something else in its place is moved into it, too.
        let beside = self.root().join(".cwm-no-quarantine");
        let (source, freed) = match path == folder {
            true => (&beside, self.disk.rename(&path, &beside)),
            false => (&path, Ok(())),
        };
        let place = folder.join(self.unique_name(&path));
        let moved =
            freed.and_then(|()| self.disk.make_folders(&folder)).and_then(|()| self.disk.rename(source, &place));
        match moved.and_then(|()| self.disk.sync(&folder)) {
            Ok(()) => Ok(Defect { path, what, quarantined: Some(place) }),
            Err(error) if error.kind() == FileErrorKind::ReadOnly => Ok(Defect::new(path, what)),
            Err(error) => Err(error),
        }
    }

    /// Returns a name for something of the store that is moved to another folder: `objects-ab-cdef…`, the time and the process.
    /// Unique also among machines that share the store.
    pub(super) fn unique_name(&self, path: &Path) -> String {
        let inside = path.strip_prefix(self.root()).unwrap_or(path);
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        format!("{}-{}-{}", parts.join("-"), Timestamp::now().as_nanosecond(), std::process::id())
    }
}

/// Compares the digest of an object's content with its name; the error is the problem.
fn compare_content(digest: &Digest, content: Result<Digest>) -> Result<ObjectState, String> {
    match FileError::optional(content) {
        Ok(Some(found)) if found == *digest => Ok(ObjectState::Intact),
        Ok(Some(found)) => Err(format!("is damaged: its content has the digest {found}")),
        Ok(None) => Ok(ObjectState::Missing),
        Err(error) => Err(format!("cannot be checked: {error}")),
    }
}
