//! The metadata of a file.

use std::fs::Metadata;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::AtFlags;
use serde::{Deserialize, Serialize};

use super::error::{FileError, Result};

/// The metadata that change when a file changes. Times are nanoseconds since 1970 (wrapping far outside our time).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// The time at which its content was last set.
    pub mtime_ns: i64,
    /// The time at which anything about it was last set; nobody can set it back.
    pub ctime_ns: i64,
    /// The number of the file.
    pub inode: u64,
    /// The number of its device.
    pub device: u64,
}

impl Stat {
    /// Looks at `path`, through links.
    ///
    /// # Errors
    /// It is not there, or is not a plain file.
    pub fn of(path: &Path) -> Result<Stat> {
        let metadata = std::fs::metadata(path).map_err(FileError::io("read", path))?;
        if !metadata.is_file() {
            return Err(FileError::rejected(path, "is not a plain file", "name a file, not a folder or a device"));
        }
        Ok(Stat::from(&metadata))
    }

    /// Looks at `name` in an open folder, and not through a link at its end. A path from the root takes twice as long to follow.
    ///
    /// # Errors
    /// It is not there.
    pub fn in_folder(folder: impl AsFd, name: &str) -> std::io::Result<Stat> {
        let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Stat {
            size: found.st_size as u64,
            mtime_ns: nanoseconds(found.st_mtime, found.st_mtime_nsec as i64),
            ctime_ns: nanoseconds(found.st_ctime, found.st_ctime_nsec as i64),
            inode: found.st_ino,
            device: found.st_dev,
        })
    }

    /// Returns true if a change in this instant could leave the same times: the clocks of file systems are coarse, by up to two
    /// seconds. True also for times in the future.
    pub fn modified_recently(&self, now: SystemTime) -> bool {
        const STABLE_AFTER: Duration = Duration::from_secs(2);
        let newest = self.mtime_ns.max(self.ctime_ns);
        let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        now < u128::from(newest.max(0).unsigned_abs()) + STABLE_AFTER.as_nanos()
    }
}

impl From<&Metadata> for Stat {
    fn from(metadata: &Metadata) -> Self {
        Stat {
            size: metadata.len(),
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
        }
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.wrapping_mul(1_000_000_000).wrapping_add(rest)
}
