//! A process group that ends with this process.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

/// The guard's script: when its input closes, it kills its whole group, itself included.
const GUARD: &str = "read line; kill -KILL 0";

/// A process group with a guard: a shell that waits until this process has ended, however it ended, and then kills the
/// group. So what an engine started itself ends as well, on every POSIX system. (No parent-death signal: that one fires
/// when a *thread* of the parent ends, and reaches the engine alone.)
pub struct Group {
    /// The leader of the group. Its input is open as long as this process lives, and nothing is written to it.
    guard: Child,
}

impl Group {
    /// Starts the guard of a new group.
    ///
    /// # Errors
    /// There is no shell, or no process can be started.
    pub fn new() -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", GUARD]).env_clear().process_group(0);
        let guard = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Group { guard })
    }

    /// The id of the guard.
    #[cfg(test)]
    pub fn id(&self) -> u32 {
        self.guard.id()
    }

    /// Makes the process of this command a member.
    pub fn add(&self, command: &mut Command) {
        // Ids of processes fit.
        command.process_group(i32::try_from(self.guard.id()).unwrap_or_default());
    }

    /// Kills all members, the guard included. The id is the group's own until the guard is waited for.
    pub fn kill(&self) {
        let _ = kill_process_group(Pid::from_child(&self.guard), Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        let _ = self.guard.wait();
    }
}
