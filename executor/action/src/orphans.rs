//! The processes that a command leaves running when its shell has ended.

use std::io::Write;

use cwm_core::os;
use rustix::process::{Signal, WaitOptions, getpgid, getpgrp, getpid, kill_current_process_group, kill_process, wait};

use super::process_tree;

/// Asks all that a command consists of to stop. Under an executor most of it shares this process's group, in which this
/// process itself only notes the signal; elsewhere the group is not ours to signal.
pub fn ask_to_stop() {
    let group = getpgrp();
    let group_is_ours = group == getpid();
    if group_is_ours {
        let _ = kill_current_process_group(Signal::TERM);
    }
    for process in process_tree::descendants(getpid()) {
        if !(group_is_ours && getpgid(Some(process)) == Ok(group)) {
            let _ = kill_process(process, Signal::TERM);
        }
    }
}

/// Waits until no child is left. Only where this process has no children but a command's.
pub fn await_all() {
    while !matches!(wait(WaitOptions::empty()), Err(error) if error != rustix::io::Errno::INTR) {}
}

/// Kills every child that is left, and theirs in turn; `with_note` adds a line to the log. Only where this process has no children
/// but a command's.
pub fn kill_all(with_note: bool) {
    let mut reported = !with_note;
    loop {
        match wait(WaitOptions::NOHANG) {
            // One is gone; its children are ours now.
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => {
                let left = os::children(getpid());
                if !std::mem::replace(&mut reported, true) {
                    let _ =
                        writeln!(std::io::stderr(), "the command left processes in the background; they are killed");
                }
                if left.is_empty() {
                    // This kernel does not list them.
                    return;
                }
                for child in left {
                    let _ = kill_process(child, Signal::KILL);
                }
                let _ = wait(WaitOptions::empty());
            }
            Err(_) => return,
        }
    }
}
