//! Fetches the files of a result from remotes into the store.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cwm_contract::amount;
use futures::{StreamExt, stream};

use super::client::Client;
use super::error::RemoteError;
use super::fetch_object::{BUSY_PAUSE, Fetched, ObjectRequest, fetch};
use super::progress::TransferProgress;
use super::transfer::MissingObject;
use cwm_core::Digest;
use cwm_store::{ActionRecord, LARGEST_MANIFEST, Manifest, OutputRecord, OutputShape, PartialObject, Store};

/// Objects of one result that are fetched at a time.
const CONCURRENT: usize = 16;

/// Objects that are placed together: each is an open file until then.
const BATCH: usize = 32;

/// The longest log that is fetched.
const LARGEST_LOG: u64 = 1 << 30;

/// The outcome of a fetch.
#[derive(Default)]
pub struct FetchStats {
    /// The number of objects that came.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The objects that did not come.
    pub missing: Vec<MissingObject>,
}

/// Fetches the objects of a result that the store does not have. One that cannot be had does not stop the others.
///
/// # Errors
/// This machine's store refuses.
pub async fn fetch_result(
    clients: &[Arc<Client>],
    store: &Store,
    record: &ActionRecord,
    progress: &TransferProgress,
) -> Result<FetchStats, RemoteError> {
    let stats = fetch_content(clients, store, &record.outputs, record.log, progress).await?;
    if stats.missing.is_empty() {
        store.mark_local(record)?;
    }
    Ok(stats)
}

/// Fetches the objects of these outputs that the store does not have, of whichever results they are.
///
/// # Errors
/// As [`fetch_result`].
pub async fn fetch_content(
    clients: &[Arc<Client>],
    store: &Store,
    outputs: &BTreeMap<String, OutputRecord>,
    log: Option<Digest>,
    progress: &TransferProgress,
) -> Result<FetchStats, RemoteError> {
    let mut stats = FetchStats::default();
    let mut wanted: BTreeMap<Digest, (String, ObjectRequest)> = BTreeMap::new();
    let mut manifests: BTreeMap<Digest, (String, ObjectRequest)> = BTreeMap::new();
    let from = Source { clients, store };
    for (name, output) in outputs {
        if output.shape != OutputShape::Folder {
            let one = ObjectRequest { digest: output.digest, size: Some(output.size), limit: output.size };
            wanted.insert(output.digest, (name.clone(), one));
            continue;
        }
        let (manifest, size) = match from.manifest(name, &output.digest).await? {
            Ok(manifest) => manifest,
            Err(missing) => {
                stats.missing.push(missing);
                continue;
            }
        };
        if manifest.size() != output.size {
            let why = "its record and the list of its files differ in size".to_owned();
            stats.missing.push(MissingObject::new(name, &output.digest, why));
            continue;
        }
        for file in manifest.files().values() {
            let one = ObjectRequest { digest: file.digest, size: Some(file.size), limit: file.size };
            wanted.insert(file.digest, (name.clone(), one));
        }
        if let Some(size) = size {
            let one = ObjectRequest { digest: output.digest, size: Some(size), limit: LARGEST_MANIFEST };
            manifests.insert(output.digest, (name.clone(), one));
        }
    }
    wanted.retain(|_, (_, one)| !store.object_size(&one.digest).is_ok_and(|size| size == one.size));
    let total: u64 = wanted.values().filter_map(|(_, one)| one.size).fold(0, u64::saturating_add);
    require_space(store, total)?;
    progress.begin(wanted.len() as u64, total);
    from.files(wanted, progress, &mut stats).await?;
    if let Some(log) = log.filter(|log| !matches!(store.object_size(log), Ok(Some(_)))) {
        // No result depends on its log.
        let one = ObjectRequest { digest: log, size: None, limit: LARGEST_LOG };
        if let Ok(Some(part)) = from.fetch_one("log", one).await {
            place(store, vec![part]).await?;
        }
    }
    // After what they name.
    for (name, one) in manifests.into_values() {
        match from.fetch_one(&name, one).await {
            Ok(part) => {
                stats.objects += u64::from(part.is_some());
                place(store, part.into_iter().collect()).await?;
            }
            Err(missing) => stats.missing.push(missing),
        }
    }
    Ok(stats)
}

/// The remotes that objects come from, and the store that they go to.
#[derive(Clone, Copy)]
struct Source<'a> {
    clients: &'a [Arc<Client>],
    store: &'a Store,
}

