//! What cwm itself writes beside a pipeline: a glob that took it in would find something new after every run. Only what is
//! known to be ours is passed over, for what is passed over is in no key.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use cwm_core::files::EXPORT_LIST;
use cwm_core::files::durable::TEMPORARY;

/// What one of the first lines begins with of the files that runs write beside a pipeline.
const MARKS: [&str; 3] = ["cwm-lock:", "cwm-sources:", "cwm-accepted:"];

/// How far into a file they are looked for. Bytes.
const HEAD: u64 = 2048;

/// So many letters and digits follow in the names of files that are being written.
const UNFINISHED: usize = 6;

/// Returns true if this folder is a store, or a remote.
pub fn holds_results(folder: &Path) -> bool {
    folder.join("format").is_file() && ["objects", "actions"].iter().all(|name| folder.join(name).is_dir())
}

/// Returns true if this plain file is a lock file of cwm's, or one that is being written.
pub fn is_own_file(file: &Path, name: &str) -> bool {
    let is_random = |rest: &str| rest.len() == UNFINISHED && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_unfinished = name.strip_prefix(TEMPORARY).is_some_and(is_random);
    is_unfinished || name == EXPORT_LIST || (name.ends_with(".lock") && bears_a_mark(file))
}

fn bears_a_mark(file: &Path) -> bool {
    let mut head = Vec::new();
    if !file.is_file() || File::open(file).and_then(|file| file.take(HEAD).read_to_end(&mut head)).is_err() {
        return false;
    }
    String::from_utf8_lossy(&head).lines().any(|line| MARKS.iter().any(|mark| line.starts_with(mark)))
}
