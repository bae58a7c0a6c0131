//! What a command leaves running when its shell has ended.

use std::io::Write;

use cwm_contract::Failure;
use rustix::process::{Pid, WaitOptions, wait};

/// From now on, processes whose parents end become children of this one, however deep they are and whatever their
/// process group.
///
/// # Errors
/// The system refuses.
pub fn adopt() -> Result<(), Failure> {
    // SAFETY: sets an attribute of this process and touches no memory.
    match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) } {
        0 => Ok(()),
        _ => Err(Failure::system(format!("cannot adopt processes: {}", std::io::Error::last_os_error()))),
    }
}

/// Asks `child`, and all that it started, to stop. Under an executor they share this process's group, in which this
/// process itself only notes the signal; elsewhere the group is not ours to signal.
pub fn ask_to_stop(child: libc::pid_t) {
    // SAFETY: signals a child that has not been waited for, or our own group; touches no memory.
    unsafe {
        let group_is_ours = libc::getpgrp() == libc::getpid();
        libc::kill(if group_is_ours { 0 } else { child }, libc::SIGTERM);
    }
}

/// Waits until no child is left. Only where this process has no children but a command's.
pub fn await_all() {
    while !matches!(wait(WaitOptions::empty()), Err(error) if error != rustix::io::Errno::INTR) {}
}

/// Kills every child that is left, and theirs in turn. Only where this process has no children but a command's.
pub fn kill_all() {
    let mut told = false;
    loop {
        match wait(WaitOptions::NOHANG) {
            // One is gone; its children are ours now.
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => {
                let left = children();
                if !std::mem::replace(&mut told, true) {
                    let _ =
                        writeln!(std::io::stderr(), "the command left processes in the background; they are killed");
                }
                if left.is_empty() {
                    // This kernel does not tell who they are.
                    return;
                }
                for child in left {
                    let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
                }
                let _ = wait(WaitOptions::empty());
            }
            Err(_) => return,
        }
    }
}

/// Children of all threads of this process.
fn children() -> Vec<Pid> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let text: String = lists.collect();
    text.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}
