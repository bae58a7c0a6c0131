//! Remotes as the engine sees them.

use cwm_contract::Label;
use cwm_core::Key;
use cwm_engine::{Direction, FetchFailure, RemoteTransfers, RunEvent, Update, UpdateSender, UploadItem};
use cwm_remote::{FetchStats, RemoteError, TransferEvent, TransferRequest, TransferService, TransferStats};
use cwm_store::ActionRecord;

/// Remotes, as a run uses them.
pub struct Remotes(pub TransferService);

impl RemoteTransfers for Remotes {
    fn fetch_records(&self, cell: usize, keys: Vec<Key>, updates: UpdateSender) {
        self.0.start(TransferRequest::FetchRecords(keys), move |event| {
            if let TransferEvent::RecordsFetched { errors, .. } = event {
                updates(Update::RecordsFetched(cell, errors.iter().map(remote_message).collect()));
            }
        });
    }

    fn fetch_files(&self, cell: usize, label: Label, key: Key, candidates: Vec<ActionRecord>, updates: UpdateSender) {
        self.0.start(TransferRequest::FetchResult(candidates), move |event| {
            if let Some(event) = run_event(&label, key, Direction::Pull, &event) {
                updates(Update::Emit(event));
            }
            if let TransferEvent::ContentFetched(FetchStats { missing, all_remotes_answered, .. }) = event {
                let failure = FetchFailure { missing, all_remotes_answered };
                updates(Update::FilesFetched(cell, Some(failure).filter(|one| !one.missing.is_empty())));
            }
        });
    }

    fn upload(&self, label: Label, key: Key, item: UploadItem, updates: UpdateSender) {
        let id = item.id();
        let request = match item {
            UploadItem::Result(record) => TransferRequest::UploadIfMissing(record),
            UploadItem::File(file) => TransferRequest::UploadFile(file),
        };
        self.0.start(request, move |event| {
            // An upload that moved nothing is not shown: the remote had all of it.
            let is_new_event = !matches!(event, TransferEvent::Uploaded(Ok(Some(TransferStats { objects: 0, .. }))));
            if let Some(event) = run_event(&label, key, Direction::Push, &event).filter(|_| is_new_event) {
                updates(Update::Emit(event));
            }
            if let TransferEvent::Uploaded(outcome) = event {
                let uploaded = outcome.map(|moved| moved.is_some()).map_err(|error| remote_message(&error));
                updates(Update::Uploaded(id.clone(), uploaded));
            }
        });
    }
}

/// Returns the event of a run for an event of a request that moves files.
pub fn run_event(label: &Label, key: Key, direction: Direction, event: &TransferEvent) -> Option<RunEvent> {
    let label = label.clone();
    let (moved, missing) = match event {
        &TransferEvent::Started { objects, bytes } => {
            return Some(RunEvent::Transferring { label, key, direction, objects, bytes });
        }
        &TransferEvent::Progress { done, total } => {
            return Some(RunEvent::Progress { label, done, total: Some(total), unit: "bytes".to_owned() });
        }
        TransferEvent::Initialized(message) => return Some(RunEvent::Warning { message: message.clone() }),
        TransferEvent::ContentFetched(FetchStats { moved, missing, .. }) => (*moved, missing.clone()),
        TransferEvent::Uploaded(Ok(Some(moved))) => (*moved, Vec::new()),
        TransferEvent::Uploaded(Err(error)) => (TransferStats::default(), vec![remote_message(error)]),
        _ => return None,
    };
    let TransferStats { objects, bytes, seconds } = moved;
    Some(RunEvent::Transferred { label, key, direction, objects, bytes, seconds, missing })
}

/// Describes the error of a remote.
pub fn remote_message((remote, error): &(String, RemoteError)) -> String {
    format!("the remote `{remote}`: {error}")
}
