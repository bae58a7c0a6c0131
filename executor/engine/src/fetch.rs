//! Results of others and inputs for others, as the engine sees remotes: it fetches before it builds, and uploads what jobs read.

use std::collections::BTreeMap;

use crate::event::Direction;
use cwm_core::{Digest, Key};
use cwm_store::ActionRecord;
use cwm_store::external_files::FileFingerprint;

/// Fetches results from remotes in the background. Methods return at once; the outcome is sent as a [`TransferUpdate`].
pub trait ResultFetcher {
    /// Takes over the records that there are of these keys. [`TransferUpdate::Records`] is the end.
    fn fetch_records(&self, cell: usize, keys: Vec<Key>, updates: UpdateSender);

    /// Fetches the files of the first of these results that can be had whole. [`TransferUpdate::Files`] is the end.
    fn fetch_files(&self, cell: usize, candidates: Vec<ActionRecord>, updates: UpdateSender);
}

/// Uploads, in the background as well, what jobs read on nodes that do not share the run's store.
pub trait InputUploader {
    /// Uploads what the remote lacks of this. [`TransferUpdate::Uploaded`] is the end.
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
    /// A result, by its key and what came out.
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
    /// That of a result.
    pub fn of(record: &ActionRecord) -> UploadId {
        UploadId::Result(record.key, record.output_digests())
    }
}

/// What came of an upload.
#[derive(Clone, Debug, PartialEq)]
pub enum UploadOutcome {
    /// The remote has all of it now.
    Present {
        /// Pieces of content that were sent; the others were there.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// Seconds that it took.
        seconds: f64,
    },
    /// Files of it are neither with the remote nor here.
    Unavailable,
    /// It could not be sent, and why.
    Failed(String),
}

/// Sends updates to the engine, from any thread.
pub type UpdateSender = Box<dyn Fn(TransferUpdate) + Send + Sync>;

/// How it goes.
#[derive(Clone, Debug, PartialEq)]
pub enum TransferUpdate {
    /// Remotes were asked for records; what did not go well, in words.
    Records {
        /// For which cell.
        cell: usize,
        /// A sentence each.
        failures: Vec<String>,
    },
    /// Files begin to move.
    Begun {
        /// For which cell.
        cell: usize,
        /// Which way.
        direction: Direction,
        /// How many.
        objects: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// Files move.
    Progress {
        /// For which cell.
        cell: usize,
        /// Bytes that moved.
        done: u64,
        /// Bytes that are to move.
        total: u64,
    },
    /// Files came, or did not.
    Files {
        /// For which cell.
        cell: usize,
        /// How many came.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// Seconds that it took.
        seconds: f64,
        /// What could not be had, a line each; nothing if the result is whole now.
        missing: Vec<String>,
        /// True if every remote answered.
        all_remotes_answered: bool,
    },
    /// Something is to be known of a remote, such as that it was begun.
    Warning(String),
    /// An upload has ended.
    Uploaded {
        /// What.
        item: UploadId,
        /// How it went.
        outcome: UploadOutcome,
    },
}
