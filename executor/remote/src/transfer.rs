//! The requests and the events of a [`TransferService`](super::TransferService).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::{RemoteError, Result};
use super::result_bundle::ResultBundle;
use cwm_core::{Key, OutputDigests};
use cwm_store::{ActionRecord, FileFingerprint, OutputRecord};

/// Work for a transfer service. Each request ends with one final event.
pub enum TransferRequest {
    /// Imports the records that remotes have of these keys. Ends with [`TransferEvent::RecordsFetched`].
    FetchRecords(Vec<Key>),
    /// Fetches the files of the first of these results that can be had complete. Ends with [`TransferEvent::ContentFetched`].
    FetchResult(Vec<ActionRecord>),
    /// Fetches these outputs, of whichever results they are. Ends with [`TransferEvent::ContentFetched`].
    FetchContent(BTreeMap<String, OutputRecord>),
    /// Uploads a result; with `force` also what the remote has. Ends with [`TransferEvent::Uploaded`].
    Upload {
        /// The result.
        bundle: Box<ResultBundle>,
        /// True if content is uploaded that the remote has.
        force: bool,
    },
    /// Uploads a result, unless a remote has all of it. Ends with [`TransferEvent::Uploaded`].
    UploadIfMissing(Arc<ActionRecord>),
    /// Uploads an external file. Ends with [`TransferEvent::Uploaded`].
    UploadFile(FileFingerprint),
    /// Looks up which part remotes have of the result with these outputs, or of any result of the key. Ends with
    /// [`TransferEvent::Status`].
    Stat(Key, Option<OutputDigests>),
}

/// The progress of a request.
#[derive(Debug)]
pub enum TransferEvent {
    /// Objects start to move.
    Started {
        /// The number of objects.
        objects: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// Bytes have moved.
    Progress {
        /// The bytes that have moved.
        done: u64,
        /// The bytes that are to move.
        total: u64,
    },
    /// A message about a remote that an upload initialized.
    Initialized(String),
    /// Records were imported.
    RecordsFetched {
        /// The number of results that are new here.
        new: usize,
        /// The errors, by remote. A remote that denies access is reported once.
        errors: Vec<(String, RemoteError)>,
    },
    /// Objects were fetched.
    ContentFetched(FetchStats),
    /// An upload has ended; nothing if files of the result are neither here nor with a remote. An error names its remote.
    Uploaded(Result<Option<TransferStats>, (String, RemoteError)>),
    /// The part of a result that each remote has.
    Status(Vec<(String, Result<RemoteStatus>)>),
}

impl TransferEvent {
    /// Returns true if no other event of its request follows.
    pub fn is_final(&self) -> bool {
        !matches!(self, TransferEvent::Started { .. } | TransferEvent::Progress { .. } | TransferEvent::Initialized(_))
    }
}

/// The outcome of a fetch.
#[derive(Debug)]
pub struct FetchStats {
    /// The objects that came.
    pub moved: TransferStats,
    /// The objects that no remote could give, each with the reasons.
    pub missing: Vec<String>,
    /// True if every remote answered.
    pub all_remotes_answered: bool,
}

/// The objects that a request moved. Those that were there are not counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransferStats {
    /// The number of objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The seconds that it took.
    pub seconds: f64,
}

/// The part of a result that a remote has, the less first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemoteStatus {
    /// Nothing.
    Absent,
    /// The record, and not all of the files.
    RecordOnly,
    /// All of another result of the key than the requested one.
    OtherResult,
    /// All of it.
    Complete,
}
