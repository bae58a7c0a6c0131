//! The files of a result, from remotes into the store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use cwm_contract::amount;
use futures::{StreamExt, stream};

use super::client::Client;
use super::download::{Fetched, LOOK_AGAIN, Wanted, fetch};
use super::exchange::Lack;
use super::fault::Fault;
use super::tally::{Listener, Tally};
use cwm_core::digest::Digest;
use cwm_store::{ActionRecord, LARGEST_MANIFEST, Manifest, OutputRecord, OutputShape, Part, Store};

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
    let mut manifests: BTreeMap<Digest, (String, Wanted)> = BTreeMap::new();
    let from = Source { clients, store, since: Instant::now() };
    for (name, output) in outputs {
        if output.shape != OutputShape::Folder {
            let one = Wanted { digest: output.digest, size: Some(output.size), limit: output.size };
            wanted.insert(output.digest, (name.clone(), one));
            continue;
        }
        let (manifest, size) = match from.manifest(name, &output.digest).await? {
            Ok(manifest) => manifest,
            Err(lack) => {
                pulled.lacks.push(lack);
                continue;
            }
        };
        if manifest.size() != output.size {
            let why = "its record and the list of its files differ in size".to_owned();
            pulled.lacks.push(Lack::of(name, &output.digest, why));
            continue;
        }
        for file in manifest.files().values() {
            let one = Wanted { digest: file.digest, size: Some(file.size), limit: file.size };
            wanted.insert(file.digest, (name.clone(), one));
        }
        if let Some(size) = size {
            let one = Wanted { digest: output.digest, size: Some(size), limit: LARGEST_MANIFEST };
            manifests.insert(output.digest, (name.clone(), one));
        }
    }
    wanted.retain(|_, (_, one)| !store.object_size(&one.digest).is_ok_and(|size| size == one.size));
    let total: u64 = wanted.values().filter_map(|(_, one)| one.size).fold(0, u64::saturating_add);
    room(store, total)?;
    begun(wanted.len() as u64, total);
    from.files(wanted, &Tally::of(total, listener), &mut pulled).await?;
    if let Some(log) = log.filter(|log| !matches!(store.object_size(log), Ok(Some(_)))) {
        // No result depends on its log.
        let one = Wanted { digest: log, size: None, limit: LARGEST_LOG };
        if let Ok(Some(part)) = from.patiently("log", one).await {
            place(store, vec![part]).await?;
        }
    }
    // After what they name.
    for (name, one) in manifests.into_values() {
        match from.patiently(&name, one).await {
            Ok(part) => {
                pulled.objects += u64::from(part.is_some());
                place(store, part.into_iter().collect()).await?;
            }
            Err(lack) => pulled.lacks.push(lack),
        }
    }
    Ok(pulled)
}

/// Where content comes from, and goes to.
#[derive(Clone, Copy)]
struct Source<'a> {
    clients: &'a [Arc<Client>],
    store: &'a Store,
    /// What remotes said before that of having nothing no longer counts.
    since: Instant,
}

impl Source<'_> {
    /// The list of a folder's files, and if the store has it not yet, its bytes: then it lies there as a part, until the files
    /// that it names are there.
    async fn manifest(self, name: &str, digest: &Digest) -> Result<Result<(Manifest, Option<u64>), Lack>, Fault> {
        let one = Wanted { digest: *digest, size: None, limit: LARGEST_MANIFEST };
        let part = match self.patiently(name, one).await {
            Ok(Some(part)) => part,
            Ok(None) => return Ok(Ok((self.store.manifest(digest)?, None))),
            Err(lack) => return Ok(Err(lack)),
        };
        let bytes = std::fs::read(part.path()).map_err(|error| Fault::Here(error.to_string()))?;
        match Manifest::decode(&bytes) {
            Ok(manifest) => Ok(Ok((manifest, Some(bytes.len() as u64)))),
            Err(fault) => {
                self.store.discard(part)?;
                let why = format!("the list of its files is refused: {fault}");
                Ok(Err(Lack::of(name, digest, why)))
            }
        }
    }

    /// Fetches files side by side. What somebody else fetches comes last, when nothing is held here.
    async fn files(
        self,
        mut wanted: BTreeMap<Digest, (String, Wanted)>,
        tally: &Tally,
        pulled: &mut Pulled,
    ) -> Result<(), Fault> {
        loop {
            let mut coming = stream::iter(std::mem::take(&mut wanted))
                .map(|(digest, (name, one))| async move {
                    let came = self.once(&name, one, tally).await;
                    (digest, name, one, came)
                })
                .buffer_unordered(AT_ONCE);
            let mut batch = Vec::new();
            while let Some((digest, name, one, came)) = coming.next().await {
                match came {
                    Ok(Fetched::Whole(part)) => {
                        pulled.objects += 1;
                        pulled.bytes += one.size.unwrap_or(0);
                        batch.push(part);
                    }
                    Ok(Fetched::Stored) => {}
                    Ok(Fetched::Busy) => drop(wanted.insert(digest, (name, one))),
                    Err(lack) => pulled.lacks.push(lack),
                }
                if batch.len() >= BATCH {
                    place(self.store, std::mem::take(&mut batch)).await?;
                }
            }
            drop(coming);
            place(self.store, batch).await?;
            if wanted.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Fetches content, waiting for whoever else does; nothing if it is in the store by then.
    async fn patiently(self, output: &str, wanted: Wanted) -> Result<Option<Part>, Lack> {
        let quiet = Tally::of(0, Arc::new(|_, _| {}));
        loop {
            match self.once(output, wanted, &quiet).await? {
                Fetched::Stored => return Ok(None),
                Fetched::Whole(part) => return Ok(Some(part)),
                Fetched::Busy => tokio::time::sleep(LOOK_AGAIN).await,
            }
        }
    }

    /// Fetches content from the first remote that has it as it should be.
    async fn once(self, output: &str, wanted: Wanted, tally: &Tally) -> Result<Fetched, Lack> {
        let mut lack = Lack { output: output.to_owned(), digest: wanted.digest, why: Vec::new(), reached: true };
        for client in self.clients {
            // Of a folder that is not mounted nothing is "not there".
            let fetched = match client.has_format(self.since).await {
                Ok(true) => fetch(client, self.store, wanted, tally).await,
                Ok(false) => Err(Fault::NotThere),
                Err(fault) => Err(fault),
            };
            match fetched {
                Ok(fetched) => return Ok(fetched),
                Err(fault) => {
                    lack.reached &= !matches!(fault, Fault::NotReached(_) | Fault::Broken);
                    lack.why.push(format!("{}: {}", client.name, fault.words()));
                }
            }
        }
        Err(lack)
    }
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
