//! What the process of a stage tells the executor: one JSON object a line on its standard output.

use std::collections::BTreeMap;

use cwm_contract::Event;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
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
    /// It failed.
    Failed {
        /// What sort of failure.
        kind: FailedKind,
        /// What was wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
}

/// The sort of a failure, as it crosses the process boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailedKind {
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
}
