//! Errors of a folder of shards.

use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use cwm_contract::Failure;
use thiserror::Error;

/// A folder of shards that cannot be read or written.
#[derive(Debug, Error)]
pub enum ShardError {
    /// The machine refused.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// The operation: `read`, `write`, `make`.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The bytes are not what they should be.
    #[error("{} is not a {format} file: {message}", path.display())]
    Content {
        /// The format that was expected.
        format: &'static str,
        /// The file.
        path: PathBuf,
        /// The problem, as text.
        message: String,
    },
    /// The folder has no such file.
    #[error("{} holds no {name}", folder.display())]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The file that should be there.
        name: String,
    },
    /// Written by an older or a newer cwm.
    #[error("{} is of version {found} of the {format} format, and this cwm reads version {known}", path.display())]
    Version {
        /// The format.
        format: &'static str,
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that is known here.
        known: u32,
    },
    /// A game that the format has no room for.
    #[error("game {game} does not fit into {}: {message}", folder.display())]
    ExceedsFormat {
        /// The folder.
        folder: PathBuf,
        /// Its `index`.
        game: u64,
        /// The problem, as text.
        message: String,
    },
}

impl ShardError {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| ShardError::Io { what, path, source }
    }

    /// An error of Arrow's while writing: the disk's, or a mistake of ours.
    pub(super) fn writing(path: &Path) -> impl FnOnce(ArrowError) -> Self {
        let path = path.to_owned();
        move |error| {
            let source = match error {
                ArrowError::IoError(_, source) => source,
                other => std::io::Error::other(other),
            };
            ShardError::Io { what: "write", path, source }
        }
    }
}

impl From<ShardError> for Failure {
    fn from(error: ShardError) -> Self {
        let message = error.to_string();
        match error {
            ShardError::Io { .. } => Failure::system(message),
            ShardError::Version { found, known, .. } if found > known => {
                Failure::input(message).hint("use the newer cwm that wrote it")
            }
            ShardError::Version { .. } => {
                Failure::input(message).hint("make it anew: run `parse`, `split` and `tokenize` with this cwm")
            }
            ShardError::Content { .. } | ShardError::Missing { .. } | ShardError::ExceedsFormat { .. } => {
                Failure::input(message)
            }
        }
    }
}
