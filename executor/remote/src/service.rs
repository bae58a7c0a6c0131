//! A store with its remotes: requests are carried out in the background, and report their progress.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::backends::check_is_no_store;
use super::client::Client;
use super::error::{RemoteError, catch_panic};
use super::fetch_result::{FetchStats, fetch_content, fetch_result};
use super::index::result_of;
use super::progress::{EventSender, TransferProgress};
use super::result_bundle::{ResultBundle, UploadStats};
use super::transfer::{MissingObject, RemoteStatus, TransferEvent, TransferRequest};
use super::upload_result::{upload_file, upload_result};
use super::{layout, records};
use cwm_core::{Digest, Error, Key};
use cwm_project::site::Site;
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, Store};

/// Results whose objects move at a time.
const CONCURRENT_RESULTS: usize = 4;

/// Keys that are looked up at a time.
const CONCURRENT_KEYS: usize = 32;

/// A store and its remotes. Dropping it ends transfers where they are; all of them can be resumed.
pub struct TransferService {
    // Taken out when the service is dropped.
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
}

struct Shared {
    clients: Vec<Arc<Client>>,
    /// Remotes that denied us access, and were reported for that.
    denied: Mutex<BTreeSet<String>>,
    store: Store,
    results: Semaphore,
    keys: Semaphore,
}

impl TransferService {
    /// Opens the remotes of `site`, or the one that is `named`; with `to_write` the one that uploads go to. Nothing is requested
    /// yet.
    ///
    /// # Errors
    /// There is none, none of that name or none that can be written; its settings do not fit together, or it is a store.
    pub fn open(site: &Site, named: Option<&str>, store: &Store, to_write: bool) -> Result<TransferService, Error> {
        let add = "`cwm remote add NAME URL` writes one into cwm.toml";
        if site.remotes.is_empty() {
            return Err(Error::usage("there are no remotes").hint(add));
        }
        let mut remotes: Vec<_> = site.remotes.iter().filter(|one| named.is_none_or(|name| one.name == name)).collect();
        if let (Some(name), true) = (named, remotes.is_empty()) {
            let names = site.remotes.iter().map(|remote| remote.name.as_str());
            let hint = cwm_core::suggest(name, "remotes", names);
            let error = Error::usage(format!("there is no remote `{name}`"));
            return Err(match hint {
                Some(hint) => error.hint(hint),
                None => error,
            });
        }
        if to_write {
            remotes.retain(|remote| !remote.read_only);
            remotes.truncate(1);
            if remotes.is_empty() {
                let what = named.map_or("every remote".to_owned(), |name| format!("the remote `{name}`"));
                return Err(Error::usage(format!("{what} is read-only")).hint(add));
            }
        }
        let opened = remotes.into_iter().map(|remote| {
            check_is_no_store(remote, Some(store.root()))?;
            let about = |error: RemoteError| Error::usage(format!("the remote `{}` {error}", remote.name));
            Client::open(remote).map(Arc::new).map_err(about)
        });
        let clients = opened.collect::<Result<Vec<_>, Error>>()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .thread_name("cwm-remote")
            .build()
            .map_err(|error| Error::system(format!("cannot start the threads of remotes: {error}")))?;
        let (results, keys) = (Semaphore::new(CONCURRENT_RESULTS), Semaphore::new(CONCURRENT_KEYS));
        let shared = Shared { clients, denied: Mutex::default(), store: store.clone(), results, keys };
        Ok(TransferService { runtime: Some(runtime), shared: Arc::new(shared) })
    }

    /// The names of the remotes, in order.
    pub fn names(&self) -> Vec<&str> {
        self.shared.clients.iter().map(|client| client.name.as_str()).collect()
    }

    /// Returns a function that says whether an error of a remote was not reported yet: that it denies us access is reported once,
    /// whatever was requested.
    pub fn is_first_report(&self) -> impl Fn(&str, &RemoteError) -> bool + Send + Sync + use<> {
        let shared = self.shared.clone();
        move |remote, error| {
            let mut denied = shared.denied.lock().unwrap_or_else(PoisonError::into_inner);
            !matches!(error, RemoteError::Denied { .. }) || denied.insert(remote.to_owned())
        }
    }

    /// Starts a request; `send` is called from another thread.
    pub fn start(&self, request: TransferRequest, send: impl Fn(TransferEvent) + Send + Sync + 'static) {
        let Some(runtime) = &self.runtime else { return };
        let shared = self.shared.clone();
        let send: EventSender = Arc::new(send);
        runtime.spawn(async move {
            let began = Instant::now();
            let work = async {
                let outcome = shared.carry_out(&request, &send, began).await;
                send(outcome.unwrap_or_else(|error| shared.failed(&request, error, began)));
            };
            // The caller waits for the final event, whatever happens.
            if let Err(error) = catch_panic(work).await {
                send(shared.failed(&request, error, began));
            }
        });
    }
}

