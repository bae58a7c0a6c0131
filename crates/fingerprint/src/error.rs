//! Errors, with the file that they are in.

use std::fmt;
use std::path::{Path, PathBuf};

/// An error that keeps a fingerprint from being made.
#[derive(Debug)]
pub struct Error {
    /// The file or folder that it is about.
    pub path: PathBuf,
    /// The problem, as text.
    pub problem: String,
}

impl Error {
    pub(crate) fn new(path: &Path, problem: impl fmt::Display) -> Self {
        Error { path: path.to_owned(), problem: problem.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}

impl std::error::Error for Error {}
