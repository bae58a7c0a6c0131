//! Remotes as the engine sees them: it fetches results before it builds them, and uploads the inputs of jobs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::event::Direction;
use cwm_core::{Digest, Key};
use cwm_store::ActionRecord;
use cwm_store::external_files::FileFingerprint;

/// Fetches results from remotes in the background. Methods return at once; the outcome is sent as a [`TransferUpdate`].
pub trait ResultFetcher {
    /// Fetches the records of these keys into the store. [`TransferUpdate::Records`] is the end.
    fn fetch_records(&self, cell: usize, keys: Vec<Key>, updates: UpdateSender);

    /// Fetches the files of the first of these results that remotes have completely. [`TransferUpdate::Files`] is the end.
    fn fetch_files(&self, cell: usize, candidates: Vec<ActionRecord>, updates: UpdateSender);
}

/// Uploads the inputs of jobs whose nodes do not share the run's store. It works in the background as well.
pub trait InputUploader {
    /// Uploads the objects of an item that the remote does not have. [`TransferUpdate::Uploaded`] is the end.
    fn upload(&self, cell: usize, item: UploadItem, updates: UpdateSender);
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
    Result(Key, BTreeMap<String, Digest>),
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
    Present {
        /// Objects that were sent; the remote had the others.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// Seconds that it took.
        seconds: f64,
    },
    /// Files of the item are neither here nor with the remote.
    Unavailable,
    /// The upload failed, with the reason.
    Failed(String),
}

/// Sends updates to the engine, from any thread.
pub type UpdateSender = Arc<dyn Fn(TransferUpdate) + Send + Sync>;

/// The progress and the end of a transfer.
#[derive(Clone, Debug, PartialEq)]
pub enum TransferUpdate {
    /// All remotes were searched for records.
    Records {
        /// The cell.
        cell: usize,
        /// A warning for each remote that failed.
        failures: Vec<String>,
    },
    /// A transfer of files began.
    Begun {
        /// The cell.
        cell: usize,
        /// The direction.
        direction: Direction,
        /// The number of objects.
        objects: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// A part of the files was transferred.
    Progress {
        /// The cell.
        cell: usize,
        /// Bytes that were transferred.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// A fetch of files ended.
    Files {
        /// The cell.
        cell: usize,
        /// Objects that were fetched.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// Seconds that it took.
        seconds: f64,
        /// The objects that no remote had, a line each; empty if the result is complete now.
        missing: Vec<String>,
        /// True if every remote answered.
        all_remotes_answered: bool,
    },
    /// A warning about a remote.
    Warning(String),
    /// An upload ended.
    Uploaded {
        /// The item.
        item: UploadId,
        /// The outcome.
        outcome: UploadOutcome,
    },
}
