//! One remote. `object_store` retries its requests; here are limits, the end of broken bodies, and what to do while a remote is
//! down.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::sync::{OnceCell, OwnedMutexGuard, Semaphore};
use tokio::time::{sleep, timeout};

use super::backends::{Backend, OpenedRemote, classify, open};
use super::error::RemoteError;
use super::folder_writer;
use super::http_connector::{MAX_REQUESTS, MIN_BYTES_PER_SECOND, RangeError};
use cwm_core::{Backoff, Digest};
use cwm_project::site::Remote;

/// The number of attempts of a request whose answer breaks off. `object_store` resumes only files, and only of servers that
/// send ETags.
const ANSWER_ATTEMPTS: u32 = 4;

/// The time for which requests fail at once after one to a remote that does not answer: a run looks up key by key, and would
/// wait for each.
const COOLDOWN: Duration = Duration::from_secs(60);

/// `object_store` retries for at least this long before it gives up.
const RETRIES_TAKE: Duration = Duration::from_millis(500);

/// The content of an object, piece by piece.
pub type Body = BoxStream<'static, object_store::Result<Bytes>>;

/// When a remote last answered, and since when it does not.
struct Health {
    last_answer: Instant,
    circuit_open_since: Option<(Instant, RemoteError)>,
}

/// A remote that requests can be made of.
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its uploads in parts that can be resumed.
    pub multipart: Option<Arc<dyn MultipartStore>>,
    /// The folder, if it is one.
    pub folder: Option<PathBuf>,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) prefix: String,
    pub(super) backend: &'static dyn Backend,
    pub(super) idle_timeout: Duration,
    requests: Semaphore,
    health: Mutex<Health>,
    /// Set once its format file was found. Others may write it at any time, and nobody removes it.
    pub(super) has_format: AtomicBool,
    /// Set once it was initialized for writing.
    pub(super) initialized: OnceCell<()>,
    /// For each object that was uploaded or is being uploaded: a lock, with whether it was.
    uploads: Mutex<BTreeMap<Digest, Arc<tokio::sync::Mutex<bool>>>>,
}

impl Client {
    /// Opens a remote. Nothing is requested yet.
    ///
    /// # Errors
    /// Its settings or credentials do not fit together.
    pub fn open(remote: &Remote) -> Result<Client, RemoteError> {
        let (backend, OpenedRemote { store, multipart, prefix, folder }) = open(remote)?;
        Ok(Client {
            name: remote.name.clone(),
            multipart,
            folder,
            store,
            prefix,
            backend,
            idle_timeout: remote.timeout,
            requests: Semaphore::new(MAX_REQUESTS),
            health: Mutex::new(Health { last_answer: Instant::now(), circuit_open_since: None }),
            has_format: AtomicBool::new(false),
            initialized: OnceCell::new(),
            uploads: Mutex::default(),
        })
    }

    /// The path of a name in the object store.
    pub fn path(&self, name: &str) -> Result<Path, RemoteError> {
        if let Some(folder) = &self.folder {
            return Path::from_absolute_path(folder.join(name))
                .map_err(|error| RemoteError::Refused(error.to_string()));
        }
        Ok(Path::from(if self.prefix.is_empty() { name.to_owned() } else { format!("{}/{name}", self.prefix) }))
    }

    /// True if it is a web server, which nobody can initialize by a push.
    pub fn is_web(&self) -> bool {
        self.backend.is_read_only()
    }

    /// The lock of an object's upload, which holds whether it was uploaded: several results may contain the same object, and it is
    /// uploaded once.
    pub async fn upload_lock(&self, digest: &Digest) -> OwnedMutexGuard<bool> {
        let lock = self.uploads.lock().unwrap_or_else(PoisonError::into_inner).entry(*digest).or_default().clone();
        lock.lock_owned().await
    }

    /// Reads all of something small.
    ///
    /// # Errors
    /// It is not there, is longer than `limit`, or does not come.
    pub async fn small(&self, name: &str, limit: u64) -> Result<Vec<u8>, RemoteError> {
        let path = &self.path(name)?;
        self.require_file(name, 0)?;
        let too_long = move || RemoteError::Invalid(format!("is longer than it can be ({limit} bytes)"));
        self.retry_broken_answer(|| {
            Box::pin(async move { self.read(self.body(path, 0).await?, limit).await?.ok_or_else(too_long) })
        })
        .await
    }

    /// Opens a stream of something that has `size` bytes, from this byte on.
    ///
    /// # Errors
    /// It is not there, is shorter, or does not come.
    pub async fn stream(&self, name: &str, from: u64, size: u64) -> Result<Body, RemoteError> {
        self.require_file(name, size)?;
        self.body(&self.path(name)?, from).await
    }

    /// The next piece of a body.
    ///
    /// # Errors
    /// It does not come.
    pub async fn piece(&self, body: &mut Body) -> Result<Option<Bytes>, RemoteError> {
        match timeout(self.idle_timeout, body.next()).await {
            Ok(None) => Ok(None),
            Ok(Some(Ok(piece))) => {
                self.record_answer();
                Ok(Some(piece))
            }
            Ok(Some(Err(error))) => Err(classify(self.backend, error)),
            Err(_) => Err(self.no_answer()),
        }
    }

