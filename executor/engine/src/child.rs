//! The process of one action, seen from the executor.

use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;

use cwm_contract::Resources;

use cwm_action::{FailedKind, Line, Terms, current_exe, kill_descendants, out_of_memory};
use cwm_core::digest::Key;
use cwm_core::error::Error;

/// What a child's threads tell the engine.
pub enum ChildMessage {
    /// A line of its event stream.
    Line(usize, Line),
    /// It ended. It has not been waited for, so that its process id is still its own.
    Ended(usize, Child),
}

/// A running action. Dropping it closes the lifeline, and the action ends.
pub struct ActionProcess {
    pid: libc::pid_t,
    /// Held open as long as this executor lives.
    _lifeline: Option<ChildStdin>,
}

impl ActionProcess {
    /// Starts `cwm exec KEY` from this very binary, even if it was rebuilt meanwhile, in a process group of its own.
    /// `cell` tags its messages. It sees the accelerators `visible` alone, or what this process sees if there is no choice.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start<M: From<ChildMessage> + Send + 'static>(
        cell: usize,
        key: &Key,
        store: &Path,
        (resources, terms): (&Resources, &Terms),
        visible: Option<&[String]>,
        messages: Sender<M>,
    ) -> Result<Self, Error> {
        let mut command = Command::new(current_exe());
        command
            .arg0("cwm")
            .arg("exec")
            .arg(key.to_string())
            .arg("--store")
            .arg(store)
            .args(terms.options())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        for threads in ["RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "TOKIO_WORKER_THREADS"] {
            command.env(threads, resources.cores.to_string());
        }
        if let Some(visible) = visible {
            command.env("CUDA_VISIBLE_DEVICES", visible.join(","));
        }
        let mut child: Child =
            command.spawn().map_err(|error| Error::system(format!("cannot start a stage's process: {error}")))?;
        let pid = child.id() as libc::pid_t;
        let lifeline = child.stdin.take();
        let stdout = child.stdout.take();
        std::thread::spawn(move || {
            if let Some(stdout) = stdout {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if let Ok(line) = serde_json::from_str(&line) {
                        let _ = messages.send(M::from(ChildMessage::Line(cell, line)));
                    }
                }
            }
            end_with(pid);
            let _ = messages.send(M::from(ChildMessage::Ended(cell, child)));
        });
        Ok(ActionProcess { pid, _lifeline: lifeline })
    }

    /// Asks it to stop at a safe point.
    pub fn ask_to_stop(&self) {
        // SAFETY: sends a signal; the pid is the child's own until its end was reported and it was waited for.
        unsafe { libc::kill(self.pid, libc::SIGTERM) };
    }

    /// Kills it and all that it started, also what has left its process group.
    pub fn kill(&self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.pid) {
            kill_descendants(pid);
        }
        // SAFETY: as above, for its process group.
        unsafe { libc::kill(-self.pid, libc::SIGKILL) };
    }
}

/// Waits until the child ended, without taking its status, and ends what it left running: killed alone, it could not
/// take its command along.
fn end_with(pid: libc::pid_t) {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    if let Some(child) = Pid::from_raw(pid) {
        let ended = || waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        while ended().is_err_and(|error| error == rustix::io::Errno::INTR) {}
        // SAFETY: sends a signal to the child's process group; nobody has waited for the child, so the id is its own.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
    }
}

/// How a process ended that did not tell: in words. `out_of_memory` is whether the kernel killed for memory meanwhile,
/// `told` the line of its log that says that it could get no memory.
pub fn describe_end(
    status: &std::io::Result<ExitStatus>,
    out_of_memory: bool,
    told: Option<&str>,
) -> (FailedKind, String, Option<String>) {
    let status = match status {
        Ok(status) => status,
        Err(error) => return (FailedKind::System, format!("its process was lost: {error}"), None),
    };
    let (kind, reason, hint) = match (status.signal(), told) {
        (Some(libc::SIGKILL), _) if out_of_memory => {
            (FailedKind::OutOfMemory, "killed by the kernel: out of memory".into(), Some(out_of_memory::HINT))
        }
        (Some(libc::SIGKILL), _) => (
            FailedKind::Killed,
            "killed (signal 9)".into(),
            Some("somebody or something killed its process; `cwm run` goes on from there"),
        ),
        (Some(signal @ (libc::SIGTERM | libc::SIGINT | libc::SIGHUP)), _) => (
            FailedKind::Cancelled,
            format!("its process was stopped from outside: signal {signal} ({})", signal_name(signal)),
            Some("`cwm run` goes on from there"),
        ),
        // Rust's own way to say it.
        (Some(libc::SIGABRT), Some(told)) => {
            (FailedKind::OutOfMemory, format!("out of memory: {told}"), Some(out_of_memory::HINT))
        }
        (Some(signal), _) => (
            FailedKind::Crash,
            format!("its process crashed: signal {signal} ({})", signal_name(signal)),
            Some("this is a mistake in cwm or a library; please report it with the log"),
        ),
        (None, _) => {
            let code = status.code().unwrap_or(-1);
            (FailedKind::Crash, format!("its process ended with status {code} without a word"), None)
        }
    };
    (kind, reason, hint.map(str::to_owned))
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "segmentation fault",
        libc::SIGABRT => "abort",
        libc::SIGBUS => "bus error",
        libc::SIGILL => "illegal instruction",
        libc::SIGFPE => "arithmetic",
        libc::SIGTERM => "terminated",
        libc::SIGINT => "interrupted",
        libc::SIGHUP => "hung up",
        _ => "unexpected",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_end_is_told_in_words() {
        let ended = |raw| describe_end(&Ok(ExitStatus::from_raw(raw)), false, None).1;
        assert_eq!(ended(libc::SIGSEGV), "its process crashed: signal 11 (segmentation fault)");
        assert_eq!(ended(libc::SIGKILL), "killed (signal 9)");
        assert_eq!(ended(libc::SIGTERM), "its process was stopped from outside: signal 15 (terminated)");
        assert_eq!(ended(101 << 8), "its process ended with status 101 without a word");
        let killed = describe_end(&Ok(ExitStatus::from_raw(libc::SIGKILL)), true, None);
        assert_eq!((killed.0, killed.1.as_str()), (FailedKind::OutOfMemory, "killed by the kernel: out of memory"));
        // A crash is one also where something else was killed for memory.
        assert_eq!(describe_end(&Ok(ExitStatus::from_raw(libc::SIGSEGV)), true, None).0, FailedKind::Crash);
        let told = "memory allocation of 8589934592 bytes failed";
        let aborted = describe_end(&Ok(ExitStatus::from_raw(libc::SIGABRT)), false, Some(told));
        assert_eq!((aborted.0, aborted.1), (FailedKind::OutOfMemory, format!("out of memory: {told}")));
        assert_eq!(describe_end(&Ok(ExitStatus::from_raw(libc::SIGABRT)), false, None).0, FailedKind::Crash);
    }
}
