//! The updates that executors and remotes send to a run, from any thread.

use std::sync::Arc;

use crate::event::RunEvent;
use cwm_action::{ActionFailure, ActionMessage};
use cwm_core::{Digest, Key, OutputDigests};
use cwm_store::ActionRecord;

/// A message from an executor, a transfer or a signal to the loop of the run.
#[derive(Debug)]
pub enum Update {
    /// An event of the run.
    Emit(RunEvent),
    /// The action of a cell sent a message.
    Message(usize, ActionMessage),
    /// The action of a cell ended. A success should have left a result.
    Exited(usize, Result<(), ActionFailure>),
    /// All remotes were searched for the records of a cell, with a warning for each that failed.
    RecordsFetched(usize, Vec<String>),
    /// A fetch of the files of a cell's result ended. Without a failure the result is complete now.
    FilesFetched(usize, Option<FetchFailure>),
    /// The upload of an item ended, or failed for a reason. False if files of the item are neither here nor with the remote.
    Uploaded(UploadId, Result<bool, String>),
    /// The process received a signal to stop.
    Signal,
}

/// Sends updates to the run.
pub type UpdateSender = Arc<dyn Fn(Update) + Send + Sync>;

/// The identity of what is uploaded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UploadId {
    /// A result, by its key and the digests of its outputs.
    Result(Key, OutputDigests),
    /// A file, by its content.
    File(Digest),
}

impl UploadId {
    /// Returns the identity of a result.
    pub fn of(record: &ActionRecord) -> UploadId {
        UploadId::Result(record.key, record.output_digests())
    }
}

/// A fetch after which files were still missing.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchFailure {
    /// The objects that no remote had, a line each.
    pub missing: Vec<String>,
    /// True if every remote answered.
    pub all_remotes_answered: bool,
}
