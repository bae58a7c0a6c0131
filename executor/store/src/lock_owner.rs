//! Who holds a lock, as its file says: for the words "waiting for …", and believed for nothing else.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use jiff::Timestamp;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use super::record::{host_name, timestamp};
use cwm_core::os;

/// Who holds a lock; one JSON line in the lock's file. Read only to tell whom we wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    /// Process id on its host.
    pub pid: u32,
    /// Host name.
    pub host: String,
    /// What it was asked to do: `cwm run paper.yaml`.
    pub command: String,
    /// Since when.
    #[serde(with = "timestamp")]
    pub since: Timestamp,
    /// Where that process was killed, what it left running, which keeps the lock: process id and command line.
    #[serde(skip)]
    pub heir: Option<(u32, String)>,
}

impl LockOwner {
    pub(super) fn this(command: &str) -> LockOwner {
        LockOwner {
            pid: std::process::id(),
            host: host_name(),
            command: command.to_owned(),
            since: Timestamp::now(),
            heir: None,
        }
    }

    /// Adds the process that still holds the lock of the file `path`, if the owner has ended: a background child of a command
    /// inherits the descriptor of the lock.
    pub(super) fn or_heir(self, path: &Path) -> LockOwner {
        let has_ended = self.host == host_name() && !is_running(self.pid);
        LockOwner { heir: has_ended.then(|| os::process_with_open(path)).flatten(), ..self }
    }
}

impl std::fmt::Display for LockOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.heir {
            None => write!(f, "`{}`, process {} on {}", self.command, self.pid, self.host),
            Some((pid, words)) => {
                let LockOwner { command, host, .. } = self;
                write!(f, "`{words}`, process {pid} on {host} (left running by `{command}`, which was killed)")
            }
        }
    }
}

/// Who holds the lock at `path`, if that can be told.
pub(super) fn read_lock_owner(path: &Path) -> Option<LockOwner> {
    let mut text = String::new();
    File::open(path).ok()?.take(65536).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Says who holds a lock, in its file.
pub(super) fn write_lock_owner(file: &mut File, holder: &LockOwner) -> io::Result<()> {
    let text = serde_json::to_string(holder)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("{text}\n").as_bytes())
}

/// True if a process of this number runs on this machine; a zombie does not.
fn is_running(pid: u32) -> bool {
    i32::try_from(pid).ok().and_then(Pid::from_raw).is_some_and(os::is_running)
}
