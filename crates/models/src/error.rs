//! Errors of a model, its description or its files.

use std::path::PathBuf;

use cwm_contract::Failure;

/// An error, in words that fit after "failed: ".
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No family has this name.
    #[error("there is no family `{name}`; known are {}", known.join(", "))]
    UnknownFamily {
        /// The name that was requested.
        name: String,
        /// All names in the registry.
        known: Vec<&'static str>,
    },
    /// The size, an option or their combination makes no model.
    #[error("{0}")]
    Architecture(String),
    /// A device that this build or machine does not have.
    #[error("{0}")]
    Device(String),
    /// A file that cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `read`, `write`, `rename`, ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file that is not what it should be.
    #[error("{}: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The fault, and its place in the file.
        message: String,
    },
}

impl ModelError {
    pub(crate) fn file(action: &'static str, path: &std::path::Path, source: std::io::Error) -> Self {
        ModelError::File { action, path: path.to_owned(), source }
    }

    pub(crate) fn content(path: &std::path::Path, message: impl Into<String>) -> Self {
        ModelError::Content { path: path.to_owned(), message: message.into() }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::File { .. } | ModelError::Device(_) => Failure::system(error.to_string()),
            ModelError::UnknownFamily { .. } | ModelError::Architecture(_) | ModelError::Content { .. } => {
                Failure::input(error.to_string())
            }
        }
    }
}
