//! All processes that one process started, directly or not, also when the one in between has ended.

use std::io::Write;

use cwm_core::os::{self, children};
use rustix::fs::{FileType, fstat};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_current_process_group, kill_process, wait};

/// All that a process started and that still runs, the process itself aside. Where a process ended before those that it
/// started, they are found if `root` adopts ([`os::become_subreaper`]).
pub fn descendants(root: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut pending = children(root);
    while let Some(next) = pending.pop() {
        if !found.contains(&next) {
            pending.extend(children(next));
            found.push(next);
        }
    }
    found
}

/// Kills all that a process started, also what is started meanwhile. Nobody is waited for.
pub fn kill_descendants(root: Pid) {
    // Processes that are started before the signal arrives are found in the next round.
    for _ in 0..50 {
        let left: Vec<Pid> = descendants(root).into_iter().filter(|process| os::is_running(*process)).collect();
        if left.is_empty() {
            return;
        }
        for process in left {
            let _ = kill_process(process, Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Kills all that this process started, and this process with its group.
pub fn kill_self() {
    kill_descendants(getpid());
    let _ = kill_current_process_group(Signal::KILL);
}

/// Watches standard input, which the executor holds open: when it closes, the executor is gone, and this process group
/// is killed, with all that it started, in whatever group that is. (No parent-death signal: that one fires when a
/// *thread* of the parent ends.) Under a batch system there is no executor to watch, and standard input is not a pipe;
/// then nothing is watched.
pub fn end_with_parent() {
    if fstat(std::io::stdin()).is_ok_and(|stdin| FileType::from_raw_mode(stdin.st_mode).is_fifo()) {
        std::thread::spawn(|| {
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            kill_self();
        });
    }
}

/// Requests the processes of a command to stop, but those in `terminated`, which were requested before; adds them to these.
pub fn request_stop(terminated: &mut Vec<Pid>) {
    for process in descendants(getpid()) {
        if !terminated.contains(&process) {
            terminated.push(process);
            let _ = kill_process(process, Signal::TERM);
        }
    }
}

/// Waits, after a command's shell has ended, until no child is left. If there are `terminated` ones, it also stops
/// those that the shell started meanwhile. Only where this process has no children but a command's.
pub fn wait_for_children(terminated: &mut Vec<Pid>) {
    loop {
        let options = if terminated.is_empty() { WaitOptions::empty() } else { WaitOptions::NOHANG };
        match wait(options) {
            Ok(None) => {
                request_stop(terminated);
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            Err(error) if error != rustix::io::Errno::INTR => return,
            _ => {}
        }
    }
}

/// Kills all that a command left running, and waits until it has ended; `with_note` adds a line to the log. Only where this process
/// has no children but a command's.
pub fn kill_orphans(with_note: bool) {
    if with_note && descendants(getpid()).into_iter().any(os::is_running) {
        let _ = writeln!(std::io::stderr(), "the command left processes in the background; they are killed");
    }
    kill_descendants(getpid());
    wait_for_children(&mut Vec::new());
}

/// Bytes that a process and all that it started hold together: anonymous and shared memory, in memory or swapped out, and
/// no mapped files, which the kernel takes back when it needs room. What several of them share counts once.
pub fn memory(root: Pid, more_than: u64) -> u64 {
    let processes: Vec<Pid> = descendants(root).into_iter().chain([root]).collect();
    let sum = |of: &dyn Fn(Pid) -> u64| processes.iter().map(|process| of(*process)).fold(0, u64::saturating_add);
    // Cheap, and never less than what is held, since shared memory counts once for each.
    let at_most = sum(&|process| os::held_memory(process).unwrap_or(0));
    if at_most <= more_than {
        return at_most;
    }
    sum(&|process| os::proportional_memory(process).or_else(|| os::held_memory(process)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_family_is_found_measured_and_ended() {
        // The inner one holds 20 MB, and for a while a copy of it; `cat` ends when this test does: it reads
        // the test's pipe, which is not standard input of a command in the background. A shell becomes its last command, so that
        // is another.
        let script = "exec 3<&0; sh -c 'x=$(head -c 20000000 /dev/zero | tr \"\\0\" x); echo held; cat <&3; :' & echo started; wait";
        let mut shell = Command::new("sh");
        let mut shell = shell.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let root = Pid::from_child(&shell);
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(shell.stdout.take().unwrap()));
        assert!(lines.by_ref().map(Result::unwrap).any(|line| line == "held"));
        assert!(!descendants(root).is_empty());
        // Linux counts pages per CPU, and adds the counts up late: a little may be missing.
        for more_than in [0, u64::MAX] {
            let held = memory(root, more_than);
            assert!((18_000_000..400_000_000).contains(&held), "{held} of more than {more_than}");
        }
        kill_descendants(root);
        // On a busy machine a killed process takes a while to end.
        let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while descendants(root).into_iter().any(os::is_running) {
            assert!(std::time::Instant::now() < end, "a killed process still runs");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        shell.wait().unwrap();
        assert!(!os::is_running(root));
    }
}
