//! Folders, listed and walked.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use cwm_core::FileError;
use cwm_core::files::Result;

/// Returns names and paths in a folder, sorted; none if the folder is not there. Names that are not UTF-8 are not ours.
///
/// # Errors
/// It cannot be read.
pub fn list_folder(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let named = |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, entry.path()));
    let mut names: Vec<_> = entries(folder)?.into_iter().filter_map(named).collect();
    names.sort();
    Ok(names)
}

/// Returns the metadata of what is at `path`, itself if it is a link; nothing if nothing is there.
pub(super) fn metadata(path: &Path) -> Result<Option<Metadata>> {
    FileError::optional(fs::symlink_metadata(path).map_err(FileError::io("look at", path)))
}

/// Returns the names of the folders in a folder.
pub(super) fn folders_in(folder: &Path) -> Result<BTreeSet<String>> {
    let folders = entries(folder)?.into_iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(folders.filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect).map_err(FileError::io("read the folder", folder));
    Ok(FileError::optional(entries)?.unwrap_or_default())
}

/// Returns everything below a folder that is not itself a folder, sorted by path. Links are not followed.
pub(super) fn files_below(folder: &Path) -> Result<Vec<(PathBuf, Metadata)>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in entries(&folder)? {
            let path = entry.path();
            let metadata = entry.metadata().map_err(FileError::io("look at", &path))?;
            if metadata.is_dir() {
                folders.push(path);
            } else {
                files.push((path, metadata));
            }
        }
    }
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(files)
}

/// Returns the bytes below a path and the time when the last of it changed. What goes away meanwhile is not counted.
pub(super) fn size_and_time(path: &Path) -> Result<(u64, Timestamp)> {
    let (mut bytes, mut changed) = (0, Timestamp::MIN);
    let mut front = vec![path.to_owned()];
    while let Some(path) = front.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        changed = changed.max(Timestamp::from_second(metadata.mtime()).unwrap_or(Timestamp::MIN));
        if metadata.is_dir() {
            front.extend(list_folder(&path)?.into_iter().map(|(_, path)| path));
        } else {
            bytes += metadata.len();
        }
    }
    Ok((bytes, changed))
}
