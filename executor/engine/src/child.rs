//! Starts the process of an action, and watches it.

use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use crate::executor::{ActionRequest, Cancel};
use crate::update::{Update, UpdateSender};
use cwm_action::{ActionFailure, ActionFailureKind, describe_signal, kill_descendants, out_of_memory};
use cwm_core::{Error, Result, lock_mutex, os};
use cwm_store::Store;

/// An action that declares at most this many bytes of memory runs without huge pages. With them, the heap of each thread takes
/// megabytes: 256 connections of `answer` took 955 MB instead of 138.
const LITTLE_MEMORY: u64 = 256 << 20;

/// A running action. Dropping it closes the pipe that the process watches, and the action ends.
pub struct ActionProcess {
    /// The process, until its exit status was taken: then its id may be another's.
    child: Arc<Mutex<Option<Pid>>>,
    /// The pipe, open as long as this executor lives.
    _parent_pipe: Option<ChildStdin>,
}

impl ActionProcess {
    /// Writes the action file, and starts `cwm exec KEY` from this very program, even if it was rebuilt meanwhile, in a
    /// process group of its own. It sees these accelerators; those of this process if there is no choice.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(
        task: &ActionRequest,
        store: &Store,
        visible_devices: Option<&[String]>,
        updates: UpdateSender,
    ) -> Result<Self> {
        let work = store.attempt_folder(&task.action.key, task.options.check);
        work.write_action(&task.action)?;
        let mut command = Command::new(os::current_exe());
        command
            .arg0("cwm")
            .arg("exec")
            .arg(task.action.key.to_string())
            .arg("--store")
            .arg(store.root())
            .arg(task.options.option())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        for threads in ["RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "TOKIO_WORKER_THREADS"] {
            command.env(threads, task.action.resources.cores.to_string());
        }
        if task.action.resources.memory.is_some_and(|memory| (1..=LITTLE_MEMORY).contains(&memory)) {
            command.env("MIMALLOC_ALLOW_THP", "0");
        }
        if let Some(visible_devices) = visible_devices {
            command.env("CUDA_VISIBLE_DEVICES", visible_devices.join(","));
        }
        let out_of_memory_before = os::out_of_memory_kills();
        let mut process: Child =
            command.spawn().map_err(|error| Error::system(format!("cannot start a stage's process: {error}")))?;
        let parent_pipe = process.stdin.take();
        let stdout = process.stdout.take();
        let child = Arc::new(Mutex::new(Some(Pid::from_child(&process))));
        let (cell, watched) = (task.cell, child.clone());
        std::thread::spawn(move || {
            if let Some(stdout) = stdout {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if let Ok(line) = serde_json::from_str(&line) {
                        updates(Update::Message(cell, line));
                    }
                }
            }
            reap_process_group(Pid::from_child(&process));
            *lock_mutex(&watched) = None;
            // If its status is lost, the record in the store counts.
            let status = process.wait().unwrap_or_default();
            let exited = match status.success() {
                true => Ok(()),
                false => {
                    let was_killed_for_memory = os::out_of_memory_kills() > out_of_memory_before;
                    let logged = out_of_memory::find_in_log(&work.log(), 0);
                    Err(describe_exit(status, was_killed_for_memory, logged.as_deref()))
                }
            };
            updates(Update::Exited(cell, exited));
        });
        Ok(ActionProcess { child, _parent_pipe: parent_pipe })
    }

    /// Requests it to stop at a safe point, or kills it and all that it started, also what has left its process group.
    pub fn cancel(&self, how: Cancel) {
        // The id is the child's own as long as nobody has taken its exit status, which waits for this lock.
        let child = lock_mutex(&self.child);
        let Some(pid) = *child else { return };
        match how {
            Cancel::Stop => _ = kill_process(pid, Signal::TERM),
            Cancel::Kill => {
                kill_descendants(pid);
                let _ = kill_process_group(pid, Signal::KILL);
            }
        }
    }
}

/// Waits until the child ended, without taking its status, and ends what it left running: killed alone, it could not
/// take its command along.
fn reap_process_group(child: Pid) {
    let ended = || waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    while ended().is_err_and(|error| error == Errno::INTR) {}
    // Nobody has waited for the child, so the id is its own.
    let _ = kill_process_group(child, Signal::KILL);
}

/// Describes the exit of a process that reported no failure. `out_of_memory` is true if the kernel has killed for memory meanwhile;
/// `memory_error` is the line of its log about memory that it could not get.
fn describe_exit(status: ExitStatus, out_of_memory: bool, memory_error: Option<&str>) -> ActionFailure {
    let (kind, reason, hint) = match (status.signal(), memory_error) {
        (Some(libc::SIGKILL), _) if out_of_memory => {
            (ActionFailureKind::OutOfMemory, "killed by the kernel: out of memory".into(), Some(out_of_memory::HINT))
        }
        (Some(libc::SIGKILL), _) => {
            (ActionFailureKind::Killed, "killed (signal 9)".into(), Some("`cwm run` runs it again"))
        }
        (Some(signal @ (libc::SIGTERM | libc::SIGINT | libc::SIGHUP)), _) => (
            ActionFailureKind::Cancelled,
            format!("its process was stopped from outside: {}", describe_signal(signal)),
            Some("`cwm run` runs it again"),
        ),
        // Rust aborts then.
        (Some(libc::SIGABRT), Some(memory_error)) => {
            (ActionFailureKind::OutOfMemory, format!("out of memory: {memory_error}"), Some(out_of_memory::HINT))
        }
        (Some(signal), _) => (
            ActionFailureKind::Crash,
            format!("its process crashed: {}", describe_signal(signal)),
            Some("this is a mistake in cwm or a library; please report it with the log"),
        ),
        (None, _) => {
            let code = status.code().unwrap_or(-1);
            (ActionFailureKind::Crash, format!("its process ended with status {code} without a message"), None)
        }
    };
    ActionFailure { kind, message: reason, hint: hint.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_end_is_reported() {
        let ended = |raw| describe_exit(ExitStatus::from_raw(raw), false, None).message;
        assert_eq!(ended(libc::SIGSEGV), "its process crashed: signal 11 (SIGSEGV)");
        assert_eq!(ended(libc::SIGKILL), "killed (signal 9)");
        assert_eq!(ended(libc::SIGTERM), "its process was stopped from outside: signal 15 (SIGTERM)");
        assert_eq!(ended(101 << 8), "its process ended with status 101 without a message");
        let killed = describe_exit(ExitStatus::from_raw(libc::SIGKILL), true, None);
        assert_eq!(
            (killed.kind, killed.message.as_str()),
            (ActionFailureKind::OutOfMemory, "killed by the kernel: out of memory")
        );
        // A crash is one also where something else was killed for memory.
        assert_eq!(describe_exit(ExitStatus::from_raw(libc::SIGSEGV), true, None).kind, ActionFailureKind::Crash);
        let memory_error = "memory allocation of 8589934592 bytes failed";
        let aborted = describe_exit(ExitStatus::from_raw(libc::SIGABRT), false, Some(memory_error));
        assert_eq!(
            (aborted.kind, aborted.message),
            (ActionFailureKind::OutOfMemory, format!("out of memory: {memory_error}"))
        );
        assert_eq!(describe_exit(ExitStatus::from_raw(libc::SIGABRT), false, None).kind, ActionFailureKind::Crash);
    }
}
