//! What the file system says about a file, and a digest that was right when it said so.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::files::Files;
use crate::digest::Digest;
use crate::store::{Result, StoreError};

/// What changes when a file changes. Times are nanoseconds since 1970 (wrapping far outside our time).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// When its content was last set.
    pub mtime_ns: i64,
    /// When anything about it was last set; nobody can set it back.
    pub ctime_ns: i64,
    /// Which file it is.
    pub inode: u64,
    /// On which device.
    pub device: u64,
}

impl Stat {
    /// Looks at `path`, through links.
    ///
    /// # Errors
    /// It is not there, or is not a plain file.
    pub fn of(path: &Path) -> Result<Stat> {
        let metadata = std::fs::metadata(path).map_err(StoreError::io("look at", path))?;
        if !metadata.is_file() {
            return Err(StoreError::refused(path, "is not a plain file", "name a file, not a folder or a device"));
        }
        Ok(Stat::from(&metadata))
    }

    /// Whether a change in this instant could leave the same times: the clocks of file systems are coarse. True also
    /// for times in the future.
    pub fn is_young(&self, now: SystemTime, settled_after: Duration) -> bool {
        let newest = self.mtime_ns.max(self.ctime_ns);
        let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        now < u128::from(newest.max(0).unsigned_abs()) + settled_after.as_nanos()
    }
}

impl From<&Metadata> for Stat {
    fn from(metadata: &Metadata) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(rest);
        Stat {
            size: metadata.len(),
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
        }
    }
}

/// A file as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Absolute.
    pub path: PathBuf,
    /// What the file system said.
    pub stat: Stat,
    /// Of its content.
    pub digest: Digest,
    /// Whether the file was old enough, when it was hashed, for `stat` to prove the content.
    pub settled: bool,
}

impl Snapshot {
    /// Whether the file still has this content: for "an input that changed while a stage ran makes that run
    /// unrecorded". Reads the file only where the file system's word is not enough; a file that was touched but has
    /// the same content is still the same, one that is gone is not.
    ///
    /// # Errors
    /// The file is there but cannot be read.
    pub fn still_the_same(&self) -> Result<bool> {
        match Stat::of(&self.path) {
            Ok(stat) if stat == self.stat && self.settled => Ok(true),
            Ok(stat) if stat.size != self.stat.size => Ok(false),
            Ok(_) => Ok(Files::without_cache().snapshot(&self.path)?.digest == self.digest),
            Err(error) if error.trouble() == crate::store::Trouble::Missing => Ok(false),
            Err(error) => Err(error),
        }
    }
}
