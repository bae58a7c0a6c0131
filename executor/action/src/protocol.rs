//! The messages of an action's process to the executor: one JSON object a line on its standard output.

use cwm_contract::{Event, Failure, FailureKind};
use serde::{Deserialize, Serialize};

use cwm_core::{Error, ErrorKind, FileError, OutputDigests};
use cwm_store::Difference;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionMessage {
    /// Another process holds the key; this one waits.
    Waiting {
        /// The owner for people: pid, host, command.
        owner: String,
    },
    /// The work begins.
    Start,
    /// An event of the stage.
    Event(Event),
    /// The action has ended.
    Outcome(Result<ActionOutcome, ActionFailure>),
}

/// The outcome of an action that did not fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionOutcome {
    /// The result is recorded: the digest of each output, by name.
    NewResult(OutputDigests),
    /// Another process had recorded the result meanwhile; nothing was done.
    CacheHit,
    /// Nothing was recorded: the result was computed again, and differs so from the recorded one.
    Comparison(Vec<Difference>),
}

/// The kind of a failure, as it crosses the process boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionFailureKind {
    /// An input, a parameter or an external file.
    Input,
    /// The machine.
    System,
    /// Stopped on request.
    Cancelled,
    /// A mistake in cwm.
    Internal,
    /// The stage panicked.
    Panic,
    /// A command ended with another status than 0.
    Command,
    /// Its outputs are not those that it declares: one is missing, undeclared, or no plain file.
    Output,
    /// The kernel, or the program itself, ended it for lack of memory.
    OutOfMemory,
    /// It held more memory than its `limits:` allow.
    MemoryLimit,
    /// It ran longer than its `limits:` allow.
    TimeLimit,
    /// Its process ended without a message: by a signal, mostly.
    Crash,
    /// Its process was ended from outside.
    Killed,
}

/// The failure of an action, or of one attempt at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionFailure {
    /// The kind of failure.
    pub kind: ActionFailureKind,
    /// The problem.
    pub message: String,
    /// A remedy.
    pub hint: Option<String>,
}

impl ActionFailure {
    /// Makes a failure without a remedy.
    pub fn new(kind: ActionFailureKind, message: impl Into<String>) -> ActionFailure {
        ActionFailure { kind, message: message.into(), hint: None }
    }

    /// Sets the remedy.
    pub fn hint(self, hint: impl Into<String>) -> ActionFailure {
        ActionFailure { hint: Some(hint.into()), ..self }
    }

    /// The failure of an action that was stopped on request.
    pub fn cancelled() -> ActionFailure {
        Failure::cancelled().into()
    }
}

/// A failure of a stage, or of the preparations for a command.
impl From<Failure> for ActionFailure {
    fn from(Failure { kind, message, hint }: Failure) -> ActionFailure {
        let kind = match kind {
            FailureKind::Cancelled => ActionFailureKind::Cancelled,
            FailureKind::System => ActionFailureKind::System,
            FailureKind::Internal => ActionFailureKind::Internal,
            FailureKind::Input => ActionFailureKind::Input,
        };
        ActionFailure { kind, message, hint }
    }
}

/// An error of the store or the machine.
impl From<Error> for ActionFailure {
    fn from(error: Error) -> ActionFailure {
        let is_internal = error.kind == ErrorKind::Internal;
        let kind = if is_internal { ActionFailureKind::Internal } else { ActionFailureKind::System };
        ActionFailure { kind, message: error.message, hint: error.hints.into_iter().next() }
    }
}

impl From<FileError> for ActionFailure {
    fn from(error: FileError) -> ActionFailure {
        Error::from(error).into()
    }
}
