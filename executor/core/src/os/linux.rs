//! Linux: `/proc`, control groups, pidfd, subreapers.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open, set_child_subreaper};

/// The bytes in one unit of `ru_maxrss`.
pub const PEAK_MEMORY_UNIT: u64 = 1024;

/// Returns the children of a process, of all its threads.
pub fn children(of: Pid) -> Vec<Pid> {
    let folder = format!("/proc/{}/task", of.as_raw_nonzero());
    let tasks = fs::read_dir(folder).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let text: String = lists.collect();
    text.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// Returns true if a process runs here. A zombie, which waits only for its parent to notice, does not.
pub fn is_running(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
    // The name, in parentheses, may hold anything.
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}

/// Makes this process the parent of every process below it whose own parent ends, however deep it is and whatever its
/// process group.
///
/// # Errors
/// A system call fails.
pub fn become_subreaper() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Sleeps until the child changes state or 50 ms are over, so that short commands cost no polling delay.
pub fn wait_briefly_for(child: Pid) {
    match pidfd_open(child, PidfdFlags::empty()) {
        Ok(descriptor) => {
            let timeout = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
            let _ = poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&timeout));
        }
        Err(_) => std::thread::sleep(Duration::from_millis(20)),
    }
}

/// Returns the bytes of anonymous and shared memory that a process holds, in memory or swapped out. What it shares with others
/// counts in full.
pub fn held_memory(process: Pid) -> Option<u64> {
    kilobytes(&format!("/proc/{}/status", process.as_raw_nonzero()), &["RssAnon:", "RssShmem:", "VmSwap:"])
}

/// Returns the bytes that a process holds, with shared memory divided among its users. This takes longer than [`held_memory`].
pub fn proportional_memory(process: Pid) -> Option<u64> {
    kilobytes(&format!("/proc/{}/smaps_rollup", process.as_raw_nonzero()), &["Pss_Anon:", "Pss_Shmem:", "SwapPss:"])
}

/// Returns the bytes of memory of this machine: the smaller of the machine's and the control group's.
pub fn total_memory() -> Option<u64> {
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    kilobytes("/proc/meminfo", &["MemTotal:"]).into_iter().chain(group).min()
}

/// Returns the number of NVIDIA GPUs, by their files in `/dev`.
pub fn gpu_count() -> usize {
    let files = fs::read_dir("/dev").into_iter().flatten().flatten();
    files.filter(|file| is_gpu(&file.file_name().to_string_lossy())).count()
}

/// Returns true for `nvidia3`, and false for the driver's other files, such as `nvidiactl`.
fn is_gpu(name: &str) -> bool {
    name.strip_prefix("nvidia").is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Returns the sum of these numbers of kilobytes in a file, in bytes, or nothing if the first is missing.
fn kilobytes(path: &str, names: &[&str]) -> Option<u64> {
    let numbers = numbers(Path::new(path));
    numbers.get(*names.first()?)?;
    Some(names.iter().filter_map(|name| numbers.get(*name)).sum::<u64>() * 1024)
}

/// Returns the numbers in a file that has one a line, each by the word before it.
fn numbers(path: &Path) -> HashMap<String, u64> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let number = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    text.lines().filter_map(number).collect()
}

/// Returns the number of processes that the kernel has killed for lack of memory: on this machine, and in this process's control
/// group. For comparison with an earlier number, nothing else.
pub fn out_of_memory_kills() -> u64 {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        Some(match controllers {
            "" => Path::new("/sys/fs/cgroup").join(group).join("memory.events"),
            "memory" => Path::new("/sys/fs/cgroup/memory").join(group).join("memory.oom_control"),
            _ => return None,
        })
    });
    let kills = own.chain(["/proc/vmstat".into()]).filter_map(|path| numbers(&path).remove("oom_kill"));
    kills.fold(0, u64::saturating_add)
}

/// Returns the path of the running program. It stays valid if the file was replaced by a rebuild.
pub fn current_exe() -> PathBuf {
    let link = Path::new("/proc/self/exe");
    if link.exists() { link.to_owned() } else { std::env::current_exe().unwrap_or_else(|_| "cwm".into()) }
}

/// Sends all that was changed in the file system of an open folder to the disk for good.
///
/// # Errors
/// An operation on the disk fails.
pub fn sync_file_system(folder: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(folder)?)
}

/// Exchanges the names of two files or folders of one file system, in one instant.
///
/// # Errors
/// The file system cannot, or one of them is missing.
pub fn exchange_names(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Returns true if `path` is in the folder of `/proc` that lists the open descriptors of this process.
pub fn is_in_descriptor_folder(path: &Path) -> bool {
    path.starts_with("/proc/self/fd")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_have_numbers() {
        let files = ["null", "nvidia3", "nvidiactl", "nvidia-uvm", "nvidia10", "nvidia", "xnvidia0"];
        let gpus = files.into_iter().filter(|file| is_gpu(file));
        assert_eq!(gpus.collect::<Vec<_>>(), ["nvidia3", "nvidia10"]);
    }
}
