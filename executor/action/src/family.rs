//! All processes that one process started, directly or not.

use std::collections::HashMap;

use rustix::process::{Pid, Signal, kill_process};

/// The children of a process, of all its threads.
pub fn children(of: Pid) -> Vec<Pid> {
    let folder = format!("/proc/{}/task", of.as_raw_nonzero());
    let tasks = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let text: String = lists.collect();
    text.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// All that a process started and that still runs, the process itself aside. Where a process ended before those that it
/// started, they are found if `root` adopts ([`stragglers::adopt`](super::stragglers::adopt)).
pub fn descendants(root: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut front = children(root);
    while let Some(next) = front.pop() {
        if !found.contains(&next) {
            front.extend(children(next));
            found.push(next);
        }
    }
    found
}

/// Kills all that a process started, also what is started meanwhile. Nobody is waited for.
pub fn kill_descendants(root: Pid) {
    // What a process starts before the signal reaches it is found in the next round.
    for _ in 0..50 {
        let left: Vec<Pid> = descendants(root).into_iter().filter(|process| !is_ended(*process)).collect();
        if left.is_empty() {
            return;
        }
        for process in left {
            let _ = kill_process(process, Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Whether a process is gone, or waits only for its parent to notice.
fn is_ended(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
    // The name, in parentheses, may hold anything.
    stat.rsplit(')').next().is_none_or(|rest| rest.trim_start().starts_with(['Z', 'X']) || rest.is_empty())
}

/// Bytes that a process and all that it started hold together: anonymous and shared memory, in memory or swapped out, and
/// no mapped files, which the kernel takes back when it needs room. What several of them share counts once.
pub fn memory(root: Pid, more_than: u64) -> u64 {
    let family: Vec<Pid> = descendants(root).into_iter().chain([root]).collect();
    let sum = |of: &dyn Fn(Pid) -> u64| family.iter().map(|process| of(*process)).fold(0, u64::saturating_add);
    // Cheap, and never less than what is held, since shared memory counts once for each.
    let at_most = sum(&|process| kilobytes(process, "status", &["RssAnon:", "RssShmem:", "VmSwap:"]).unwrap_or(0));
    if at_most <= more_than {
        return at_most;
    }
    sum(&|process| {
        let shared_out = kilobytes(process, "smaps_rollup", &["Pss_Anon:", "Pss_Shmem:", "SwapPss:"]);
        shared_out.or_else(|| kilobytes(process, "status", &["RssAnon:", "RssShmem:", "VmSwap:"])).unwrap_or(0)
    })
}

/// The sum of these lines of a file in /proc, in bytes; nothing where the first is not there.
fn kilobytes(process: Pid, file: &str, names: &[&str]) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{}/{file}", process.as_raw_nonzero())).ok()?;
    let lines: HashMap<&str, u64> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?.parse().ok()?))
        })
        .collect();
    lines.get(names.first()?)?;
    Some(names.iter().filter_map(|name| lines.get(name)).sum::<u64>() * 1024)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_family_is_found_measured_and_ended() {
        // The inner one holds 40 MB; `cat` ends when its input does.
        let script = "sh -c 'x=$(head -c 20000000 /dev/zero | tr \"\\0\" x); echo held; cat' & echo started; wait";
        let mut shell = Command::new("sh");
        let mut shell = shell.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let root = Pid::from_child(&shell);
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(shell.stdout.take().unwrap()));
        assert!(lines.by_ref().map(Result::unwrap).any(|line| line == "held"));
        assert!(!descendants(root).is_empty());
        let held = memory(root, 0);
        assert!((20_000_000..400_000_000).contains(&held), "{held}");
        assert!(memory(root, u64::MAX) >= held / 2);
        kill_descendants(root);
        assert!(descendants(root).into_iter().all(is_ended));
        shell.wait().unwrap();
        assert!(is_ended(root));
    }
}
