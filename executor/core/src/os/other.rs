//! Any other POSIX system: a portable way where there is one, and otherwise a plain error, or nothing found.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};

/// The bytes in one unit of `ru_maxrss`.
pub const PEAK_MEMORY_UNIT: u64 = if cfg!(target_vendor = "apple") { 1 } else { 1024 };

/// Returns no children of a process, since this system does not list them.
pub fn children(_of: Pid) -> Vec<Pid> {
    Vec::new()
}

/// Returns true if a process of this number is there. A zombie counts as one.
pub fn is_running(process: Pid) -> bool {
    matches!(test_kill_process(process), Ok(()) | Err(rustix::io::Errno::PERM))
}

/// Makes this process the parent of every process below it whose own parent ends: not supported here.
///
/// # Errors
/// Always.
pub fn become_subreaper() -> io::Result<()> {
    let words = "not supported on this system; stages that run commands need Linux";
    Err(io::Error::new(io::ErrorKind::Unsupported, words))
}

/// Sleeps for a moment in which the child may change state.
pub fn wait_briefly_for(_child: Pid) {
    std::thread::sleep(Duration::from_millis(20));
}

/// Returns the bytes of memory that a process holds: unknown here.
pub fn held_memory(_process: Pid) -> Option<u64> {
    None
}

/// Returns the bytes of memory that a process holds, with shared memory divided among its users: unknown here.
pub fn proportional_memory(_process: Pid) -> Option<u64> {
    None
}

/// Returns the bytes of memory of this machine.
pub fn total_memory() -> Option<u64> {
    // SAFETY: sysconf only reads, and returns -1 for what the system does not have.
    let number = |name| u64::try_from(unsafe { libc::sysconf(name) }).ok();
    number(libc::_SC_PHYS_PAGES)?.checked_mul(number(libc::_SC_PAGESIZE)?)
}

/// Returns 0 as the number of NVIDIA GPUs: unknown here.
pub fn gpu_count() -> usize {
    0
}

/// Returns 0 as the number of processes that the kernel has killed for lack of memory, which is unknown: no two calls differ.
pub fn out_of_memory_kills() -> u64 {
    0
}

/// Returns the path of the running program.
pub fn current_exe() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "cwm".into())
}

/// Sends all that was changed in an open folder to the disk for good. The rest of its file system is not waited for.
///
/// # Errors
/// An operation on the disk fails.
pub fn sync_file_system(folder: &File) -> io::Result<()> {
    folder.sync_all()
}

/// Exchanges the names of two files or folders in one instant: not supported here.
///
/// # Errors
/// Always.
pub fn exchange_names(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "not supported on this system"))
}

/// Returns false: this system has no `/proc` that lists the open descriptors of this process.
pub fn is_in_descriptor_folder(_path: &Path) -> bool {
    false
}
