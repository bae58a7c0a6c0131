//! A store with its remotes: requests are carried out in the background, and report their progress.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::backends::check_is_no_store;
use super::client::Client;
use super::error::{RemoteError, Result, blocking, catch_panic};
use super::fetch_result::fetch_content;
use super::progress::TransferProgress;
use super::result_bundle::{LocalObject, ResultBundle};
use super::transfer::{FetchStats, RemoteStatus, TransferEvent, TransferRequest, TransferStats};
use super::upload_result::Upload;
use super::{layout, records};
use cwm_core::{Error, Key, OutputDigests, lock_mutex, suggest};
use cwm_project::config::Remote;
use cwm_store::{ActionRecord, DigestCache, Store};

/// Results whose objects move at a time, in each direction.
const CONCURRENT_RESULTS: usize = 4;

/// A store and its remotes. Dropping it ends transfers where they are; all of them can be resumed.
pub struct TransferService {
    // Taken out when the service is dropped.
    runtime: Option<Runtime>,
    state: Arc<ServiceState>,
}

struct ServiceState {
    /// The clients, at least one.
    clients: Vec<Client>,
    /// Remotes that denied us access, and were reported for that.
    denied: Mutex<BTreeSet<String>>,
    store: Store,
    fetches: Semaphore,
    /// Apart from fetches: jobs wait for uploads of their inputs.
    uploads: Semaphore,
}

