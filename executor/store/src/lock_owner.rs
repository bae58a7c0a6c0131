//! The owner of a lock, as written in its file: for the message "waiting for …" and nothing else.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use super::record::host_name;
use cwm_core::os;

/// The owner of a lock; one JSON line in the lock's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    /// Process id on its host.
    pub pid: u32,
    /// Host name.
    pub host: String,
    /// Its command: `cwm run paper.yaml`.
    pub command: String,
    /// The time at which it took the lock.
    pub since: Timestamp,
    /// The lock's file, if the owner was killed: a process that it left running keeps the lock.
    #[serde(skip)]
    pub abandoned: Option<PathBuf>,
}

impl LockOwner {
    /// Writes this process as the owner of a lock into the lock's file.
    pub(super) fn write(mut file: &File, command: &str) -> io::Result<()> {
        let (pid, host, command) = (std::process::id(), host_name(), command.to_owned());
        let owner = LockOwner { pid, host, command, since: Timestamp::now(), abandoned: None };
        let text = serde_json::to_string(&owner)?;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(format!("{text}\n").as_bytes())
    }

    /// Reads the owner of the lock at `path`, if it is known. Where it has ended, a background child of a command has inherited the
    /// lock.
    pub(super) fn of(path: &Path) -> Option<LockOwner> {
        let mut text = String::new();
        File::open(path).ok()?.take(65536).read_to_string(&mut text).ok()?;
        let owner: LockOwner = serde_json::from_str(&text).ok()?;
        let process = i32::try_from(owner.pid).ok().and_then(Pid::from_raw);
        let has_ended = owner.host == host_name() && !process.is_some_and(os::is_running);
        Some(LockOwner { abandoned: has_ended.then(|| path.to_owned()), ..owner })
    }
}

impl std::fmt::Display for LockOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`, process {} on {}", self.command, self.pid, self.host)?;
        match &self.abandoned {
            None => Ok(()),
            Some(file) => write!(f, " (killed: `fuser -v {}` names the process that it left running)", file.display()),
        }
    }
}
