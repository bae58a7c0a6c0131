//! Recognises files that cwm itself writes beside a pipeline: a glob that matched them would match new content after every run.
//! Only files that are certainly cwm's are skipped, since a skipped file is in no key.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use cwm_core::files::EXPORT_LIST;
use cwm_core::files::durable::TEMPORARY;

/// The beginning of one of the first lines of such files.
const MARKS: [&str; 3] = ["cwm-lock:", "cwm-sources:", "cwm-accepted:"];

/// The bytes of a file that are searched for it.
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
