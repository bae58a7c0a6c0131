//! The files of a result, from remotes into the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use cwm_contract::amount;
use futures::{StreamExt, stream};

use super::client::Client;
use super::download::{Wanted, fetch};
use super::exchange::Lack;
use super::fault::Fault;
use super::tally::{Listener, Tally};
use crate::digest::Digest;
use crate::store::{ActionRecord, LARGEST_MANIFEST, Manifest, OutputRecord, OutputShape, Part, Store};

/// Content that one result is fetched by at a time.
const AT_ONCE: usize = 16;

/// What is given its names together: each is an open file until then.
const BATCH: usize = 32;

/// The longest log that is fetched.
const LARGEST_LOG: u64 = 1 << 30;

/// What came of it.
#[derive(Default)]
pub struct Pulled {
    /// Pieces of content that came.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What did not come.
    pub lacks: Vec<Lack>,
}

/// Fetches what the store lacks of a result. What cannot be had does not keep the rest from coming.
///
/// # Errors
/// This machine's store refuses.
pub async fn pull(
    clients: &[Arc<Client>],
    store: &Store,
    record: &ActionRecord,
    begun: impl Fn(u64, u64),
    listener: Listener,
) -> Result<Pulled, Fault> {
    let pulled = content(clients, store, &record.outputs, record.log, begun, listener).await?;
    if pulled.lacks.is_empty() {
        store.has_arrived(record)?;
    }
    Ok(pulled)
}

/// Fetches what the store lacks of these outputs, of whichever results they are.
///
/// # Errors
/// As [`pull`].
pub async fn content(
    clients: &[Arc<Client>],
    store: &Store,
    outputs: &BTreeMap<String, OutputRecord>,
    log: Option<Digest>,
    begun: impl Fn(u64, u64),
    listener: Listener,
) -> Result<Pulled, Fault> {
    let mut pulled = Pulled::default();
    let mut wanted: BTreeMap<Digest, (String, Wanted)> = BTreeMap::new();
    let mut manifests = Vec::new();
    let quiet = Tally::of(0, Arc::new(|_, _| {}));
    for (name, output) in outputs {
        if output.shape != OutputShape::Folder {
            let one = Wanted { digest: output.digest, size: Some(output.size), limit: output.size };
            wanted.insert(output.digest, (name.clone(), one));
            continue;
        }
        let one = Wanted { digest: output.digest, size: None, limit: LARGEST_MANIFEST };
        let part = match any(clients, store, name, one, &quiet).await {
            Ok(part) => part,
            Err(lack) => {
                pulled.lacks.push(lack);
                continue;
            }
        };
        let read = part.as_ref().map(|part| std::fs::read(part.path()));
        let manifest = match read {
            None => store.manifest(&output.digest)?,
            Some(bytes) => match Manifest::decode(&bytes.map_err(|error| Fault::Here(error.to_string()))?) {
                Ok(manifest) => manifest,
                Err(fault) => {
                    if let Some(part) = part {
                        store.discard(part)?;
                    }
                    let why = format!("the list of its files is refused: {fault}");
                    pulled.lacks.push(Lack::of(name, &output.digest, why));
                    continue;
                }
            },
        };
        if manifest.size() != output.size {
            if let Some(part) = part {
                store.discard(part)?;
            }
            let why = "its record and the list of its files differ in size".to_owned();
            pulled.lacks.push(Lack::of(name, &output.digest, why));
            continue;
        }
        for file in manifest.files().values() {
            let one = Wanted { digest: file.digest, size: Some(file.size), limit: file.size };
            wanted.insert(file.digest, (name.clone(), one));
        }
        manifests.extend(part);
    }
    wanted.retain(|_, (_, one)| !store.object_size(&one.digest).is_ok_and(|size| size == one.size));
    let total: u64 = wanted.values().filter_map(|(_, one)| one.size).fold(0, u64::saturating_add);
    room(store, total)?;
    begun(wanted.len() as u64, total);
    let tally = Tally::of(total, listener);
    let log = log.filter(|log| !matches!(store.object_size(log), Ok(Some(_))));
    let tally = &tally;
    let mut coming = stream::iter(wanted.into_values())
        .map(|(name, one)| async move { (one, any(clients, store, &name, one, tally).await) })
        .buffer_unordered(AT_ONCE);
    let mut batch = Vec::new();
    while let Some((one, came)) = coming.next().await {
        match came {
            Ok(part) => {
                pulled.objects += u64::from(part.is_some());
                pulled.bytes += if part.is_some() { one.size.unwrap_or(0) } else { 0 };
                batch.extend(part);
            }
            Err(lack) => pulled.lacks.push(lack),
        }
        if batch.len() >= BATCH {
            place(store, std::mem::take(&mut batch)).await?;
        }
    }
    drop(coming);
    if let Some(log) = log {
        // No result depends on its log.
        let one = Wanted { digest: log, size: None, limit: LARGEST_LOG };
        batch.extend(any(clients, store, "log", one, &quiet).await.ok().flatten());
    }
    place(store, batch).await?;
    pulled.objects += manifests.len() as u64;
    // After what they name.
    place(store, manifests).await?;
    Ok(pulled)
}

/// Fetches content from the first remote that has it as it should be.
async fn any(
    clients: &[Arc<Client>],
    store: &Store,
    output: &str,
    wanted: Wanted,
    tally: &Tally,
) -> Result<Option<Part>, Lack> {
    let mut lack = Lack { output: output.to_owned(), digest: wanted.digest, why: Vec::new(), reached: true };
    for client in clients {
        // Of a folder that is not mounted nothing is "not there".
        let fetched = match client.has_format().await {
            Ok(true) => fetch(client, store, wanted, tally).await,
            Ok(false) => Err(Fault::NotThere),
            Err(fault) => Err(fault),
        };
        match fetched {
            Ok(part) => return Ok(part),
            Err(fault) => {
                lack.reached &= !matches!(fault, Fault::NotReached(_));
                lack.why.push(format!("{}: {}", client.name, fault.words()));
            }
        }
    }
    Err(lack)
}

async fn place(store: &Store, parts: Vec<Part>) -> Result<(), Fault> {
    let store = store.clone();
    let placed = tokio::task::spawn_blocking(move || store.place_arrived(parts)).await;
    Ok(placed.map_err(|error| Fault::Here(error.to_string()))??)
}

/// Whether there is room for so many bytes: a record from elsewhere may name any size.
fn room(store: &Store, bytes: u64) -> Result<(), Fault> {
    let Ok(disk) = rustix::fs::statvfs(store.root()) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if bytes <= free {
        return Ok(());
    }
    let (needs, free) = (amount::in_words(bytes), amount::in_words(free));
    Err(Fault::Here(format!("there is no room for it: {needs} are to come, and the store's disk has {free}")))
}
