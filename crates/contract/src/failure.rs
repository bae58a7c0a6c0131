//! Failures of stages.

use std::fmt;
use std::path::Path;

/// A failure, written for the person who reads it: what was wrong, where, and what to do.
#[derive(Debug)]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The problem and its place, without a full stop at the end.
    pub message: String,
    /// A remedy.
    pub hint: Option<String>,
}

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// An input, parameter or external file is not what it should be.
    Input,
    /// The machine refused: disk full, permission, network.
    System,
    /// The stage was cancelled, and stopped at a safe point.
    Cancelled,
    /// A mistake in cwm itself.
    Internal,
}

impl Failure {
    /// An input, parameter or outside file is wrong.
    pub fn input(message: impl Into<String>) -> Self {
        Failure { kind: FailureKind::Input, message: message.into(), hint: None }
    }

    /// The machine refused.
    pub fn system(message: impl Into<String>) -> Self {
        Failure { kind: FailureKind::System, message: message.into(), hint: None }
    }

    /// A mistake of ours.
    pub fn internal(message: impl Into<String>) -> Self {
        Failure { kind: FailureKind::Internal, message: message.into(), hint: None }
    }

    /// The stage stopped because it was cancelled.
    pub fn cancelled() -> Self {
        Failure { kind: FailureKind::Cancelled, message: "the stage was cancelled".into(), hint: None }
    }

    /// An I/O error with its path: `cannot read x: No such file or directory`.
    pub fn io(what: &str, path: &Path, error: std::io::Error) -> Self {
        Failure::system(format!("cannot {what} {}: {error}", path.display()))
    }

    /// Adds advice and returns the failure.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::system(error.to_string())
    }
}
