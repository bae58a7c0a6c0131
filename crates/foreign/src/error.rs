//! What can be wrong with a file from outside.

use std::path::{Path, PathBuf};

use cwm_contract::Failure;

/// An error, in words that fit after "failed: ".
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `open`, `read`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{} {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, in words that follow its name.
        message: String,
        /// What to do.
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

    pub(crate) fn hint(self, text: impl Into<String>) -> Self {
        match self {
            ForeignError::Content { path, message, .. } => {
                ForeignError::Content { path, message, hint: Some(text.into()) }
            }
            other => other,
        }
    }
}

impl From<ForeignError> for Failure {
    fn from(error: ForeignError) -> Self {
        match &error {
            ForeignError::File { .. } => Failure::system(error.to_string()),
            ForeignError::Content { hint: None, .. } => Failure::input(error.to_string()),
            ForeignError::Content { hint: Some(hint), .. } => Failure::input(error.to_string()).hint(hint),
        }
    }
}