    async fn body(&self, path: &Path, from: u64) -> Result<Body, RemoteError> {
        let range = (from > 0).then_some(GetRange::Offset(from));
        let options = GetOptions { range, ..GetOptions::default() };
        Ok(self.request(0, self.store.get_opts(path, options)).await?.into_stream())
    }

    /// All pieces of a body; nothing if there are more than `limit` bytes.
    async fn read(&self, mut body: Body, limit: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.piece(&mut body).await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() as u64 > limit {
                return Ok(None);
            }
        }
        Ok(Some(bytes))
    }

    /// Makes a request and reads its answer, again if that breaks off.
    ///
    /// # Errors
    /// The last error.
    pub async fn retry_broken_answer<'a, T>(
        &self,
        read: impl Fn() -> BoxFuture<'a, Result<T, RemoteError>>,
    ) -> Result<T, RemoteError> {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
        let mut attempt = 1;
        loop {
            match read().await {
                Err(error) if error.is_transient() && attempt < ANSWER_ATTEMPTS && self.outage().is_none() => {
                    attempt += 1;
                    sleep(backoff.pause()).await;
                }
                outcome => return outcome,
            }
        }
    }

    /// The size of something; nothing if it is not there.
    ///
    /// # Errors
    /// It is not known.
    pub async fn size(&self, name: &str) -> Result<Option<u64>, RemoteError> {
        if let Some(folder) = &self.folder {
            return folder_writer::size(&folder.join(name));
        }
        let path = self.path(name)?;
        match self.request(0, self.store.head(&path)).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(RemoteError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes something, in place of what is there.
    ///
    /// # Errors
    /// The remote does not take it.
    pub async fn put(&self, name: &str, bytes: Bytes) -> Result<(), RemoteError> {
        if let Some(folder) = &self.folder {
            return folder_writer::put(folder, name, &bytes);
        }
        let path = self.path(name)?;
        let length = bytes.len() as u64;
        self.request(length, self.store.put(&path, PutPayload::from(bytes))).await.map(drop)
    }

    /// The full names in a folder of the remote.
    ///
    /// # Errors
    /// It cannot be listed.
    pub async fn names(&self, name: &str) -> Result<BTreeSet<String>, RemoteError> {
        let path = &self.path(name)?;
        self.retry_broken_answer(|| {
            Box::pin(async move {
                let mut names = BTreeSet::new();
                let mut entries = self.store.list(Some(path));
                loop {
                    let next = async { entries.next().await.transpose() };
                    match self.request(0, next).await {
                        Ok(None) => return Ok(names),
                        Ok(Some(meta)) => _ = names.insert(meta.location.to_string()),
                        // Another process was just renaming it.
                        Err(RemoteError::NotFound) => {}
                        Err(error) => return Err(error),
                    }
                }
            })
        })
        .await
    }

    /// Makes a request that sends so many bytes, and that `object_store` retries. Fails at once if the remote did not answer
    /// within the last minute.
    ///
    /// # Errors
    /// The request failed, and what that means.
    pub async fn request<T>(
        &self,
        sends: u64,
        request: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, RemoteError> {
        let _permit = self.requests.acquire().await;
        if let Some(error) = self.outage() {
            return Err(error);
        }
        let began = Instant::now();
        // The connector limits each attempt; this ends one whose answer begins and never ends.
        let limit = self.idle_timeout * 20 + Duration::from_secs(sends / MIN_BYTES_PER_SECOND) * 3;
        let outcome = match timeout(limit, request).await {
            Ok(outcome) => outcome.map_err(|error| classify(self.backend, error)),
            Err(_) => Err(self.no_answer()),
        };
        match &outcome {
            Err(error) if error.is_transient() => {
                let mut health = self.health();
                // Where other requests were answered meanwhile, this one had bad luck; and an error that comes at once, without
                // retries, is an answer that broke off.
                if health.last_answer < began && began.elapsed() >= RETRIES_TAKE {
                    health.circuit_open_since = Some((Instant::now(), error.clone()));
                }
            }
            _ => self.record_answer(),
        }
        outcome
    }

    /// The error of a remote that did not answer just now.
    pub fn no_answer(&self) -> RemoteError {
        RemoteError::Unreachable(format!("no answer within {} s", self.idle_timeout.as_secs_f64()))
    }

    fn outage(&self) -> Option<RemoteError> {
        let health = self.health();
        let (since, error) = health.circuit_open_since.as_ref()?;
        (since.elapsed() < COOLDOWN).then(|| error.clone())
    }

    fn record_answer(&self) {
        *self.health() = Health { last_answer: Instant::now(), circuit_open_since: None };
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A shared folder may hold what is no file, such as a pipe, which a reader would wait for, or a file that is too short.
    fn require_file(&self, name: &str, least: u64) -> Result<(), RemoteError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        match folder_writer::size(&folder.join(name))? {
            None => Err(RemoteError::NotFound),
            Some(size) if size < least => Err(RemoteError::Invalid(RangeError::Shorter.to_string())),
            Some(_) => Ok(()),
        }
    }
}