impl TransferService {
    /// Opens these remotes, or the one that is `named`; with `to_write` the one that uploads go to. Nothing is requested
    /// yet.
    ///
    /// # Errors
    /// There is none, none of that name or none that can be written; its settings do not fit together, or it is a store.
    pub fn open(all: &[Remote], named: Option<&str>, store: &Store, to_write: bool) -> Result<TransferService, Error> {
        let add = "`cwm remote add NAME URL` writes one into cwm.toml";
        if all.is_empty() {
            return Err(Error::usage("there are no remotes").hint(add));
        }
        let mut remotes: Vec<_> = all.iter().filter(|one| named.is_none_or(|name| one.name == name)).collect();
        if let (Some(name), true) = (named, remotes.is_empty()) {
            let names = all.iter().map(|remote| remote.name.as_str());
            let (hint, error) = (suggest(name, "remotes", names), Error::usage(format!("there is no remote `{name}`")));
            return Err(hint.into_iter().fold(error, Error::hint));
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
            check_is_no_store(remote, store.root())?;
            let about = |error: RemoteError| Error::usage(format!("the remote `{}` {error}", remote.name));
            Client::open(remote).map_err(about)
        });
        let clients = opened.collect::<Result<Vec<_>, Error>>()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .thread_name("cwm-remote")
            .build()
            .map_err(|error| Error::system(format!("cannot start the threads of remotes: {error}")))?;
        let [fetches, uploads] = [CONCURRENT_RESULTS; 2].map(Semaphore::new);
        let state = ServiceState { clients, denied: Mutex::default(), store: store.clone(), fetches, uploads };
        Ok(TransferService { runtime: Some(runtime), state: Arc::new(state) })
    }

    /// Returns the names of the remotes, in order.
    pub fn names(&self) -> Vec<&str> {
        self.state.clients.iter().map(|client| client.name.as_str()).collect()
    }

    /// Starts a request; `send` is called from another thread.
    pub fn start(&self, request: TransferRequest, send: impl Fn(TransferEvent) + Send + Sync + 'static) {
        let Some(runtime) = &self.runtime else { return };
        let state = self.state.clone();
        let progress = TransferProgress::new(send);
        runtime.spawn(async move {
            let work = async {
                let outcome = state.carry_out(&request, &progress).await;
                progress.send(outcome.unwrap_or_else(|error| state.failed(&request, error)));
            };
            // The caller waits for the final event, whatever happens.
            if let Err(error) = catch_panic(work).await {
                progress.send(state.failed(&request, error));
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

impl ServiceState {
    /// Carries out a request, and returns its final event.
    async fn carry_out(&self, request: &TransferRequest, progress: &TransferProgress) -> Result<TransferEvent> {
        match request {
            TransferRequest::FetchRecords(keys) => Ok(self.fetch_records(keys).await),
            TransferRequest::FetchResult(candidates) => self.fetch_result(candidates, progress).await,
            TransferRequest::FetchContent(outputs) => {
                let _permit = self.fetches.acquire().await;
                let fetched = fetch_content(&self.clients, &self.store, outputs, None, progress).await?;
                Ok(TransferEvent::ContentFetched(fetched))
            }
            TransferRequest::Upload { bundle, force } => {
                let _permit = self.uploads.acquire().await;
                let stats = self.upload(*force, progress).await?.result(bundle).await?;
                Ok(TransferEvent::Uploaded(Ok(Some(stats))))
            }
            TransferRequest::UploadIfMissing(record) => {
                Ok(TransferEvent::Uploaded(Ok(self.upload_if_missing(record, progress).await?)))
            }
            TransferRequest::UploadFile(file) => {
                let _permit = self.uploads.acquire().await;
                let object = LocalObject { digest: file.digest, size: file.stat.size, path: file.path.clone() };
                let group = BTreeMap::from([(object.digest, object)]);
                let stats = self.upload(false, progress).await?.objects(&[group]).await?;
                Ok(TransferEvent::Uploaded(Ok(Some(stats))))
            }
            TransferRequest::Stat(key, outputs) => {
                let mut found = Vec::new();
                for client in &self.clients {
                    found.push((client.name.clone(), status_of(client, key, outputs.as_ref()).await));
                }
                Ok(TransferEvent::Status(found))
            }
        }
    }

    /// The final event of a request that failed as a whole, such as by an error of the store or a panic.
    fn failed(&self, request: &TransferRequest, error: RemoteError) -> TransferEvent {
        let remote = self.clients[0].name.clone();
        match request {
            TransferRequest::FetchRecords(_) => TransferEvent::RecordsFetched { new: 0, errors: vec![(remote, error)] },
            TransferRequest::FetchResult(_) | TransferRequest::FetchContent(_) => {
                let (all_remotes_answered, missing) = (error.is_conclusive(), vec![error.to_string()]);
                let stats = FetchStats { moved: TransferStats::default(), missing, all_remotes_answered };
                TransferEvent::ContentFetched(stats)
            }
            TransferRequest::Upload { .. } | TransferRequest::UploadFile(_) | TransferRequest::UploadIfMissing(_) => {
                TransferEvent::Uploaded(Err((remote, error)))
            }
            TransferRequest::Stat(..) => TransferEvent::Status(vec![(remote, Err(error))]),
        }
    }

    /// Imports the records that remotes have of these keys. An error of one remote does not stop the others.
    async fn fetch_records(&self, keys: &[Key]) -> TransferEvent {
        let (mut new, mut errors) = (0, Vec::new());
        for key in keys {
            for client in &self.clients {
                let found = records::list_records(client, key).await.and_then(|found| {
                    new += self.store.import_records(key, found.records, &client.name)?;
                    Ok(found.invalid)
                });
                let failed = found.unwrap_or_else(|error| vec![error]);
                errors.extend(failed.into_iter().map(|error| (client.name.clone(), error)));
            }
        }
        let mut seen = lock_mutex(&self.denied);
        errors.retain(|(remote, error)| !matches!(error, RemoteError::AccessDenied(_)) || seen.insert(remote.clone()));
        TransferEvent::RecordsFetched { new, errors }
    }

    /// Fetches the files of the first of these results that can be had complete.
    async fn fetch_result(&self, candidates: &[ActionRecord], progress: &TransferProgress) -> Result<TransferEvent> {
        let _permit = self.fetches.acquire().await;
        let mut first: Option<FetchStats> = None;
        for record in candidates {
            let fetched = fetch_content(&self.clients, &self.store, &record.outputs, record.log, progress).await?;
            if fetched.missing.is_empty() {
                self.store.mark_local(record)?;
                return Ok(TransferEvent::ContentFetched(fetched));
            }
            first.get_or_insert(fetched);
        }
        let none = || RemoteError::Local("there is no result to fetch".to_owned());
        first.map(TransferEvent::ContentFetched).ok_or_else(none)
    }

    /// An upload to the first remote, which is initialized.
    async fn upload<'a>(&'a self, force: bool, progress: &'a TransferProgress) -> Result<Upload<'a>> {
        let client = &self.clients[0];
        if let Some(message) = client.initialize().await? {
            progress.send(TransferEvent::Initialized(message));
        }
        Ok(Upload { client, store: &self.store, force, progress })
    }

    /// Uploads a result to the first remote, unless some remote has all of it.
    async fn upload_if_missing(
        &self,
        record: &ActionRecord,
        progress: &TransferProgress,
    ) -> Result<Option<TransferStats>> {
        let mut first = None;
        for client in &self.clients {
            let found = status_of(client, &record.key, Some(&record.output_digests())).await;
            if found == Ok(RemoteStatus::Complete) {
                return Ok(Some(TransferStats::default()));
            }
            first.get_or_insert(found);
        }
        let _permit = self.uploads.acquire().await;
        let (store, wanted) = (self.store.clone(), record.clone());
        let bundle = blocking(move || ResultBundle::of(&store, &DigestCache::of_store(&store), &wanted, true)).await?;
        if !bundle.has_files {
            // Its files are neither here nor, as far as that is known, with a remote.
            return first.unwrap_or(Ok(RemoteStatus::Absent)).map(|_| None);
        }
        self.upload(false, progress).await?.result(&bundle).await.map(Some)
    }
}

/// The part that a remote has of a key's result: of that with these outputs, or of any.
async fn status_of(client: &Client, key: &Key, outputs: Option<&OutputDigests>) -> Result<RemoteStatus> {
    let (mut best, found) = (RemoteStatus::Absent, records::list_records(client, key).await?);
    if let (true, Some(error)) = (found.records.is_empty(), found.invalid.into_iter().next()) {
        return Err(error);
    }
    for (record, _) in found.records {
        let theirs = record.output_digests();
        let is_complete = is_complete(client, &theirs).await?;
        best = best.max(match (is_complete, outputs.is_none_or(|outputs| *outputs == theirs)) {
            (true, true) => return Ok(RemoteStatus::Complete),
            (true, false) => RemoteStatus::OtherResult,
            (false, _) => RemoteStatus::RecordOnly,
        });
    }
    Ok(best)
}

/// Returns true if a remote has all of these outputs. The list of a folder's files stands for them: it is uploaded after them.
async fn is_complete(client: &Client, outputs: &OutputDigests) -> Result<bool> {
    for digest in outputs.values() {
        if client.size(&layout::object(digest)).await?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}
