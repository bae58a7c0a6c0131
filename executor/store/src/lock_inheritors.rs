//! Who still has a lock whose taker has ended: what a command left running, which inherited it.

use std::path::Path;

use cwm_core::os;
use rustix::process::Pid;

/// Whether a process of this number runs here; a zombie does not.
pub(super) fn is_running(pid: u32) -> bool {
    i32::try_from(pid).ok().and_then(Pid::from_raw).is_some_and(os::is_running)
}

/// The first process here that has the file `lock` open, other than this one: its number and its command line.
pub(super) fn of(lock: &Path) -> Option<(u32, String)> {
    os::process_with_open(lock)
}
