//! Whether it can be told what a store is asked to keep: what it noted of lock files, and tags.

use std::path::{Path, PathBuf};

use super::roots::check_file;
use super::tags::{self, Tag};
use cwm_core::files::Result;
use cwm_core::{FileError, FileErrorKind, read_regular_file};
use cwm_project::lock_file::LockFile;
use cwm_store::{Finding, Store};

/// What is wrong with the notes of lock files, which are set aside, and with tags, which stay: a tag says elsewhere what
/// nobody would miss in time.
///
/// # Errors
/// The store cannot be read, or what is damaged not moved.
pub fn check(store: &Store) -> Result<Vec<Finding>> {
    let _shared = store.lock_shared(|_| {})?;
    let mut findings = Vec::new();
    for (name, path) in store.files_in(&store.roots_folder())? {
        if !name.ends_with(".json") {
            continue;
        }
        match check_file(&path) {
            Err(FileError::Damaged { what, .. }) => {
                let pipeline = lock_file_in(&path)
                    .map_or_else(|| "a lock file".into(), |lock| format!("the lock file {}", lock.display()));
                let what = format!(
                    "is damaged: {what}; it notes what {pipeline} names, which `cwm gc` may take unless its pipeline is run \
                     before"
                );
                findings.push(store.set_aside(path, what)?);
            }
            Err(error) if error.trouble() == FileErrorKind::TooNew => findings.push(not_checked(path)),
            checked => checked?,
        }
    }
    for (name, path) in tags::files(store)? {
        let what = match LockFile::read(&path) {
            Ok(lock) => match (Tag { name: name.clone(), lock }).damage() {
                Some(damage) => format!("is damaged: {damage}"),
                None => continue,
            },
            Err(error) if error.trouble() == FileErrorKind::TooNew => {
                findings.push(not_checked(path));
                continue;
            }
            Err(error) => format!("cannot be used: {error}"),
        };
        let what = format!(
            "{what}; `cwm gc` takes nothing until `cwm tag {name} --delete` takes the tag away, or `--replace` renews it"
        );
        findings.push(Finding::about(path, what));
    }
    Ok(findings)
}

fn not_checked(path: PathBuf) -> Finding {
    Finding::about(path, "was not checked: a newer cwm wrote it")
}

/// The lock file that a damaged note is about, where that line of it is still there.
fn lock_file_in(path: &Path) -> Option<PathBuf> {
    let text = String::from_utf8_lossy(&read_regular_file(path).ok()?).into_owned();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("\"lock_file\": "))?;
    serde_json::from_str(line.trim_end_matches(',')).ok()
}
