//! A stage's process ends with its executor.

use std::io::Read;

use super::process_tree;

/// Watches standard input, which the executor holds open: when it closes, the executor is gone, and this process group
/// is killed, with all that it started, in whatever group that is. (No parent-death signal: that one fires when a *thread* of the parent ends.) Under a batch system there
/// is no executor to watch, and standard input is not a pipe; then nothing is watched.
pub fn watch() {
    let stdin = std::io::stdin();
    if !is_pipe() {
        return;
    }
    std::thread::spawn(move || {
        let mut stdin = stdin.lock();
        let mut buffer = [0; 64];
        while matches!(stdin.read(&mut buffer), Ok(n) if n > 0) {}
        process_tree::kill_self();
    });
}

fn is_pipe() -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata("/dev/stdin").is_ok_and(|metadata| metadata.file_type().is_fifo())
}
