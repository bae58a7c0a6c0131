//! One piece of content, from a remote into a part file of the store: verified there, and gone on with after an interruption.

use std::os::unix::fs::FileExt;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};

use super::client::Client;
use super::fault::Fault;
use super::layout;
use super::tally::Tally;
use cwm_core::digest::Digest;
use cwm_store::{Part, Store};

/// What is asked for at once: up to this size in one request, beyond it in several side by side.
const PIECE: u64 = 4 << 20;

/// Requests of one piece of content at a time.
const AT_ONCE: usize = 4;

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The content.
    pub digest: Digest,
    /// Its bytes, where a record or a manifest says; else what the remote says, up to `limit`.
    pub size: Option<u64>,
    /// How long it may be.
    pub limit: u64,
}

/// What became of content that is fetched.
pub enum Fetched {
    /// It is in the store by now.
    Stored,
    /// It is whole, and has no name yet.
    Whole(Part),
    /// Somebody else fetches it, or has not given it its name yet: in this process or another. Whoever waits for that must
    /// hold no part himself, or two may wait for each other.
    Busy,
}

/// How long whoever waits for somebody else's part does so before he looks again.
pub const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Fetches content, without waiting for others who do.
///
/// # Errors
/// It is not there, does not come, or is not what its name says; then nothing of it stays.
pub async fn fetch(client: &Client, store: &Store, wanted: Wanted, tally: &Tally) -> Result<Fetched, Fault> {
    let found = store.object_size(&wanted.digest)?;
    if found.is_some_and(|found| wanted.size.is_none_or(|size| size == found)) {
        return Ok(Fetched::Stored);
    }
    let Some(mut part) = store.part(&wanted.digest)? else { return Ok(Fetched::Busy) };
    let name = layout::object(&wanted.digest);
    let size = match wanted.size {
        Some(size) => size,
        None => client.size(&name).await?.ok_or(Fault::NotThere)?,
    };
    if size > wanted.limit {
        return Err(Fault::Bad(format!("is longer than it can be ({size} bytes)")));
    }
    let mut begun = here(part.file.metadata())?.len();
    if begun > size {
        begun = 0;
        here(part.file.set_len(0))?;
    }
    tally.add(begun);
    loop {
        if let Err(fault) = fill(client, &name, &part, begun, size, tally).await {
            if matches!(fault, Fault::Bad(_) | Fault::NotThere) {
                store.discard(part)?;
            }
            return Err(fault);
        }
        let verifying = store.clone();
        let verified = tokio::task::spawn_blocking(move || verifying.is_whole(&part).map(|whole| (part, whole))).await;
        let (checked, is_whole) = verified.map_err(|error| Fault::Here(error.to_string()))??;
        part = checked;
        if is_whole {
            return Ok(Fetched::Whole(part));
        }
        if begun == 0 {
            store.discard(part)?;
            return Err(Fault::Bad(
                "has other content than its name says; whoever has it whole mends that with `cwm push --force`"
                    .to_owned(),
            ));
        }
        // What an earlier attempt left may have been the fault.
        begun = 0;
        here(part.file.set_len(0))?;
    }
}

/// Writes what is behind the first `begun` bytes.
async fn fill(client: &Client, name: &str, part: &Part, begun: u64, size: u64, tally: &Tally) -> Result<(), Fault> {
    if begun == size {
        return if size == 0 { client.small(name, 0).await.map(drop) } else { Ok(()) };
    }
    if size <= PIECE {
        let bytes = client.small(name, size).await?;
        if bytes.len() as u64 != size {
            return Err(Fault::Bad(format!("has {} bytes in place of {size}", bytes.len())));
        }
        here(part.file.write_all_at(&bytes, 0))?;
        tally.add(size - begun);
        return Ok(());
    }
    let mut at = begun;
    let ranges = (begun..size).step_by(PIECE as usize).map(|from| from..(from + PIECE).min(size));
    let mut pieces = futures::stream::iter(ranges).map(|range| client.range(name, range)).buffered(AT_ONCE);
    loop {
        match pieces.try_next().await {
            Ok(None) => return Ok(()),
            Ok(Some(piece)) => {
                here(part.file.write_all_at(&piece, at))?;
                at += piece.len() as u64;
                tally.add(piece.len() as u64);
            }
            Err(Fault::OnlyWhole) => break,
            Err(fault) => return Err(fault),
        }
    }
    drop(pieces);
    whole(client, name, part, size).await
}

/// Writes all of it out of one request, which is made again while that helps.
async fn whole(client: &Client, name: &str, part: &Part, size: u64) -> Result<(), Fault> {
    client
        .patiently(|| {
            Box::pin(async move {
                here(part.file.set_len(0))?;
                let mut body = client.stream(name).await?;
                let mut at = 0;
                while let Some(piece) = client.piece(&mut body).await? {
                    if at + piece.len() as u64 > size {
                        return Err(Fault::Bad(format!("has more than its {size} bytes")));
                    }
                    here(part.file.write_all_at(&piece, at))?;
                    at += piece.len() as u64;
                }
                match at == size {
                    true => Ok(()),
                    false => Err(Fault::NotReached(format!("the connection ended after {at} of {size} bytes"))),
                }
            })
        })
        .await
}

fn here<T>(result: std::io::Result<T>) -> Result<T, Fault> {
    result.map_err(|error| Fault::Here(format!("cannot write what is pulled: {error}")))
}
