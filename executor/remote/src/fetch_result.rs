//! Fetches the files of a result from remotes into the store.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::amount;
use futures::{StreamExt, stream};
use tokio::time::{Duration, sleep};

use super::client::Client;
use super::error::{RemoteError, Result, blocking};
use super::fetch_object::{FetchOutcome, OTHER_CONTENT, ObjectRequest, fetch};
use super::layout;
use super::progress::TransferProgress;
use super::transfer::{FetchStats, TransferStats};
use cwm_core::Digest;
use cwm_store::{LARGEST_MANIFEST, Manifest, OutputRecord, OutputShape, PartialObject, Store};

/// Objects of one result that are fetched at a time.
const CONCURRENT: usize = 16;

/// Objects that are placed together: each is an open file until then.
const BATCH: usize = 32;

/// The pause before another look at objects that somebody else fetches.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// The longest log that is fetched.
const LARGEST_LOG: u64 = 64 << 20;

/// Fetches the objects of these outputs, and a log, that the store does not have. One that cannot be had does not stop the others.
///
/// # Errors
/// This machine's store refuses.
pub async fn fetch_content(
    clients: &[Client],
    store: &Store,
    outputs: &BTreeMap<String, OutputRecord>,
    log: Option<Digest>,
    progress: &TransferProgress,
) -> Result<FetchStats> {
    let stats = FetchStats { moved: TransferStats::default(), missing: Vec::new(), all_remotes_answered: true };
    let mut fetch = Fetch { clients, store, progress, stats };
    let mut files = BTreeMap::new();
    let mut manifests = Vec::new();
    for (name, output) in outputs {
        let request = |digest, size| ObjectRequest { output: name.clone(), digest, size };
        if output.shape != OutputShape::Folder {
            files.insert(output.digest, request(output.digest, output.size));
            continue;
        }
        let manifest = match store.object_size(&output.digest)? {
            Some(_) => store.manifest(&output.digest)?,
            None => match fetch.manifest(output).await {
                Ok((manifest, bytes)) => {
                    manifests.push(bytes);
                    manifest
                }
                Err(errors) => {
                    fetch.add_missing(name, &output.digest, &errors);
                    continue;
                }
            },
        };
        files.extend(manifest.files().values().map(|file| (file.digest, request(file.digest, file.size))));
    }
    files.retain(|_, file| !store.object_size(&file.digest).is_ok_and(|size| size == Some(file.size)));
    let total = files.values().map(|file| file.size).fold(0, u64::saturating_add);
    require_space(store, total)?;
    progress.begin(files.len() as u64, total);
    fetch.files(files).await?;
    fetch.stats.moved.objects += manifests.len() as u64;
    if let Some(log) = log.filter(|log| !matches!(store.object_size(log), Ok(Some(_)))) {
        // No result depends on its log.
        let log = fetch.read_small(&log, LARGEST_LOG, Ok).await;
        manifests.extend(log.ok());
    }
    // After the files that they name.
    for bytes in manifests {
        let store = store.clone();
        blocking(move || store.ingest(Path::new("it"), &mut bytes.as_slice())).await?;
    }
    fetch.stats.moved.seconds = progress.seconds();
    Ok(fetch.stats)
}

/// The reasons why no remote gave an object: the name of each remote, with its error.
type ClientErrors = Vec<(String, RemoteError)>;

/// A fetch of several objects.
struct Fetch<'a> {
    clients: &'a [Client],
    store: &'a Store,
    progress: &'a TransferProgress,
    stats: FetchStats,
}

