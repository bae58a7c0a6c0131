//! Remotes as the engine sees them.

use cwm_core::Key;
use cwm_engine::{Direction, InputUploader, ResultFetcher, TransferUpdate, UpdateSender, UploadItem, UploadOutcome};
use cwm_remote::{FetchStats, RemoteError, TransferEvent, TransferRequest, TransferService, UploadStats};
use cwm_store::ActionRecord;

/// Remotes, as a run uses them.
pub struct Remotes(pub TransferService);

impl ResultFetcher for Remotes {
    fn fetch_records(&self, cell: usize, keys: Vec<Key>, updates: UpdateSender) {
        self.0.start(TransferRequest::FetchRecords(keys), move |event| {
            if let TransferEvent::RecordsFetched { errors, .. } = event {
                let message = |(remote, error): (String, RemoteError)| format!("the remote `{remote}`: {error}");
                updates(TransferUpdate::Records { cell, failures: errors.into_iter().map(message).collect() });
            }
        });
    }

    fn fetch_files(&self, cell: usize, candidates: Vec<ActionRecord>, updates: UpdateSender) {
        self.0.start(TransferRequest::FetchResult(candidates), move |event| match event {
            TransferEvent::Started { objects, bytes } => {
                updates(TransferUpdate::Begun { cell, direction: Direction::Pull, objects, bytes });
            }
            TransferEvent::Progress { done, total } => updates(TransferUpdate::Progress { cell, done, total }),
            TransferEvent::ContentFetched(fetched) => {
                let FetchStats { objects, bytes, seconds, missing, all_remotes_answered } = fetched;
                updates(TransferUpdate::Files { cell, objects, bytes, seconds, missing, all_remotes_answered });
            }
            _ => {}
        });
    }
}

impl InputUploader for Remotes {
    fn upload(&self, cell: usize, item: UploadItem, updates: UpdateSender) {
        let id = item.id();
        let remote = self.0.names().first().copied().unwrap_or_default().to_owned();
        let request = match item {
            UploadItem::Result(record) => TransferRequest::UploadIfMissing(record),
            UploadItem::File(file) => TransferRequest::UploadFile(file),
        };
        self.0.start(request, move |event| match event {
            TransferEvent::Started { objects, bytes } => {
                updates(TransferUpdate::Begun { cell, direction: Direction::Push, objects, bytes });
            }
            TransferEvent::Progress { done, total } => updates(TransferUpdate::Progress { cell, done, total }),
            TransferEvent::Initialized(message) => updates(TransferUpdate::Warning(message)),
            TransferEvent::Uploaded(outcome) => {
                let outcome = match outcome {
                    Ok(Some(UploadStats { objects, bytes, seconds })) => {
                        UploadOutcome::Present { objects, bytes, seconds }
                    }
                    Ok(None) => UploadOutcome::Unavailable,
                    Err(error) => UploadOutcome::Failed(format!("the remote `{remote}`: {error}")),
                };
                updates(TransferUpdate::Uploaded { item: id.clone(), outcome });
            }
            _ => {}
        });
    }
}
