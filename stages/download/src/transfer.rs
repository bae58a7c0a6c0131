//! One request, made in a thread of its own, so that its caller can be cancelled at any moment, also where
//! the server is silent.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use cwm_contract::{Context, Failure};
use cwm_web::ureq::Agent;
use cwm_web::{FetchError, classify};

use crate::reply::{self, DownloadReply};

/// Chunks that may wait in the queue; with [`CHUNK_BYTES`], the memory of a transfer.
const MAX_QUEUED: usize = 16;

/// Bytes of a chunk.
const CHUNK_BYTES: usize = 1 << 18;

/// A request for a file or a part of it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The URL of the file.
    pub url: String,
    /// First byte and, if not to the end, last byte.
    pub range: Option<(u64, Option<u64>)>,
    /// The name that the file must still have, else the server sends all of it.
    pub if_range: Option<String>,
}

/// An event of a transfer, in this order: the response, chunks, the end; or a failure in place of any of them.
#[derive(Debug)]
pub enum TransferEvent {
    /// The head of the answer. The body comes only if the transfer is kept.
    Response(DownloadReply),
    /// The next bytes of the body.
    Chunk(Vec<u8>),
    /// The body is over.
    End,
    /// The transfer failed.
    Failed(FetchError),
}

/// A request under way. Dropped, it is given up: its thread ends at its next piece or at a time limit of the agent.
pub struct Transfer {
    events: Receiver<TransferEvent>,
}

impl Transfer {
    /// Makes the request.
    pub fn start(agent: &Agent, request: Request) -> Self {
        let (sender, events) = sync_channel(MAX_QUEUED);
        let agent = agent.clone();
        std::thread::spawn(move || {
            if let Err(error) = perform(&agent, &request, &sender) {
                // The receiver may have been dropped; then no progress is wanted.
                let _ = sender.send(TransferEvent::Failed(error));
            }
        });
        Transfer { events }
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// The stage was cancelled.
    pub fn next(&self, context: &Context) -> Result<TransferEvent, Failure> {
        loop {
            context.check_cancelled()?;
            match self.events.recv_timeout(Duration::from_millis(100)) {
                Ok(events) => return Ok(events),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(TransferEvent::Failed(FetchError::Transient(
                        "the transfer ended without an error message".into(),
                        None,
                    )));
                }
            }
        }
    }
}

fn perform(agent: &Agent, request: &Request, sender: &SyncSender<TransferEvent>) -> Result<(), FetchError> {
    let mut builder = agent.get(&request.url).header("Accept-Encoding", "identity");
    if let Some((first, last)) = request.range {
        let last = last.map(|last| last.to_string()).unwrap_or_default();
        builder = builder.header("Range", format!("bytes={first}-{last}"));
    }
    if let Some(name) = &request.if_range {
        builder = builder.header("If-Range", name);
    }
    let mut response = builder.call().map_err(|error| classify(&request.url, error))?;
    if sender.send(TransferEvent::Response(reply::read(&response))).is_err() {
        return Ok(());
    }
    let mut body = response.body_mut().as_reader();
    loop {
        let mut piece = vec![0; CHUNK_BYTES];
        match body.read(&mut piece).map_err(|error| FetchError::Transient(error.to_string(), None))? {
            0 => {
                let _ = sender.send(TransferEvent::End);
                return Ok(());
            }
            read => piece.truncate(read),
        }
        if sender.send(TransferEvent::Chunk(piece)).is_err() {
            return Ok(());
        }
    }
}
