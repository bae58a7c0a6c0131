//! The processes that a command leaves running when its shell has ended.

use std::io::Write;

use cwm_core::os;
use rustix::process::{Signal, WaitOptions, getpid, kill_process, wait};

use super::process_tree;

/// Requests all processes of a command to stop.
pub fn request_stop() {
    for process in process_tree::descendants(getpid()) {
        let _ = kill_process(process, Signal::TERM);
    }
}

/// Waits until no child is left. Only where this process has no children but a command's.
pub fn wait_for_children() {
    while !matches!(wait(WaitOptions::empty()), Err(error) if error != rustix::io::Errno::INTR) {}
}

/// Kills all that is left, and waits until it has ended; `with_note` adds a line to the log. Only where this process has no children
/// but a command's.
pub fn kill_all(with_note: bool) {
    if with_note && process_tree::descendants(getpid()).into_iter().any(os::is_running) {
        let _ = writeln!(std::io::stderr(), "the command left processes in the background; they are killed");
    }
    process_tree::kill_descendants(getpid());
    wait_for_children();
}
