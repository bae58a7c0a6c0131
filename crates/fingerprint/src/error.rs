//! What can go wrong, and in which file.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a fingerprint could not be made.
#[derive(Debug)]
pub struct Error {
    /// The file or folder that it is about.
    pub path: PathBuf,
    /// What is wrong with it.
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
