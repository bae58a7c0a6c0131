//! Transfers of an isolated job, one after the other: the caller blocks, progress is reported, and a request to stop is heeded.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Event, amount};

use super::RemoteStoreConfig;
use cwm_action::{ActionMessage, MessageWriter};
use cwm_core::Error;
use cwm_remote::{TransferEvent, TransferRequest, TransferService};
use cwm_store::Store;

/// The pause between two checks for a request to stop.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Moves content between the store of a node and remotes.
pub struct BlockingTransfers<'a> {
    pub config: &'a RemoteStoreConfig,
    pub store: &'a Store,
    pub messages: &'a MessageWriter,
    pub cancellation: &'a Cancellation,
}

impl BlockingTransfers<'_> {
    /// Returns the final event of this request; nothing if the job was stopped meanwhile.
    ///
    /// # Errors
    /// The settings of a remote do not fit together.
    pub fn run_cancellable(&self, doing: &str, request: TransferRequest) -> Result<Option<TransferEvent>, Error> {
        self.run(doing, request, || self.cancellation.is_cancelled())
    }

    /// Returns the final event of this request, also if the job is stopped: a finished result is not given up.
    ///
    /// # Errors
    /// As [`BlockingTransfers::run_cancellable`].
    pub fn run_to_completion(&self, doing: &str, request: TransferRequest) -> Result<TransferEvent, Error> {
        let event = self.run(doing, request, || false)?;
        event.ok_or_else(|| Error::internal("a transfer was cancelled that cannot be"))
    }

    fn run(
        &self,
        doing: &str,
        request: TransferRequest,
        is_cancelled: impl Fn() -> bool,
    ) -> Result<Option<TransferEvent>, Error> {
        let service = TransferService::open(&self.config.site(), None, self.store, false)?;
        let (sender, inbox) = channel();
        let sender = Mutex::new(sender);
        let began = Instant::now();
        service.start(request, move |event| {
            // Nobody receives after a cancellation.
            let _ = sender.lock().unwrap_or_else(PoisonError::into_inner).send(event);
        });
        loop {
            match inbox.recv_timeout(CHECK_INTERVAL) {
                Ok(TransferEvent::Started { objects: 0, .. }) | Err(RecvTimeoutError::Timeout) => {}
                Ok(TransferEvent::Started { objects, bytes }) => {
                    let what = format!("{doing} {}", files(objects, bytes));
                    self.messages.send(&ActionMessage::Event(Event::Activity(what)));
                }
                Ok(TransferEvent::Progress { done, total }) => {
                    let (total, unit) = (Some(total), "bytes".to_owned());
                    self.messages.send(&ActionMessage::Event(Event::Progress { done, total, unit }));
                }
                Ok(event) => {
                    if let TransferEvent::ContentFetched { objects: objects @ 1.., bytes, .. } = &event {
                        let (moved, seconds) = (files(*objects, *bytes), began.elapsed().as_secs_f64());
                        let _ = writeln!(std::io::stderr(), "pulled {moved} in {seconds:.1} s");
                    }
                    return Ok(Some(event));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::internal("a transfer ended without its final event"));
                }
            }
            if is_cancelled() {
                return Ok(None);
            }
        }
    }
}

/// `3 files, 5.0 MB`
fn files(objects: u64, bytes: u64) -> String {
    format!("{objects} {}, {}", if objects == 1 { "file" } else { "files" }, amount::format_bytes(bytes))
}
