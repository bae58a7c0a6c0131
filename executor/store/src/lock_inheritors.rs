//! Who still has a lock whose taker has ended: what a command left running, which inherited it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether a process of this number runs here; a zombie does not.
pub(super) fn is_running(pid: u32) -> bool {
    // The name, in brackets, may hold anything.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z')))
}

/// The first process here that has the file `lock` open, other than this one: its number and its command line.
pub(super) fn of(lock: &Path) -> Option<(u32, String)> {
    let wanted = fs::metadata(lock).ok().map(|metadata| (metadata.dev(), metadata.ino()))?;
    let pids = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut pids: Vec<u32> = pids.filter(|pid| *pid != std::process::id()).collect();
    pids.sort_unstable();
    let has_it = |pid: &u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        // Through the link, since a lock's file may be known under several paths.
        open.filter(|entry| fs::read_link(entry.path()).is_ok_and(|path| path.file_name() == lock.file_name()))
            .filter_map(|entry| fs::metadata(entry.path()).ok())
            .any(|metadata| (metadata.dev(), metadata.ino()) == wanted)
    };
    let pid = pids.into_iter().find(has_it)?;
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).replace('\0', " ");
    Some((pid, words.trim().chars().take(60).collect()))
}
