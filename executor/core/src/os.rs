//! What the operating system says about this process.

use std::path::{Path, PathBuf};

/// The path of this very program, also if it was rebuilt since it was started.
pub fn own_binary() -> PathBuf {
    let linux = Path::new("/proc/self/exe");
    if linux.exists() { linux.to_owned() } else { std::env::current_exe().unwrap_or_else(|_| "cwm".into()) }
}
