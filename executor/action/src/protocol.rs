//! The messages of an action's process to the executor: one JSON object a line on its standard output.

use std::collections::BTreeMap;

use cwm_contract::{Event, Failure};
use serde::{Deserialize, Serialize};

use cwm_core::{Digest, Error, ErrorKind};
use cwm_store::Difference;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionMessage {
    /// Another process holds the key; this one waits.
    Waiting {
        /// The holder for people: pid, host, command.
        holder: String,
    },
    /// Work begins.
    Started,
    /// An event of the stage.
    Event(Event),
    /// Another process had recorded a result meanwhile; nothing was done.
    AlreadyRecorded,
    /// The result is in the store: what came out, by output name.
    Recorded(BTreeMap<String, Digest>),
    /// Nothing was recorded: the result was compared with the one that is.
    Checked(Vec<Difference>),
    /// It failed.
    Failed {
        /// The kind of failure.
        kind: ActionFailureKind,
        /// The problem.
        message: String,
        /// A remedy.
        hint: Option<String>,
    },
}

/// The kind of a failure, as it crosses the process boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionFailureKind {
    /// An input, a parameter or a file from outside.
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

impl ActionFailureKind {
    /// Returns true if another attempt may succeed with the same inputs. One that exceeded its time may where it resumes from a
    /// checkpoint.
    pub fn is_transient(self, has_checkpoint: bool) -> bool {
        match self {
            ActionFailureKind::System | ActionFailureKind::Panic | ActionFailureKind::Command => true,
            ActionFailureKind::OutOfMemory | ActionFailureKind::Crash | ActionFailureKind::Killed => true,
            ActionFailureKind::TimeLimit => has_checkpoint,
            ActionFailureKind::Input | ActionFailureKind::Cancelled | ActionFailureKind::Internal => false,
            ActionFailureKind::Output | ActionFailureKind::MemoryLimit => false,
        }
    }
}

/// A failure with its kind.
pub type Failed = (ActionFailureKind, Failure);

/// Converts an error of the store or the machine to a failure of the action.
pub fn failed(error: impl Into<Error>) -> Failed {
    let error: Error = error.into();
    let failure = Failure { hint: error.hints.first().cloned(), ..Failure::internal(error.message) };
    let kind = if error.kind == ErrorKind::Internal { ActionFailureKind::Internal } else { ActionFailureKind::System };
    (kind, failure)
}
