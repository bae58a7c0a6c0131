//! What the process of a stage tells the executor: one JSON object a line on its standard output.

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
        /// Who holds it, in words: pid, host, command.
        holder: String,
    },
    /// Work begins.
    Started,
    /// Something the stage told.
    Event(Event),
    /// Another process had recorded a result meanwhile; nothing was done.
    AlreadyRecorded,
    /// The result is in the store: what came out, by output name.
    Recorded(BTreeMap<String, Digest>),
    /// Nothing was recorded: the result was compared with the one that is.
    Checked(Vec<Difference>),
    /// It failed.
    Failed {
        /// What sort of failure.
        kind: ActionFailureKind,
        /// What was wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
}

/// The sort of a failure, as it crosses the process boundary.
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
    /// What it made is not what it declares: an output is missing, undeclared, or no plain file.
    Output,
    /// The kernel, or the program itself, ended it for want of memory.
    OutOfMemory,
    /// It held more memory than its `limits:` allow.
    MemoryLimit,
    /// It ran longer than its `limits:` allow.
    TimeLimit,
    /// Its process ended without a word: by a signal, mostly.
    Crash,
    /// Its process was ended from outside.
    Killed,
}

impl ActionFailureKind {
    /// Whether another attempt may go better, though nothing that it depends on changed. One that went over its time may
    /// where it goes on from what it `kept`.
    pub fn is_transient(self, kept: bool) -> bool {
        match self {
            ActionFailureKind::System | ActionFailureKind::Panic | ActionFailureKind::Command => true,
            ActionFailureKind::OutOfMemory | ActionFailureKind::Crash | ActionFailureKind::Killed => true,
            ActionFailureKind::TimeLimit => kept,
            ActionFailureKind::Input | ActionFailureKind::Cancelled | ActionFailureKind::Internal => false,
            ActionFailureKind::Output | ActionFailureKind::MemoryLimit => false,
        }
    }
}

/// A failure with its sort.
pub type Failed = (ActionFailureKind, Failure);

/// What kept the store or the machine from being used, as a failure of the action.
pub fn failed(error: impl Into<Error>) -> Failed {
    let error: Error = error.into();
    let failure = Failure { hint: error.hints.first().cloned(), ..Failure::internal(error.message) };
    let kind = if error.kind == ErrorKind::Internal { ActionFailureKind::Internal } else { ActionFailureKind::System };
    (kind, failure)
}
