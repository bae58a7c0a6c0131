//! The processes of a run, as `/proc` tells, and ending them.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Children of all threads of a process.
pub fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.collect::<String>().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// All that a process started, and what that started.
pub fn descendants(pid: u32) -> Vec<u32> {
    let mut found = children(pid);
    let mut next = 0;
    while next < found.len() {
        found.extend(children(found[next]));
        next += 1;
    }
    found
}

/// The key that a process works on, if it is `cwm exec KEY`.
pub fn key_of(pid: u32) -> Option<String> {
    let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut words = words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    words.find(|word| word == "exec")?;
    words.find(|word| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns true if a process runs and does not only wait to be reaped.
pub fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z')))
}

/// `kill -9`; false if there was nobody.
pub fn kill(pid: u32) -> bool {
    Pid::from_raw(pid as i32).is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

/// Waits until no process is left whose current folder is below `folder`; those that stay for half a minute.
pub fn strays(folder: &Path) -> Vec<u32> {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let here = below(folder);
        if here.is_empty() || Instant::now() > end {
            return here;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn below(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    // A zombie has no current folder.
    ids.filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|place| place.starts_with(folder))).collect()
}