impl Drop for TransferService {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Shared {
    /// Carries out a request, and returns its final event.
    async fn carry_out(
        &self,
        request: &TransferRequest,
        send: &EventSender,
        began: Instant,
    ) -> Result<TransferEvent, RemoteError> {
        let seconds = || began.elapsed().as_secs_f64();
        let progress = TransferProgress::new(send.clone());
        match request {
            TransferRequest::FetchRecords(keys) => {
                let _permit = self.keys.acquire().await;
                let (new, errors) = self.fetch_records(keys).await;
                Ok(TransferEvent::RecordsFetched { new, errors })
            }
            TransferRequest::FetchResult(candidates) => {
                let _permit = self.results.acquire().await;
                let mut missing = None;
                let (mut objects, mut bytes) = (0, 0);
                for record in candidates {
                    let progress = TransferProgress::new(send.clone());
                    let stats = fetch_result(&self.clients, &self.store, record, &progress).await?;
                    objects += stats.objects;
                    bytes += stats.bytes;
                    if stats.missing.is_empty() {
                        missing = None;
                        break;
                    }
                    missing.get_or_insert(stats.missing);
                }
                let missing = missing.unwrap_or_default();
                Ok(TransferEvent::ContentFetched { objects, bytes, seconds: seconds(), missing })
            }
            TransferRequest::FetchContent(outputs) => {
                let _permit = self.results.acquire().await;
                let fetched = fetch_content(&self.clients, &self.store, outputs, None, &progress).await?;
                let FetchStats { objects, bytes, missing } = fetched;
                Ok(TransferEvent::ContentFetched { objects, bytes, seconds: seconds(), missing })
            }
            TransferRequest::Initialize => Ok(TransferEvent::Initialized(initialize(self.first()?).await)),
            TransferRequest::Upload { bundle, force } => {
                let _permit = self.results.acquire().await;
                let stats = upload_result(self.first()?, &self.store, bundle, *force, &progress).await?;
                Ok(TransferEvent::Uploaded { outcome: Ok(Some(stats)), seconds: seconds() })
            }
            TransferRequest::UploadIfMissing(record) => {
                let stats = self.upload_if_missing(record, send, &progress).await?;
                Ok(TransferEvent::Uploaded { outcome: Ok(stats), seconds: seconds() })
            }
            TransferRequest::UploadFile(file) => {
                let _permit = self.results.acquire().await;
                let client = self.first()?;
                if let Some(message) = initialize(client).await {
                    send(TransferEvent::Initialized(Some(message)));
                }
                let stats = upload_file(client, &self.store, file, &progress).await?;
                Ok(TransferEvent::Uploaded { outcome: Ok(Some(stats)), seconds: seconds() })
            }
            TransferRequest::Stat(key, outputs) => {
                let _permit = self.keys.acquire().await;
                let mut found = Vec::new();
                for client in &self.clients {
                    found.push((client.name.clone(), status_of(client, key, outputs.as_ref()).await));
                }
                Ok(TransferEvent::Status(found))
            }
        }
    }

    /// The final event of a request that failed as a whole, such as by an error of the store or a panic.
    fn failed(&self, request: &TransferRequest, error: RemoteError, began: Instant) -> TransferEvent {
        let seconds = began.elapsed().as_secs_f64();
        let remote = self.clients.first().map_or_else(String::new, |client| client.name.clone());
        let outputs = match request {
            TransferRequest::FetchRecords(_) => {
                return TransferEvent::RecordsFetched { new: 0, errors: vec![(remote, error)] };
            }
            TransferRequest::Initialize => return TransferEvent::Initialized(None),
            TransferRequest::Upload { .. } | TransferRequest::UploadFile(_) | TransferRequest::UploadIfMissing(_) => {
                return TransferEvent::Uploaded { outcome: Err(error), seconds };
            }
            TransferRequest::Stat(..) => return TransferEvent::Status(vec![(remote, Err(error))]),
            TransferRequest::FetchResult(candidates) => candidates.first().map(|record| &record.outputs),
            TransferRequest::FetchContent(outputs) => Some(outputs),
        };
        let missing = outputs.into_iter().flatten().map(|(name, output)| MissingObject {
            all_remotes_answered: error != RemoteError::Panicked,
            ..MissingObject::new(name, &output.digest, error.to_string())
        });
        TransferEvent::ContentFetched { objects: 0, bytes: 0, seconds, missing: missing.collect() }
    }

