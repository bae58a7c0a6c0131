//! Folders, listed and walked.

use std::fs::{self, Metadata};
use std::io;
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
    FileError::optional(fs::symlink_metadata(path).map_err(reading("read", path)))
}

/// Returns the error of reading something of a store, which is damaged if a file is in the place of a folder.
fn reading(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    move |error| match error.kind() {
        io::ErrorKind::NotADirectory => FileError::damaged(path, "something else is in the place of a folder"),
        _ => FileError::io(operation, path)(error),
    }
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect).map_err(reading("read the folder", folder));
    Ok(FileError::optional(entries)?.unwrap_or_default())
}

/// Returns everything below a folder, sorted by path. Links are not followed. What goes away meanwhile is left out.
pub(super) fn all_below(folder: &Path) -> Result<Vec<(PathBuf, Metadata)>> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)?.iter().map(fs::DirEntry::path) {
            let Some(metadata) = metadata(&path)? else { continue };
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            all.push((path, metadata));
        }
    }
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(all)
}

/// Does the same as [`all_below`], without the folders.
pub(super) fn files_below(folder: &Path) -> Result<Vec<(PathBuf, Metadata)>> {
    let mut files = all_below(folder)?;
    files.retain(|(_, metadata)| !metadata.is_dir());
    Ok(files)
}

/// Returns the bytes below a path and the time when the last of it changed. What goes away meanwhile is not counted.
pub(super) fn size_and_time(path: &Path) -> Result<(u64, Timestamp)> {
    let Some(own) = metadata(path)? else { return Ok((0, Timestamp::MIN)) };
    let below = if own.is_dir() { all_below(path)? } else { Vec::new() };
    let all = || below.iter().map(|(_, metadata)| metadata).chain([&own]);
    let bytes = all().filter(|one| !one.is_dir()).map(Metadata::len).sum();
    let changed = all().filter_map(|one| Timestamp::from_second(one.mtime()).ok()).max();
    Ok((bytes, changed.unwrap_or(Timestamp::MIN)))
}
