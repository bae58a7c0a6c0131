//! Fetches one object from a remote into a partial object of the store, verifies it, and resumes after an interruption.

use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::client::Client;
use super::error::RemoteError;
use super::http_connector::RangeError;
use super::layout;
use super::progress::TransferProgress;
use cwm_core::Digest;
use cwm_store::{PartialObject, Store};

/// An object to fetch.
#[derive(Clone, Copy, Debug)]
pub struct ObjectRequest {
    /// Its digest.
    pub digest: Digest,
    /// Its size, where a record or a manifest gives it; else what the remote says, up to `limit`.
    pub size: Option<u64>,
    /// The largest size that it may have.
    pub limit: u64,
}

/// The outcome of fetching an object.
pub enum Fetched {
    /// It is in the store.
    Stored,
    /// It is complete, and not placed yet.
    Complete(PartialObject),
    /// Another task or process fetches it, or has not placed it yet. A task that waits for that must hold no partial object, or two
    /// may wait for each other.
    Busy,
}

/// The pause before another look at an object that somebody else fetches.
pub const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// Fetches an object, without waiting for others who do.
///
/// # Errors
/// It is not there, does not come, or is not what its name says; then nothing of it stays.
pub async fn fetch(
    client: &Client,
    store: &Store,
    request: ObjectRequest,
    progress: &TransferProgress,
) -> Result<Fetched, RemoteError> {
    let found = store.object_size(&request.digest)?;
    if found.is_some_and(|found| request.size.is_none_or(|size| size == found)) {
        return Ok(Fetched::Stored);
    }
    let Some(mut part) = store.partial_object(&request.digest)? else { return Ok(Fetched::Busy) };
    let name = layout::object(&request.digest);
    let size = match request.size {
        Some(size) => size,
        None => client.size(&name).await?.ok_or(RemoteError::NotFound)?,
    };
    if size > request.limit {
        return Err(RemoteError::Invalid(format!("is longer than it can be ({size} bytes)")));
    }
    let mut resumed_at = local(part.file.metadata())?.len();
    if resumed_at > size {
        resumed_at = 0;
        local(part.file.set_len(0))?;
    }
    progress.add(resumed_at);
    loop {
        if let Err(error) = fill(client, &name, &part, resumed_at, size, progress).await {
            if matches!(error, RemoteError::Invalid(_) | RemoteError::NotFound) {
                store.discard_partial(part)?;
            }
            return Err(error);
        }
        let verified = tokio::task::spawn_blocking(move || part.is_complete().map(|complete| (part, complete))).await;
        let (checked, is_complete) = verified.map_err(|error| RemoteError::Local(error.to_string()))??;
        part = checked;
        if is_complete {
            return Ok(Fetched::Complete(part));
        }
        if resumed_at == 0 {
            store.discard_partial(part)?;
            return Err(RemoteError::Invalid(
                "has other content than its name says; `cwm push --force` by a person who has it whole replaces it"
                    .to_owned(),
            ));
        }
        // The bytes of an earlier attempt may have been wrong.
        resumed_at = 0;
        local(part.file.set_len(0))?;
    }
}

/// Writes the bytes from `resumed_at` on, and continues where the answer breaks off. A server that does not send a part of a file
/// sends the whole.
async fn fill(
    client: &Client,
    name: &str,
    part: &PartialObject,
    resumed_at: u64,
    size: u64,
    progress: &TransferProgress,
) -> Result<(), RemoteError> {
    if resumed_at == size && size > 0 {
        return Ok(());
    }
    let written = &AtomicU64::new(resumed_at);
    client
        .retry_broken_answer(|| {
            Box::pin(async move {
                let mut at = written.load(Ordering::Relaxed);
                let mut body = match client.stream(name, at, size).await {
                    Err(RemoteError::RangesUnsupported) => {
                        at = 0;
                        local(part.file.set_len(0))?;
                        client.stream(name, 0, size).await?
                    }
                    body => body?,
                };
                while let Some(piece) = client.piece(&mut body).await? {
                    if at + piece.len() as u64 > size {
                        return Err(RemoteError::Invalid(format!("has more than its {size} bytes")));
                    }
                    local(part.file.write_all_at(&piece, at))?;
                    at += piece.len() as u64;
                    written.store(at, Ordering::Relaxed);
                    progress.add(piece.len() as u64);
                }
                match at == size {
                    true => Ok(()),
                    false => Err(RemoteError::Invalid(RangeError::Shorter.to_string())),
                }
            })
        })
        .await
}

fn local<T>(result: std::io::Result<T>) -> Result<T, RemoteError> {
    result.map_err(|error| RemoteError::Local(format!("cannot write what is pulled: {error}")))
}
