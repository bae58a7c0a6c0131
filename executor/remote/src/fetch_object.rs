//! Fetches one object from a remote into a partial object of the store, verifies it, and resumes after an interruption.

use std::os::unix::fs::FileExt;
use std::time::Duration;

use tokio::time::sleep;

use super::client::Client;
use super::error::{RemoteError, Result, blocking};
use super::layout;
use super::progress::TransferProgress;
use cwm_core::{Backoff, Digest};
use cwm_store::{PartialObject, Store};

/// An object to fetch.
pub struct ObjectRequest {
    /// The output that it belongs to.
    pub output: String,
    /// Its digest.
    pub digest: Digest,
    /// Its size.
    pub size: u64,
}

/// The outcome of fetching an object.
pub enum FetchOutcome {
    /// The object is in the store.
    Stored,
    /// The object is complete, and not placed yet.
    Complete(PartialObject),
    /// Another task or process fetches it, or has not placed it yet. A task that waits for that must hold no partial object, or two
    /// may wait for each other.
    Busy,
}

/// The number of requests for the content of an object: answers may break off. `object_store` continues only those of servers that
/// send ETags.
const ATTEMPTS: u32 = 4;

/// The error of content that does not have the digest that names it.
pub const OTHER_CONTENT: &str = "content does not match its hash; `cwm push --force` from an intact store replaces it";

/// Fetches an object, without waiting for others who do.
///
/// # Errors
/// It is not there, does not come, or has another hash than its name; then nothing of it stays.
pub async fn fetch(
    client: &Client,
    store: &Store,
    request: &ObjectRequest,
    progress: &TransferProgress,
) -> Result<FetchOutcome> {
    if store.object_size(&request.digest)? == Some(request.size) {
        return Ok(FetchOutcome::Stored);
    }
    let Some(mut part) = store.partial_object(&request.digest)? else { return Ok(FetchOutcome::Busy) };
    let mut resumed_at = map_local(part.file.metadata())?.len();
    if resumed_at > request.size {
        resumed_at = 0;
    }
    progress.add(resumed_at);
    loop {
        map_local(part.file.set_len(resumed_at))?;
        let download = ObjectFetch { client, part: &part, size: request.size, progress };
        if let Err(error) = download.fill(resumed_at).await {
            if matches!(error, RemoteError::Invalid(_) | RemoteError::NotFound) {
                store.discard_partial(part)?;
            }
            return Err(error);
        }
        let (checked, is_complete) = blocking(move || part.is_complete().map(|complete| (part, complete))).await?;
        part = checked;
        if is_complete {
            return Ok(FetchOutcome::Complete(part));
        }
        if resumed_at == 0 {
            store.discard_partial(part)?;
            return Err(RemoteError::Invalid(OTHER_CONTENT.to_owned()));
        }
        // The bytes of an earlier attempt may have been wrong.
        resumed_at = 0;
    }
}

/// The content of a partial object that comes from a remote.
struct ObjectFetch<'a> {
    client: &'a Client,
    part: &'a PartialObject,
    size: u64,
    progress: &'a TransferProgress,
}

impl ObjectFetch<'_> {
    /// Writes the bytes from `at` on, and continues where the answer breaks off.
    async fn fill(&self, mut at: u64) -> Result<()> {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
        let mut attempt = 1;
        while at < self.size {
            match self.append(&mut at).await {
                Err(error) if error.is_transient() && attempt < ATTEMPTS => {
                    attempt += 1;
                    sleep(backoff.next_delay()).await;
                }
                outcome => return outcome,
            }
        }
        Ok(())
    }

    /// Requests the bytes from `at` on and writes those that come.
    async fn append(&self, at: &mut u64) -> Result<()> {
        let ObjectFetch { client, part, size, progress } = *self;
        let name = layout::object(&part.digest);
        let mut body = match client.stream(&name, *at, size).await {
            // The server sends files only as a whole, or has a shorter one.
            Err(RemoteError::Unsupported(_)) if *at > 0 => {
                *at = 0;
                map_local(part.file.set_len(0))?;
                client.stream(&name, 0, size).await?
            }
            body => body?,
        };
        while let Some(piece) = client.next_chunk(&mut body).await? {
            let length = piece.len() as u64;
            if *at + length > size {
                return Err(RemoteError::Invalid(format!("has more than its {size} bytes")));
            }
            map_local(part.file.write_all_at(&piece, *at))?;
            *at += length;
            progress.add(length);
        }
        if *at < size { Err(RemoteError::too_short()) } else { Ok(()) }
    }
}

fn map_local<T>(result: std::io::Result<T>) -> Result<T> {
    result.map_err(|error| RemoteError::Local(format!("cannot write a pulled file: {error}")))
}
