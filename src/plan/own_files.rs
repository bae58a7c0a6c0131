//! What cwm itself writes beside a pipeline: a glob that took it in would find something new after every run. Only what is
//! known to be ours is passed over, for what is passed over is in no key.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::plain_file::read_plain;

/// What one of the first lines begins with of the files that runs write beside a pipeline.
const MARKS: [&str; 3] = ["cwm-lock:", "cwm-sources:", "cwm-accepted:"];

/// How far into a file they are looked for. Bytes.
const HEAD: u64 = 2048;

/// Begins the names of files that are being written; so many letters and digits follow.
const UNFINISHED: (&str, usize) = (".cwm-", 6);

/// The list in a folder of what was exported there.
const EXPORTED: &str = ".cwm-export";

/// Whether this folder is a store.
pub fn is_store(folder: &Path) -> bool {
    folder.join("format").is_file() && ["objects", "actions"].iter().all(|name| folder.join(name).is_dir())
}

/// Whether this plain file is a lock file of cwm's, or one that is being written.
pub fn is_own_file(file: &Path, name: &str) -> bool {
    let (prefix, length) = UNFINISHED;
    let rest = name.strip_prefix(prefix);
    let is_unfinished =
        rest.is_some_and(|rest| rest.len() == length && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    is_unfinished || name == EXPORTED || (name.ends_with(".lock") && bears_a_mark(file))
}

fn bears_a_mark(file: &Path) -> bool {
    let mut head = Vec::new();
    if !file.is_file() || File::open(file).and_then(|file| file.take(HEAD).read_to_end(&mut head)).is_err() {
        return false;
    }
    String::from_utf8_lossy(&head).lines().any(|line| MARKS.iter().any(|mark| line.starts_with(mark)))
}

/// The files that were exported into this folder and below it, by their names from it on.
pub fn exported(folder: &Path) -> BTreeSet<String> {
    #[derive(serde::Deserialize)]
    struct List {
        files: std::collections::BTreeMap<String, serde::de::IgnoredAny>,
    }
    let list = read_plain(&folder.join(EXPORTED)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    list.map(|List { files }| files.into_keys().collect()).unwrap_or_default()
}
