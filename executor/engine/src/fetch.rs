//! Remotes as the engine sees them: it fetches results before it builds them, and uploads the inputs of jobs.

use std::sync::Arc;

use cwm_contract::Label;

use crate::event::RunEvent;
use cwm_core::{Digest, Key, OutputDigests};
use cwm_store::ActionRecord;
use cwm_store::external_files::FileFingerprint;

/// Fetches results from remotes and uploads to them in the background. Methods return at once; the outcome is sent as a
/// [`TransferUpdate`].
pub trait RemoteTransfers {
    /// Fetches the records of these keys into the store. [`TransferUpdate::RecordsFetched`] is the end.
    fn fetch_records(&self, cell: usize, keys: Vec<Key>, updates: UpdateSender);

    /// Fetches the files of the first of these results of `key` that remotes have completely. [`TransferUpdate::FilesFetched`] is
    /// the end; the events before it name the cell by `label`.
    fn fetch_files(&self, cell: usize, label: Label, key: Key, candidates: Vec<ActionRecord>, updates: UpdateSender);

    /// Uploads the objects of an item that the remote does not have, for a job whose node does not share the run's store.
    /// [`TransferUpdate::Uploaded`] is the end; the events before it name a cell by `label` and `key`.
    fn upload(&self, label: Label, key: Key, item: UploadItem, updates: UpdateSender);
}

/// An input of a job.
#[derive(Clone, Debug)]
pub enum UploadItem {
    /// The result of another cell.
    Result(Box<ActionRecord>),
    /// A file from outside.
    File(FileFingerprint),
}

/// The identity of an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UploadId {
    /// A result, by its key and the digests of its outputs.
    Result(Key, OutputDigests),
    /// A file, by its content.
    File(Digest),
}

impl UploadItem {
    /// Returns its identity.
    pub fn id(&self) -> UploadId {
        match self {
            UploadItem::Result(record) => UploadId::of(record),
            UploadItem::File(file) => UploadId::File(file.digest),
        }
    }
}

impl UploadId {
    /// Returns the identity of a result.
    pub fn of(record: &ActionRecord) -> UploadId {
        UploadId::Result(record.key, record.output_digests())
    }
}

/// The outcome of an upload.
#[derive(Clone, Debug, PartialEq)]
pub enum UploadOutcome {
    /// The remote has all of it now.
    Present,
    /// Files of the item are neither here nor with the remote.
    Unavailable,
    /// The upload failed, with the reason.
    Failed(String),
}

/// A fetch after which files were still missing.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchFailure {
    /// The objects that no remote had, a line each.
    pub missing: Vec<String>,
    /// True if every remote answered.
    pub all_remotes_answered: bool,
}

/// Sends updates to the engine, from any thread.
pub type UpdateSender = Arc<dyn Fn(TransferUpdate) + Send + Sync>;

/// The progress and the end of a transfer.
#[derive(Clone, Debug, PartialEq)]
pub enum TransferUpdate {
    /// An event of the run.
    Emit(RunEvent),
    /// All remotes were searched for the records of a cell, with a warning for each that failed.
    RecordsFetched(usize, Vec<String>),
    /// A fetch of the files of a cell's result ended. Without a failure the result is complete now.
    FilesFetched(usize, Option<FetchFailure>),
    /// The upload of an item ended.
    Uploaded(UploadId, UploadOutcome),
}
