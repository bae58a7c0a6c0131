//! The runs of a pipeline that are recorded: `pipeline.lock`, and for each set of values of `--set` a lock file
//! `.cwm/<pipeline>/<digest of the values>.lock`. Those are not for git.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cwm_core::files::Result;
use cwm_core::{Digest, DurableFs, FileError};

use crate::lock_file::{LockFile, RunHeading, SetValues};

/// The number of digits of a digest that name a run.
const DIGITS: usize = 8;

/// The name of the run without `--set`.
pub const RUN_WITHOUT_SET: &str = ".";

/// Returns the folder of the lock files of runs with `--set`.
pub fn folder(yaml: &Path) -> PathBuf {
    yaml.with_file_name(".cwm").join(yaml.file_stem().unwrap_or_default())
}

/// Returns the lock file of the run with these values; without any it is the pipeline's.
pub fn lock_path(yaml: &Path, set: &SetValues) -> PathBuf {
    if set.is_empty() {
        return LockFile::path_for(yaml);
    }
    let digest = Digest::of(serde_json::json!(set).to_string().as_bytes()).to_string();
    folder(yaml).join(&digest[..DIGITS]).with_extension("lock")
}

/// Returns the name of the run of a lock file: [`RUN_WITHOUT_SET`], or for a run with `--set` digits that [`named`] takes.
pub fn name(lock: &LockFile) -> String {
    match lock.run() {
        Some(_) => lock.path().file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        None => RUN_WITHOUT_SET.to_owned(),
    }
}

/// Reads the lock file of the run with `--set` of this name; `None` if there is none.
///
/// # Errors
/// It cannot be read.
pub fn find(yaml: &Path, name: &str) -> Result<Option<LockFile>> {
    if name.len() != DIGITS || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let lock = LockFile::read(&folder(yaml).join(name).with_extension("lock"))?;
    Ok(lock.exists().then_some(lock))
}

/// Returns the lock files of all recorded runs: the one without `--set` first, then by the time of the last run.
///
/// # Errors
/// The folder or one of them cannot be read, or has no values.
pub fn all(yaml: &Path) -> Result<Vec<LockFile>> {
    let mut runs = Vec::new();
    let folder = folder(yaml);
    let files = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        files => files.and_then(Iterator::collect).map_err(FileError::io("read the folder", &folder))?,
    };
    for path in files.iter().map(std::fs::DirEntry::path) {
        if path.extension().is_some_and(|extension| extension == "lock") {
            let lock = LockFile::read(&path)?;
            let Some(run) = lock.run() else {
                return Err(FileError::rejected(&path, "is not the lock file of a run with `--set`", "delete it"));
            };
            runs.push((run.finished, lock));
        }
    }
    runs.sort_by_key(|(finished, _)| *finished);
    let plain = LockFile::read(&LockFile::path_for(yaml))?;
    Ok(plain.exists().then_some(plain).into_iter().chain(runs.into_iter().map(|(_, lock)| lock)).collect())
}

/// Returns the lock file of the run with these values; if it is not recorded, of the run with the fewest other values,
/// the last of several; else one that does not exist yet.
///
/// # Errors
/// A lock file cannot be read.
pub fn nearest(yaml: &Path, set: &SetValues) -> Result<LockFile> {
    let own = LockFile::read(&lock_path(yaml, set))?;
    if own.exists() {
        return Ok(own);
    }
    let distance = |lock: &LockFile| {
        let values = lock.run().map(|run| run.set).unwrap_or_default();
        let names: BTreeSet<&String> = set.keys().chain(values.keys()).collect();
        names.into_iter().filter(|name| set.get(*name) != values.get(*name)).count()
    };
    Ok(all(yaml)?.into_iter().rev().min_by_key(distance).unwrap_or(own))
}

/// Reads the lock file of a run to be written. For a run with `--set` it makes its folder, which git ignores.
///
/// # Errors
/// It cannot be read, or the folder cannot be made.
pub fn read_or_create(yaml: &Path, run: &RunHeading) -> Result<LockFile> {
    if run.set.is_empty() {
        return LockFile::read(&LockFile::path_for(yaml));
    }
    let (disk, folder) = (DurableFs::default(), folder(yaml));
    disk.make_folders(&folder)?;
    let ignore = folder.with_file_name(".gitignore");
    if !ignore.exists() {
        disk.replace(&ignore, b"*\n", false)?;
    }
    let mut lock = LockFile::read(&lock_path(yaml, &run.set))?;
    lock.set_run(run);
    Ok(lock)
}
