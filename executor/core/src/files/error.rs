//! Errors of files and folders, with their path and a remedy.

use std::io;
use std::path::{Path, PathBuf};

/// A result of an operation on files.
pub type Result<T, E = FileError> = std::result::Result<T, E>;

/// An error of a file or folder. Every variant names the file or folder; [`FileError::hint`] has the remedy.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A system call fails.
    #[error("cannot {operation} {}: {cause}", path.display())]
    Io {
        /// The operation, as a verb: `write`, `rename`.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// A file does not have the content that was written to it.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        what: String,
    },
    /// Written by a newer cwm in a format unknown to this one.
    #[error("{} has format {found} of {what}; this cwm reads formats up to {known}", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// The owner of the format: `the store`, `an action record`.
        what: &'static str,
        /// Its version.
        found: u64,
        /// The newest version known here.
        known: u32,
    },
    /// A file or folder that is needed does not exist.
    #[error("{} {what}", path.display())]
    Missing {
        /// The file or folder.
        path: PathBuf,
        /// The problem, as text that follows the path: `is not in the store`.
        what: String,
    },
    /// A file or folder that is not accepted.
    #[error("{} {what}", path.display())]
    Rejected {
        /// The file or folder.
        path: PathBuf,
        /// The reason, as text that follows the path: `is a symbolic link`.
        what: String,
        /// The remedy.
        hint: &'static str,
    },
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileErrorKind {
    /// The disk, or the user's quota, is full.
    DiskFull,
    /// The file or folder cannot be written.
    ReadOnly,
    /// A file is damaged.
    Damaged,
    /// A newer cwm wrote it.
    TooNew,
    /// A file or folder does not exist.
    Missing,
    /// A file or folder is not accepted.
    Rejected,
    /// Any other failure of the system.
    System,
}

/// The operations on files that are only read.
const READING: [&str; 5] = ["read", "read the folder", "look at", "open", "find"];

impl FileError {
    /// Returns an I/O error with its path: `FileError::io("read", &path)` for `map_err`.
    pub fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        let path = path.to_owned();
        move |cause| FileError::Io { operation, path, cause }
    }

    /// Returns an error that refuses `path`.
    pub fn rejected(path: &Path, what: impl Into<String>, hint: &'static str) -> FileError {
        FileError::Rejected { path: path.to_owned(), what: what.into(), hint }
    }

    /// Returns the error of damage that was found in `path`.
    pub fn damaged(path: &Path, what: impl Into<String>) -> FileError {
        FileError::Damaged { path: path.to_owned(), what: what.into() }
    }

    /// Returns the kind of this error.
    pub fn kind(&self) -> FileErrorKind {
        match self {
            FileError::Io { operation, cause, .. } => match cause.kind() {
                // An external file that we may not read is no problem of the store.
                io::ErrorKind::PermissionDenied if READING.contains(operation) => FileErrorKind::System,
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FileErrorKind::DiskFull,
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => FileErrorKind::ReadOnly,
                io::ErrorKind::NotFound => FileErrorKind::Missing,
                _ => FileErrorKind::System,
            },
            FileError::Damaged { .. } => FileErrorKind::Damaged,
            FileError::TooNew { .. } => FileErrorKind::TooNew,
            FileError::Missing { .. } => FileErrorKind::Missing,
            FileError::Rejected { .. } => FileErrorKind::Rejected,
        }
    }

    /// Returns `None` in place of the error of a file that does not exist.
    ///
    /// # Errors
    /// `result` is any other error.
    pub fn optional<T>(result: Result<T>) -> Result<Option<T>> {
        match result {
            Err(error) if error.kind() == FileErrorKind::Missing => Ok(None),
            result => result.map(Some),
        }
    }

    /// Returns the remedy.
    pub fn hint(&self) -> Option<&'static str> {
        use FileErrorKind as Kind;
        Some(match (self, self.kind()) {
            (FileError::Rejected { hint, .. }, _) => hint,
            (_, Kind::DiskFull) => "free space on that disk, then run again: nothing that was recorded is lost",
            (_, Kind::ReadOnly) => "the store cannot be written; name another one with `--store` or CWM_STORE",
            (_, Kind::Damaged) => {
                "`cwm store verify` moves damaged files to quarantine; `cwm run STAGE` computes that stage's again"
            }
            (_, Kind::TooNew) => "use the cwm that wrote it, or a newer one",
            (_, Kind::Missing | Kind::Rejected | Kind::System) => return None,
        })
    }
}
