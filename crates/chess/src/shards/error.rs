//! What can be wrong with a folder of shards.

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
        /// What was tried: `read`, `write`, `make`.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The bytes are not what they should be.
    #[error("{} is not a {format} file: {message}", path.display())]
    Content {
        /// The format that was expected.
        format: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The folder lacks a file.
    #[error("{} holds no {name}", folder.display())]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The file that should be there.
        name: String,
    },
    /// Written by a newer cwm.
    #[error("{} is of version {found} of the {format} format, and this cwm reads up to version {known}", path.display())]
    Newer {
        /// The format.
        format: &'static str,
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that is known here.
        known: u32,
    },
    /// Written by an older cwm.
    #[error("{} is of version {found} of the {format} format, and this cwm reads version {known} alone", path.display())]
    Older {
        /// The format.
        format: &'static str,
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that is known here.
        known: u32,
    },
    /// A game's labels do not fit it, or there is no column for them.
    #[error("game {game} of {} carries {found} bytes of labels, not {expected}", folder.display())]
    Labels {
        /// The folder.
        folder: PathBuf,
        /// Its index.
        game: u64,
        /// Bytes that it carries.
        found: usize,
        /// Bytes that it may carry.
        expected: usize,
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
            ShardError::Newer { .. } => Failure::input(message).hint("use the newer cwm that wrote it"),
            ShardError::Older { .. } => {
                Failure::input(message).hint("make it anew: run the `parse` and `tokenize` that wrote it again")
            }
            ShardError::Labels { .. } => Failure::internal(message),
            ShardError::Content { .. } | ShardError::Missing { .. } => Failure::input(message),
        }
    }
}
