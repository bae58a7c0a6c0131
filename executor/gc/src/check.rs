//! Checks the roots of a store that are files: root files, and tags.

use super::roots::RootFile;
use super::tags::{self, Tag};
use cwm_core::files::Result;
use cwm_core::{FileError, FileErrorKind};
use cwm_project::lock_file::LockFile;
use cwm_store::{Defect, Store, list_folder};

/// Returns what is wrong with root files, which are moved to quarantine, and with tags, which stay: a tag names
/// results that nothing else may name.
///
/// # Errors
/// The store cannot be read, or damaged files cannot be moved.
pub fn check(store: &Store) -> Result<Vec<Defect>> {
    const TOO_NEW: &str = "was not checked: a newer cwm wrote it";
    let _shared = store.lock_shared(|_| {})?;
    let mut findings = Vec::new();
    for (name, path) in list_folder(&store.folder("roots"))? {
        if !name.ends_with(".json") {
            continue;
        }
        match RootFile::read(&path) {
            Ok(_) => {}
            Err(FileError::Damaged { what, .. }) => {
                let lost = "it lists the results of a lock file, which `cwm store gc` may delete unless that \
                            pipeline is run before";
                findings.push(store.quarantine(path, format!("is damaged: {what}; {lost}"))?);
            }
            Err(error) if error.kind() == FileErrorKind::TooNew => findings.push(Defect::new(path, TOO_NEW)),
            Err(error) => return Err(error),
        }
    }
    for (name, path) in tags::files(store)? {
        let problem = match LockFile::read(&path) {
            Ok(lock) => match (Tag { name: name.clone(), lock }).damage() {
                Some(damage) => format!("is damaged: {damage}"),
                None => continue,
            },
            Err(error) if error.kind() == FileErrorKind::TooNew => {
                findings.push(Defect::new(path, TOO_NEW));
                continue;
            }
            Err(error) => format!("cannot be used: {error}"),
        };
        let remedy = format!("until `cwm store tag {name} --delete` deletes the tag, or `--replace` replaces it");
        findings.push(Defect::new(path, format!("{problem}; `cwm store gc` deletes nothing {remedy}")));
    }
    Ok(findings)
}
