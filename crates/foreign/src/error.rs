//! Errors of a file from outside.

use std::path::{Path, PathBuf};

use cwm_contract::Failure;

/// An error, in words that fit after "failed: ".
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// A system call fails.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `open`, `read`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{} {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem, in words that follow its name.
        message: String,
        /// A remedy.
        hint: Option<String>,
    },
    /// A part of the file is not what it should be.
    #[error("{}: {message}", path.display())]
    Part {
        /// The file.
        path: PathBuf,
        /// The part, and what is wrong with it.
        message: String,
        /// A remedy.
        hint: Option<String>,
    },
}

impl ForeignError {
    pub(crate) fn file(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        ForeignError::File { action, path: path.to_owned(), source }
    }

    pub(crate) fn content(path: &Path, message: impl Into<String>) -> Self {
        ForeignError::Content { path: path.to_owned(), message: message.into(), hint: None }
    }

    pub(crate) fn part(path: &Path, message: impl Into<String>) -> Self {
        ForeignError::Part { path: path.to_owned(), message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, text: impl Into<String>) -> Self {
        if let ForeignError::Content { hint, .. } | ForeignError::Part { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }
}

impl From<ForeignError> for Failure {
    fn from(error: ForeignError) -> Self {
        match &error {
            ForeignError::File { .. } => Failure::system(error.to_string()),
            ForeignError::Content { hint, .. } | ForeignError::Part { hint, .. } => {
                let failure = Failure::input(error.to_string());
                hint.iter().fold(failure, Failure::hint)
            }
        }
    }
}
