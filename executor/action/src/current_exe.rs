//! The program that is running.

use std::path::{Path, PathBuf};

/// The path of the running program. On Linux it stays valid if the file was replaced by a rebuild.
pub fn current_exe() -> PathBuf {
    let linux = Path::new("/proc/self/exe");
    if linux.exists() { linux.to_owned() } else { std::env::current_exe().unwrap_or_else(|_| "cwm".into()) }
}
