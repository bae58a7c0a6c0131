//! Text files beside a pipeline with one entry a line, so that git merges them line by line.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use cwm_core::files::Result;
use cwm_core::{DurableFs, Error, FileError};

/// A kind of file.
pub struct Format {
    /// The name of the format in the file: `cwm-lock`.
    pub name: &'static str,
    /// The name of the file in messages: `the lock file`.
    pub what: &'static str,
    /// The newest version of the format that this program reads.
    pub version: u32,
}

/// A line that is neither empty nor a comment, nor one of the common ancestor in a merge conflict.
pub struct Line<'t> {
    /// Its number, from 1.
    pub number: usize,
    /// The byte of the text at which it begins.
    pub start: usize,
    /// The line itself, without spaces around it.
    pub text: &'t str,
    /// Its meaning.
    pub content: Content,
    /// True between the markers of a merge conflict.
    pub in_conflict: bool,
}

/// The meaning of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// The beginning of a merge conflict.
    Conflict,
    /// The version of the format; false if it is none.
    Version(bool),
    /// An entry.
    Entry,
}

/// Splits `text`, which `path` holds or held, into lines. git's markers of merge conflicts are no lines, but for the first.
///
/// # Errors
/// A newer cwm wrote it.
pub fn lines<'t>(path: &Path, text: &'t str, format: &Format) -> Result<Vec<Line<'t>>> {
    let mut lines = Vec::new();
    let mut start = 0;
    let (mut in_conflict, mut in_ancestor) = (false, false);
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let at = start;
        start += whole.len();
        let text = whole.trim();
        let is_marker = |marker: &str| {
            let rest = whole.strip_prefix(marker);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\r', '\n']))
        };
        let mut content = Content::Entry;
        if is_marker("<<<<<<<") {
            (in_conflict, in_ancestor, content) = (true, false, Content::Conflict);
        } else if in_conflict && (is_marker("|||||||") || is_marker("=======")) {
            in_ancestor = is_marker("|||||||");
            continue;
        } else if in_conflict && is_marker(">>>>>>>") {
            (in_conflict, in_ancestor) = (false, false);
            continue;
        } else if in_ancestor || text.is_empty() || text.starts_with('#') {
            continue;
        } else if let Some(version) = text.strip_prefix(format.name).and_then(|rest| rest.strip_prefix(':')) {
            let version: Option<u64> = version.trim().parse().ok();
            if let Some(found) = version.filter(|found| *found > format.version.into()) {
                let (path, what, known) = (path.to_owned(), format.what, format.version);
                return Err(FileError::TooNew { path, what, found, known });
            }
            content = Content::Version(version.is_some());
        }
        lines.push(Line { number: index + 1, start: at, text, content, in_conflict });
    }
    Ok(lines)
}

/// Returns the path of the file called `name` beside the pipeline in `yaml`.
///
/// # Errors
/// It is also that of the pipeline's lock file.
pub fn path_beside(yaml: &Path, name: &str) -> Result<PathBuf, Error> {
    let path = yaml.with_file_name(name);
    if yaml.with_extension("lock") == path {
        let problem = format!("{} cannot be the name of a pipeline: {name} is no lock file of results", yaml.display());
        return Err(Error::usage(problem).hint("rename it"));
    }
    Ok(path)
}

/// Replaces the file at `path` in one instant, if `text` differs from what it holds (`old`; nothing if it is not there). A file
/// is not made only to be empty. Returns true if it was written.
///
/// # Errors
/// The disk refuses; the file is then what it was.
pub fn replace(path: &Path, old: Option<&str>, text: &str, is_empty: bool) -> Result<bool> {
    if old == Some(text) || (old.is_none() && is_empty) {
        return Ok(false);
    }
    DurableFs::default().replace(&through_link(path), text.as_bytes(), true)?;
    Ok(true)
}

/// Returns the path of the file itself, so that a link to it stays one.
fn through_link(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Locks the folder of the file at `path` until the returned file is dropped, for a change of the file. The kernel's lock is on
/// the folder itself: the file is replaced by each change, and there is nothing to be deleted by hand.
///
/// # Errors
/// The folder cannot be opened or locked.
pub fn lock_folder(path: &Path) -> Result<File, Error> {
    let path = through_link(path);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let file = File::open(folder).map_err(|error| Error::io("open", folder, error))?;
    loop {
        match file.lock() {
            Ok(()) => return Ok(file),
            // A signal whose handler only notes it.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io("lock", folder, error)),
        }
    }
}