impl Fetch<'_> {
    /// Fetches files side by side. Those that somebody else fetches come last, when nothing is held here.
    async fn files(&mut self, mut wanted: BTreeMap<Digest, ObjectRequest>) -> Result<()> {
        let (clients, store, progress) = (self.clients, self.store, self.progress);
        loop {
            let mut fetches = stream::iter(std::mem::take(&mut wanted).into_values())
                .map(|file| async move {
                    let fetched = first_intact(clients, |client| fetch(client, store, &file, progress)).await;
                    (file, fetched)
                })
                .buffer_unordered(CONCURRENT);
            let mut batch = Vec::new();
            while let Some((file, fetched)) = fetches.next().await {
                match fetched {
                    Ok(FetchOutcome::Complete(part)) => {
                        self.stats.moved.objects += 1;
                        self.stats.moved.bytes += file.size;
                        batch.push(part);
                    }
                    Ok(FetchOutcome::Stored) => {}
                    Ok(FetchOutcome::Busy) => drop(wanted.insert(file.digest, file)),
                    Err(errors) => self.add_missing(&file.output, &file.digest, &errors),
                }
                if batch.len() >= BATCH {
                    place(store, std::mem::take(&mut batch)).await?;
                }
            }
            drop(fetches);
            place(store, batch).await?;
            if wanted.is_empty() {
                return Ok(());
            }
            sleep(BUSY_PAUSE).await;
        }
    }

    /// Fetches the list of the files of a folder, with its bytes.
    async fn manifest(&self, output: &OutputRecord) -> Result<(Manifest, Vec<u8>), ClientErrors> {
        let decode = |bytes: Vec<u8>| match Manifest::decode(Path::new("it"), &bytes) {
            Ok(manifest) if manifest.size() == output.size => Ok((manifest, bytes)),
            Ok(_) => Err(RemoteError::Invalid("its record and the list of its files differ in size".to_owned())),
            Err(error) => Err(RemoteError::Invalid(format!("the list of its files is refused: {error}"))),
        };
        self.read_small(&output.digest, LARGEST_MANIFEST, decode).await
    }

    /// Fetches an object that fits into memory.
    async fn read_small<T>(
        &self,
        digest: &Digest,
        limit: u64,
        decode: impl Fn(Vec<u8>) -> Result<T>,
    ) -> Result<T, ClientErrors> {
        let decode = &decode;
        let get = |client| async move {
            let bytes = Client::read_small(client, &layout::object(digest), limit).await?;
            match Digest::of(&bytes) == *digest {
                true => decode(bytes),
                false => Err(RemoteError::Invalid(OTHER_CONTENT.to_owned())),
            }
        };
        first_intact(self.clients, get).await
    }

    fn add_missing(&mut self, output: &str, digest: &Digest, errors: &[(String, RemoteError)]) {
        let reasons: Vec<String> = errors.iter().map(|(client, error)| format!("{client}: {error}")).collect();
        self.stats.missing.push(format!("{output} ({}): {}", &digest.to_string()[..12], reasons.join("; ")));
        self.stats.all_remotes_answered &= errors.iter().all(|(_, error)| error.is_conclusive());
    }
}

/// Gets an object from the first remote that has it intact.
async fn first_intact<'c, T, F: Future<Output = Result<T>>>(
    clients: &'c [Client],
    get: impl Fn(&'c Client) -> F,
) -> Result<T, ClientErrors> {
    let mut errors = Vec::new();
    for client in clients {
        // A folder that is not mounted is an error, and does not make its objects "not there".
        let got = match client.has_format().await {
            Ok(true) => get(client).await,
            Ok(false) => Err(RemoteError::NotFound),
            Err(error) => Err(error),
        };
        match got {
            Ok(object) => return Ok(object),
            Err(error) => errors.push((client.name.clone(), error)),
        }
    }
    Err(errors)
}

async fn place(store: &Store, parts: Vec<PartialObject>) -> Result<()> {
    let store = store.clone();
    blocking(move || store.place_objects(parts)).await
}

/// Refuses more bytes than the disk has: an untrusted record may name any size.
fn require_space(store: &Store, bytes: u64) -> Result<()> {
    let Ok(disk) = rustix::fs::statvfs(store.root()) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if bytes <= free {
        return Ok(());
    }
    let (needs, free) = (amount::format_bytes(bytes), amount::format_bytes(free));
    Err(RemoteError::Local(format!("not enough disk space: {needs} needed, {free} free")))
}