impl Source<'_> {
    /// The list of a folder's files, and if the store has it not yet, its bytes: then it lies there as a part, until the files
    /// that it names are there.
    async fn manifest(
        self,
        name: &str,
        digest: &Digest,
    ) -> Result<Result<(Manifest, Option<u64>), MissingObject>, RemoteError> {
        let one = ObjectRequest { digest: *digest, size: None, limit: LARGEST_MANIFEST };
        let part = match self.fetch_one(name, one).await {
            Ok(Some(part)) => part,
            Ok(None) => return Ok(Ok((self.store.manifest(digest)?, None))),
            Err(missing) => return Ok(Err(missing)),
        };
        let bytes = std::fs::read(part.path()).map_err(|error| RemoteError::Local(error.to_string()))?;
        match Manifest::decode(Path::new("it"), &bytes) {
            Ok(manifest) => Ok(Ok((manifest, Some(bytes.len() as u64)))),
            Err(error) => {
                self.store.discard_partial(part)?;
                let why = format!("the list of its files is refused: {error}");
                Ok(Err(MissingObject::new(name, digest, why)))
            }
        }
    }

    /// Fetches files side by side. What somebody else fetches comes last, when nothing is held here.
    async fn files(
        self,
        mut wanted: BTreeMap<Digest, (String, ObjectRequest)>,
        progress: &TransferProgress,
        stats: &mut FetchStats,
    ) -> Result<(), RemoteError> {
        loop {
            let mut coming = stream::iter(std::mem::take(&mut wanted))
                .map(|(digest, (name, one))| async move {
                    let came = self.try_fetch(&name, one, progress).await;
                    (digest, name, one, came)
                })
                .buffer_unordered(CONCURRENT);
            let mut batch = Vec::new();
            while let Some((digest, name, one, came)) = coming.next().await {
                match came {
                    Ok(Fetched::Complete(part)) => {
                        stats.objects += 1;
                        stats.bytes += one.size.unwrap_or(0);
                        batch.push(part);
                    }
                    Ok(Fetched::Stored) => {}
                    Ok(Fetched::Busy) => drop(wanted.insert(digest, (name, one))),
                    Err(missing) => stats.missing.push(missing),
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
            tokio::time::sleep(BUSY_PAUSE).await;
        }
    }

    /// Fetches an object, and waits for others who fetch it; nothing if it is in the store then.
    async fn fetch_one(self, output: &str, wanted: ObjectRequest) -> Result<Option<PartialObject>, MissingObject> {
        let silent = TransferProgress::silent();
        loop {
            match self.try_fetch(output, wanted, &silent).await? {
                Fetched::Stored => return Ok(None),
                Fetched::Complete(part) => return Ok(Some(part)),
                Fetched::Busy => tokio::time::sleep(BUSY_PAUSE).await,
            }
        }
    }

    /// Fetches an object from the first remote that has it intact.
    async fn try_fetch(
        self,
        output: &str,
        wanted: ObjectRequest,
        progress: &TransferProgress,
    ) -> Result<Fetched, MissingObject> {
        let mut missing = MissingObject {
            output: output.to_owned(),
            digest: wanted.digest,
            reasons: Vec::new(),
            all_remotes_answered: true,
        };
        for client in self.clients {
            // Of a folder that is not mounted nothing is "not there".
            let fetched = match client.has_format().await {
                Ok(true) => fetch(client, self.store, wanted, progress).await,
                Ok(false) => Err(RemoteError::NotFound),
                Err(error) => Err(error),
            };
            match fetched {
                Ok(fetched) => return Ok(fetched),
                Err(error) => {
                    missing.all_remotes_answered &=
                        !matches!(error, RemoteError::Unreachable(_) | RemoteError::Panicked);
                    missing.reasons.push(format!("{}: {}", client.name, error));
                }
            }
        }
        Err(missing)
    }
}

async fn place(store: &Store, parts: Vec<PartialObject>) -> Result<(), RemoteError> {
    let store = store.clone();
    let placed = tokio::task::spawn_blocking(move || store.place_objects(parts)).await;
    Ok(placed.map_err(|error| RemoteError::Local(error.to_string()))??)
}

/// Refuses more bytes than the disk has: an untrusted record may name any size.
fn require_space(store: &Store, bytes: u64) -> Result<(), RemoteError> {
    let Ok(disk) = rustix::fs::statvfs(store.root()) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if bytes <= free {
        return Ok(());
    }
    let (needs, free) = (amount::format_bytes(bytes), amount::format_bytes(free));
    Err(RemoteError::Local(format!("there is no room for it: {needs} are to come, and the store's disk has {free}")))
}
