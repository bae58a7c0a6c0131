//! The process of one action, seen from the executor.

use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;

use cwm_contract::Resources;

use crate::digest::Key;
use crate::error::Error;
use crate::exec::Line;

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
        resources: &Resources,
        visible: Option<&[String]>,
        messages: Sender<M>,
    ) -> Result<Self, Error> {
        let mut command = Command::new(own_binary());
        command
            .arg0("cwm")
            .arg("exec")
            .arg(key.to_string())
            .arg("--store")
            .arg(store)
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

    /// Kills it and all that it started.
    pub fn kill(&self) {
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

fn own_binary() -> std::path::PathBuf {
    let linux = Path::new("/proc/self/exe");
    if linux.exists() { linux.to_owned() } else { std::env::current_exe().unwrap_or_else(|_| "cwm".into()) }
}

/// How a process ended that did not tell: in words. `out_of_memory` is whether the kernel killed for memory meanwhile.
pub fn describe_end(status: &std::io::Result<ExitStatus>, out_of_memory: bool) -> (String, Option<String>) {
    match status {
        Err(error) => (format!("its process was lost: {error}"), None),
        Ok(status) => match status.signal() {
            Some(libc::SIGKILL) if out_of_memory => (
                "killed by the kernel: out of memory".into(),
                Some("give it more memory, declare its `needs: { memory: … }`, or use fewer `--jobs`".into()),
            ),
            Some(libc::SIGKILL) => (
                "killed (signal 9)".into(),
                Some("somebody or something killed its process; `cwm run` goes on from there".into()),
            ),
            Some(signal @ (libc::SIGTERM | libc::SIGINT | libc::SIGHUP)) => (
                format!("its process was stopped from outside: signal {signal} ({})", signal_name(signal)),
                Some("`cwm run` goes on from there".into()),
            ),
            Some(signal) => (
                format!("its process crashed: signal {signal} ({})", signal_name(signal)),
                Some("this is a mistake in cwm or a library; please report it with the log".into()),
            ),
            None => (format!("its process ended with status {} without a word", status.code().unwrap_or(-1)), None),
        },
    }
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

/// How often the kernel has killed for want of memory on this machine so far.
pub fn out_of_memory_kills() -> u64 {
    let count = |path: &str| {
        let text = std::fs::read_to_string(path).ok()?;
        let line = text.lines().find(|line| line.starts_with("oom_kill "))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    count("/proc/vmstat").unwrap_or(0) + count("/sys/fs/cgroup/memory.events").unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_end_is_told_in_words() {
        let ended = |raw| describe_end(&Ok(ExitStatus::from_raw(raw)), false).0;
        assert_eq!(ended(libc::SIGSEGV), "its process crashed: signal 11 (segmentation fault)");
        assert_eq!(ended(libc::SIGKILL), "killed (signal 9)");
        assert_eq!(ended(libc::SIGTERM), "its process was stopped from outside: signal 15 (terminated)");
        assert_eq!(ended(101 << 8), "its process ended with status 101 without a word");
        let killed = describe_end(&Ok(ExitStatus::from_raw(libc::SIGKILL)), true);
        assert_eq!(killed.0, "killed by the kernel: out of memory");
    }
}
