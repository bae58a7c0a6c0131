//! Remotes as the engine sees them: it fetches results before it builds them, and uploads the inputs of jobs.

use std::sync::Arc;

use cwm_contract::Label;

use crate::update::{UpdateSender, UploadId};
use cwm_core::Key;
use cwm_store::{ActionRecord, FileFingerprint};

/// Fetches results from remotes and uploads to them in the background. Methods return at once; the outcome is sent as an
/// [`Update`](crate::Update).
pub trait RemoteTransfers {
    /// Fetches the records of these keys into the store. [`RecordsFetched`](crate::Update::RecordsFetched) is the end.
    fn fetch_records(&self, cell: usize, keys: Vec<Key>, updates: UpdateSender);

    /// Fetches the files of the first of these results of `key` that remotes have completely.
    /// [`FilesFetched`](crate::Update::FilesFetched) is the end; the events before it name the cell by `label`.
    fn fetch_files(&self, cell: usize, label: Label, key: Key, candidates: Vec<ActionRecord>, updates: UpdateSender);

    /// Uploads the objects of an item that the remote does not have, for a job whose node does not share the run's store.
    /// [`Uploaded`](crate::Update::Uploaded) is the end; the events before it name a cell by `label` and `key`.
    fn upload(&self, label: Label, key: Key, item: UploadItem, updates: UpdateSender);
}

/// An input of a job.
#[derive(Clone, Debug)]
pub enum UploadItem {
    /// The result of another cell.
    Result(Arc<ActionRecord>),
    /// An external file.
    File(FileFingerprint),
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
