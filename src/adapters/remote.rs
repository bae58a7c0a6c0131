//! Remotes as the engine sees them.

use cwm_core::digest::Key;
use cwm_engine::Direction;
use cwm_engine::{Article, Fetcher, Provided, Provider, Tell, Tidings};
use cwm_remote::{RemoteError, TransferEvent, TransferRequest, TransferService};
use cwm_store::ActionRecord;

/// Remotes, as a run uses them.
pub struct Remotes(pub TransferService);

impl Fetcher for Remotes {
    fn records(&self, cell: usize, keys: Vec<Key>, tell: Tell) {
        let is_first_report = self.0.is_first_report();
        self.0.start(TransferRequest::FetchRecords(keys), move |event| {
            if let TransferEvent::RecordsFetched { mut errors, .. } = event {
                errors.retain(|(remote, error)| is_first_report(remote, error));
                let message = |(remote, error): (String, RemoteError)| format!("the remote `{remote}`: {error}");
                tell(Tidings::Records { cell, faults: errors.into_iter().map(message).collect() });
            }
        });
    }

    fn files(&self, cell: usize, candidates: Vec<ActionRecord>, tell: Tell) {
        self.0.start(TransferRequest::FetchResult(candidates), move |event| match event {
            TransferEvent::Started { objects, bytes } => {
                tell(Tidings::Begun { cell, direction: Direction::Pull, objects, bytes });
            }
            TransferEvent::Progress { done, total } => tell(Tidings::Progress { cell, done, total }),
            TransferEvent::ContentFetched { objects, bytes, seconds, missing } => {
                let reached = missing.iter().all(|object| object.all_remotes_answered);
                let lacks = missing.iter().map(ToString::to_string).collect();
                tell(Tidings::Files { cell, objects, bytes, seconds, lacks, reached });
            }
            _ => {}
        });
    }
}

impl Provider for Remotes {
    fn provide(&self, cell: usize, article: Article, tell: Tell) {
        let id = article.id();
        let remote = self.0.names().first().copied().unwrap_or_default().to_owned();
        let request = match article {
            Article::Result(record) => TransferRequest::UploadIfMissing(record),
            Article::File(file) => TransferRequest::UploadFile(file),
        };
        self.0.start(request, move |event| match event {
            TransferEvent::Started { objects, bytes } => {
                tell(Tidings::Begun { cell, direction: Direction::Push, objects, bytes });
            }
            TransferEvent::Progress { done, total } => tell(Tidings::Progress { cell, done, total }),
            TransferEvent::Initialized(Some(message)) => tell(Tidings::Said(message)),
            TransferEvent::Uploaded { outcome, seconds } => {
                let came = match outcome {
                    Ok(Some(stats)) => Provided::There { objects: stats.objects, bytes: stats.bytes, seconds },
                    Ok(None) => Provided::Nowhere,
                    Err(error) => Provided::Failed(format!("the remote `{remote}`: {error}")),
                };
                tell(Tidings::Provided { article: id.clone(), came });
            }
            _ => {}
        });
    }
}
