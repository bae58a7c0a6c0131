//! The requests and the events of a [`TransferService`](super::TransferService).

use std::collections::BTreeMap;

use super::error::RemoteError;
use super::result_bundle::{ResultBundle, UploadStats};
use cwm_core::{Digest, Key};
use cwm_store::external_files::FileFingerprint;
use cwm_store::{ActionRecord, OutputRecord};

/// Work for a transfer service. Each request ends with one final event.
pub enum TransferRequest {
    /// Imports the records that remotes have of these keys. Ends with [`TransferEvent::RecordsFetched`].
    FetchRecords(Vec<Key>),
    /// Fetches the files of the first of these results that can be had complete. Ends with [`TransferEvent::ContentFetched`].
    FetchResult(Vec<ActionRecord>),
    /// Fetches these outputs, of whichever results they are. Ends with [`TransferEvent::ContentFetched`].
    FetchContent(BTreeMap<String, OutputRecord>),
    /// Makes the first remote ready for uploads. Ends with [`TransferEvent::Initialized`].
    Initialize,
    /// Uploads a result; with `force` also what the remote has. Ends with [`TransferEvent::Uploaded`].
    Upload {
        /// The result.
        bundle: Box<ResultBundle>,
        /// True if content is uploaded that the remote has.
        force: bool,
    },
    /// Uploads a result, unless a remote has all of it. Ends with [`TransferEvent::Uploaded`].
    UploadIfMissing(Box<ActionRecord>),
    /// Uploads an external file. Ends with [`TransferEvent::Uploaded`].
    UploadFile(FileFingerprint),
    /// Asks what remotes have of a key: of the result with these outputs, or of any. Ends with [`TransferEvent::Status`].
    Stat(Key, Option<BTreeMap<String, Digest>>),
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
    /// The first remote can be written. The text says that it was initialized; there is none if it was in use, or does not
    /// answer. It is the final event of [`TransferRequest::Initialize`] alone.
    Initialized(Option<String>),
    /// Records were imported.
    RecordsFetched {
        /// The number of results that are new here.
        new: usize,
        /// The errors, by remote.
        errors: Vec<(String, RemoteError)>,
    },
    /// Objects were fetched.
    ContentFetched {
        /// The number of objects that came.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// The seconds that it took.
        seconds: f64,
        /// The objects that could not be had.
        missing: Vec<MissingObject>,
    },
    /// An upload has ended.
    Uploaded {
        /// The upload; nothing if files of the result are neither here nor with a remote.
        outcome: Result<Option<UploadStats>, RemoteError>,
        /// The seconds that it took.
        seconds: f64,
    },
    /// The part of a result that each remote has.
    Status(Vec<(String, Result<RemoteStatus, RemoteError>)>),
}

/// An object that no remote could give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingObject {
    /// The output that it belongs to.
    pub output: String,
    /// Its digest.
    pub digest: Digest,
    /// Why not, by remote.
    pub reasons: Vec<String>,
    /// True if every remote answered.
    pub all_remotes_answered: bool,
}

impl std::fmt::Display for MissingObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.output, &self.digest.to_string()[..12], self.reasons.join("; "))
    }
}

impl MissingObject {
    /// An object that is missing for this reason, though every remote answered.
    pub(super) fn new(output: &str, digest: &Digest, reason: String) -> MissingObject {
        MissingObject { output: output.to_owned(), digest: *digest, reasons: vec![reason], all_remotes_answered: true }
    }
}

/// The part of a result that a remote has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
