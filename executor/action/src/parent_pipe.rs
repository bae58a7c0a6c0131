//! A stage's process ends with its executor.

use std::os::unix::fs::FileTypeExt;

use super::process_tree;

/// Watches standard input, which the executor holds open: when it closes, the executor is gone, and this process group
/// is killed, with all that it started, in whatever group that is. (No parent-death signal: that one fires when a *thread* of the parent ends.) Under a batch system there
/// is no executor to watch, and standard input is not a pipe; then nothing is watched.
pub fn watch() {
    if std::fs::metadata("/dev/stdin").is_ok_and(|metadata| metadata.file_type().is_fifo()) {
        std::thread::spawn(|| {
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            process_tree::kill_self();
        });
    }
}