    /// The remote that uploads go to.
    fn first(&self) -> Result<&Client, RemoteError> {
        let none = || RemoteError::Refused("there is no remote to push to".to_owned());
        self.clients.first().map(Arc::as_ref).ok_or_else(none)
    }

    /// Uploads a result to the first remote, unless some remote has all of it.
    async fn upload_if_missing(
        &self,
        record: &ActionRecord,
        send: &EventSender,
        progress: &TransferProgress,
    ) -> Result<Option<UploadStats>, RemoteError> {
        let client = self.first()?;
        let permit = self.keys.acquire().await;
        let mut first = None;
        for client in &self.clients {
            let found = status_of(client, &record.key, Some(&record.output_digests())).await;
            if found == Ok(RemoteStatus::Complete) {
                return Ok(Some(UploadStats::default()));
            }
            first.get_or_insert(found);
        }
        drop(permit);
        let _permit = self.results.acquire().await;
        let (store, wanted) = (self.store.clone(), record.clone());
        let collected = tokio::task::spawn_blocking(move || {
            let files = DigestCache::of_store(&store);
            ResultBundle::of(&store, &files, &wanted, true)
        });
        let bundle = collected.await.map_err(|error| RemoteError::Local(error.to_string()))??;
        if !bundle.has_files {
            // Its files are neither here nor, as far as that is known, with a remote.
            return first.unwrap_or(Ok(RemoteStatus::Absent)).map(|_| None);
        }
        if let Some(message) = initialize(client).await {
            send(TransferEvent::Initialized(Some(message)));
        }
        upload_result(client, &self.store, &bundle, false, progress).await.map(Some)
    }

    /// Imports the records that remotes have of these keys. An error of one remote does not stop the others.
    async fn fetch_records(&self, keys: &[Key]) -> (usize, Vec<(String, RemoteError)>) {
        let (mut new, mut errors) = (0, Vec::new());
        for key in keys {
            for client in &self.clients {
                let found = match records::list_records(client, key).await {
                    Ok(found) => found,
                    Err(error) => {
                        errors.push((client.name.clone(), error));
                        continue;
                    }
                };
                let invalid = found.invalid.into_iter().map(RemoteError::Invalid);
                errors.extend(invalid.map(|error| (client.name.clone(), error)));
                match self.store.import_records(key, found.records, &client.name) {
                    Ok(imported) => new += imported,
                    Err(error) => errors.push((client.name.clone(), error.into())),
                }
            }
        }
        (new, errors)
    }
}

/// Initializes a remote that holds nothing yet, and says so. Errors come up again in the upload that follows.
async fn initialize(client: &Client) -> Option<String> {
    let name = &client.name;
    let missing = client.folder.as_ref().filter(|folder| !folder.exists());
    if !client.initialize().await.ok()? {
        return None;
    }
    Some(match missing {
        Some(folder) => format!("the remote `{name}` was not there: its folder {} was made", folder.display()),
        None => format!("the remote `{name}` held nothing of cwm's: it was begun"),
    })
}

/// The part that a remote has of a key's result: of that with these outputs, or of any. The list of a folder's files
/// represents them: it is
/// uploaded after them.
async fn status_of(
    client: &Client,
    key: &Key,
    outputs: Option<&BTreeMap<String, Digest>>,
) -> Result<RemoteStatus, RemoteError> {
    if !client.has_format().await? {
        return Ok(RemoteStatus::Absent);
    }
    let mut best = RemoteStatus::Absent;
    if let Some(outputs) = outputs
        && records::index_of(client, key).await?.has_result(&result_of(outputs))
    {
        if is_complete(client, outputs).await? {
            return Ok(RemoteStatus::Complete);
        }
        best = RemoteStatus::RecordOnly;
    }
    let complete = if outputs.is_some() { RemoteStatus::OtherResult } else { RemoteStatus::Complete };
    for (record, _) in records::list_records(client, key).await?.records {
        let theirs = record.output_digests();
        if outputs == Some(&theirs) {
            continue;
        }
        if is_complete(client, &theirs).await? {
            return Ok(complete);
        }
        best = RemoteStatus::RecordOnly;
    }
    Ok(best)
}

async fn is_complete(client: &Client, outputs: &BTreeMap<String, Digest>) -> Result<bool, RemoteError> {
    for digest in outputs.values() {
        if client.size(&layout::object(digest)).await?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}
