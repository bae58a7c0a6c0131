//! Errors of the executor, as people read them, and what exit code each has.

use std::io;
use std::path::Path;

use cwm_contract::{Failure, FailureKind};

use crate::diagnostics::Diagnostics;
use crate::exit_code::ExitCode;
use crate::files::{FileError, FileErrorKind};
use crate::text::shell_quote;

/// The kind of an error, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The pipeline file or a `--set` is wrong.
    Pipeline,
    /// The command line names something that is not there.
    Usage,
    /// The store cannot be used (read-only, full, damaged).
    Store,
    /// The machine refused.
    System,
    /// A mistake in cwm.
    Internal,
}

/// The result of work whose error people read.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error with its kind, what lies below it, and advice.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind.
    pub kind: ErrorKind,
    /// The problem and its place.
    pub message: String,
    /// Remedies.
    pub hints: Vec<String>,
    /// Located diagnostics, where the pipeline file is wrong; then `message` is empty.
    pub diagnostics: Option<Box<Diagnostics>>,
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), hints: Vec::new(), diagnostics: None }
    }

    /// Returns an error of the command line, which names something that is not there.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Usage, message)
    }

    /// Returns an error of the store, which cannot be used.
    pub fn store(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Store, message)
    }

    /// Returns an error of the machine, which refused something.
    pub fn system(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::System, message)
    }

    /// Returns the error of a mistake in cwm itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Internal, message)
    }

    /// Returns an I/O error with its path.
    pub fn io(what: &str, path: &Path, error: io::Error) -> Self {
        Error::system(format!("cannot {what} {}: {error}", path.display()))
    }

    /// Returns the error of a file that is not in the store, such as an exported one: the hint is not about the store, and a
    /// place that is taken is an error of the command line.
    pub fn outside_store(error: FileError) -> Self {
        match &error {
            FileError::Rejected { hint, .. } => Error::usage(error.to_string()).hint(*hint),
            FileError::Io { path, .. } if error.kind() == FileErrorKind::ReadOnly => {
                let folder = path.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
                let folder = shell_quote(&folder.to_string_lossy());
                Error::system(error.to_string()).hint(format!("see who may write there: `ls -ld {folder}`"))
            }
            _ => error.into(),
        }
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns the documented exit code.
    pub fn exit_code(&self) -> ExitCode {
        match self.kind {
            ErrorKind::Pipeline => ExitCode::PIPELINE,
            ErrorKind::Usage => ExitCode::USAGE,
            ErrorKind::Store => ExitCode::STORE,
            ErrorKind::System | ErrorKind::Internal => ExitCode::INTERNAL,
        }
    }
}

impl From<Diagnostics> for Error {
    fn from(diagnostics: Diagnostics) -> Self {
        Error { diagnostics: Some(Box::new(diagnostics)), ..Error::new(ErrorKind::Pipeline, "") }
    }
}

/// A failure outside a stage, such as at reading a file that the command line names.
impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let error = match failure.kind {
            FailureKind::Input => Error::usage(failure.message),
            FailureKind::System | FailureKind::Cancelled => Error::system(failure.message),
            FailureKind::Internal => Error::internal(failure.message),
        };
        failure.hint.into_iter().fold(error, Error::hint)
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        error.hint().into_iter().fold(Error::store(error.to_string()), Error::hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_outside_the_store_gets_no_hint_about_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let denied = || FileError::io("write", &folder.path().join("cwm.toml"))(io::ErrorKind::PermissionDenied.into());
        let error = Error::outside_store(denied());
        assert_eq!(error.hints, [format!("see who may write there: `ls -ld {}`", folder.path().display())]);
        assert!(error.message.ends_with("cwm.toml: permission denied"), "{}", error.message);
        assert!(Error::from(denied()).hints[0].contains("--store"));
    }
}
