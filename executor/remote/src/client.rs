//! One remote. `object_store` retries its requests; here is what to do while a remote is down.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStoreExt, PutPayload};
use tokio::sync::{OwnedMutexGuard, Semaphore};
use tokio::time::timeout;

use super::backends::{Backend, Location, open};
use super::error::{RemoteError, Result};
use super::folder_writer;
use super::http_connector::{MAX_REQUESTS, no_response};
use super::layout::{FORMAT, REMOTE_FORMAT};
use cwm_core::{Digest, lock_mutex};
use cwm_project::config::Remote;

/// The time for which requests fail at once after one that was not answered: a run looks up key by key, and would wait for each.
const COOLDOWN: Duration = Duration::from_secs(60);

/// The content of an object, piece by piece.
pub type ContentStream = BoxStream<'static, object_store::Result<Bytes>>;

/// A remote that requests can be made of.
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub backend: &'static Backend,
    /// The location of its objects.
    pub location: Location,
    idle_timeout: Duration,
    requests: Semaphore,
    /// The last request, if it was not answered.
    outage: Mutex<Option<(Instant, RemoteError)>>,
    /// Set once its format file was found, which is written before all else. Others may write it at any time, and nobody
    /// removes it.
    has_format: AtomicBool,
    /// Held while it is initialized for writing.
    initializing: tokio::sync::Mutex<()>,
    /// For each object that was uploaded or is being uploaded: a lock, with whether it was.
    uploads: Mutex<BTreeMap<Digest, Arc<tokio::sync::Mutex<bool>>>>,
}

impl Client {
    /// Opens a remote. Nothing is requested yet.
    ///
    /// # Errors
    /// Its settings or credentials do not fit together.
    pub fn open(remote: &Remote) -> Result<Client> {
        let (backend, location) = open(remote)?;
        Ok(Client {
            name: remote.name.clone(),
            backend,
            location,
            idle_timeout: remote.timeout,
            requests: Semaphore::new(MAX_REQUESTS),
            outage: Mutex::default(),
            has_format: AtomicBool::new(false),
            initializing: tokio::sync::Mutex::default(),
            uploads: Mutex::default(),
        })
    }

    /// Returns true if the remote has the format file. A positive answer is final; others may initialize the remote at any time.
    ///
    /// # Errors
    /// It is not known, a newer cwm wrote it, or it is a web server that has nothing of cwm's.
    pub async fn has_format(&self) -> Result<bool> {
        if self.has_format.load(Ordering::Relaxed) {
            return Ok(true);
        }
        if let Some(folder) = self.location.folder.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(RemoteError::Unreachable(format!("there is no folder {}; is it mounted?", folder.display())));
        }
        let Some(bytes) = RemoteError::optional(self.read_small(FORMAT, 64).await)? else {
            if self.backend.is_read_only {
                let what = "it holds no results of cwm; its address is that of the folder which has the file";
                return Err(RemoteError::Unsupported(format!("{what} `{FORMAT}`")));
            }
            return Ok(false);
        };
        match String::from_utf8_lossy(&bytes).trim().parse::<u32>() {
            Ok(REMOTE_FORMAT) => {
                self.has_format.store(true, Ordering::Relaxed);
                Ok(true)
            }
            Ok(found) if found > REMOTE_FORMAT => {
                Err(RemoteError::Unsupported(format!("it has format {found}, which a newer cwm wrote")))
            }
            _ => Err(RemoteError::Unsupported(format!("its `{FORMAT}` is not that of a remote of cwm"))),
        }
    }

    /// Makes the remote ready for writing. Returns a message if it held nothing of cwm's before.
    ///
    /// # Errors
    /// It cannot be written, or is of a newer cwm.
    pub async fn initialize(&self) -> Result<Option<String>> {
        // One of several uploads at once initializes it.
        let _initializing = self.initializing.lock().await;
        let made = match &self.location.folder {
            Some(folder) if folder_writer::create(folder)? => Some(folder),
            _ => None,
        };
        if self.has_format().await? {
            return Ok(None);
        }
        self.put(FORMAT, Bytes::from(format!("{REMOTE_FORMAT}\n"))).await?;
        self.has_format.store(true, Ordering::Relaxed);
        let name = &self.name;
        Ok(Some(match made {
            Some(folder) => format!("the remote `{name}` was not there: its folder {} was created", folder.display()),
            None => format!("the remote `{name}` held no results of cwm, and was initialized"),
        }))
    }

    /// Returns the path of a name in the object store.
    pub fn path(&self, name: &str) -> Result<Path> {
        match &self.location.folder {
            Some(folder) => {
                Path::from_absolute_path(folder.join(name)).map_err(|error| RemoteError::Unsupported(error.to_string()))
            }
            None => Ok(Path::from(format!("{}/{name}", self.location.prefix))),
        }
    }

    /// Returns the lock of an object's upload, which holds whether it was uploaded: several results may contain the same
    /// object, and it is uploaded once.
    pub async fn upload_lock(&self, digest: &Digest) -> OwnedMutexGuard<bool> {
        let lock = lock_mutex(&self.uploads).entry(*digest).or_default().clone();
        lock.lock_owned().await
    }

    /// Reads all of something small.
    ///
    /// # Errors
    /// It is not there, is longer than `limit`, or does not come.
    pub async fn read_small(&self, name: &str, limit: u64) -> Result<Vec<u8>> {
        let (mut body, mut bytes) = (self.stream(name, 0, 0).await?, Vec::new());
        while let Some(piece) = self.next_chunk(&mut body).await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() as u64 > limit {
                return Err(RemoteError::Invalid(format!("is longer than it can be ({limit} bytes)")));
            }
        }
        Ok(bytes)
    }

    /// Opens a stream of something that has at least `size` bytes, from the byte `from` on.
    ///
    /// # Errors
    /// It is not there, is shorter, or does not come.
    pub async fn stream(&self, name: &str, from: u64, size: u64) -> Result<ContentStream> {
        // A shared folder may hold what is no file, such as a pipe, which a reader would wait for, or a file that is too short.
        if let Some(folder) = &self.location.folder
            && folder_writer::size(&folder.join(name))?.ok_or(RemoteError::NotFound)? < size
        {
            return Err(RemoteError::too_short());
        }
        let range = (from > 0).then_some(GetRange::Offset(from));
        let options = GetOptions { range, ..GetOptions::default() };
        Ok(self.request(self.location.store.get_opts(&self.path(name)?, options)).await?.into_stream())
    }

    /// Reads the next piece of a body.
    ///
    /// # Errors
    /// It does not come.
    pub async fn next_chunk(&self, body: &mut ContentStream) -> Result<Option<Bytes>> {
        match timeout(self.idle_timeout, body.next()).await {
            Ok(piece) => piece.transpose().map_err(|error| self.error(&error)),
            Err(_) => Err(RemoteError::Unreachable(no_response(self.idle_timeout).to_string())),
        }
    }

    /// Returns the size of something; nothing if it is not there.
    ///
    /// # Errors
    /// It is not known.
    pub async fn size(&self, name: &str) -> Result<Option<u64>> {
        if let Some(folder) = &self.location.folder {
            return folder_writer::size(&folder.join(name));
        }
        let meta = RemoteError::optional(self.request(self.location.store.head(&self.path(name)?)).await)?;
        Ok(meta.map(|meta| meta.size))
    }

    /// Writes something, in place of what is there.
    ///
    /// # Errors
    /// The remote does not take it.
    pub async fn put(&self, name: &str, bytes: Bytes) -> Result<()> {
        match &self.location.folder {
            Some(folder) => folder_writer::put(folder, name, &Digest::of(&bytes), &mut &bytes[..]),
            None => self.request(self.location.store.put(&self.path(name)?, PutPayload::from(bytes))).await.map(drop),
        }
    }

    /// Returns the full names in a folder of the remote.
    ///
    /// # Errors
    /// It cannot be listed.
    pub async fn names(&self, name: &str) -> Result<BTreeSet<String>> {
        let entries = self.location.store.list(Some(&self.path(name)?));
        self.request(entries.map_ok(|meta| meta.location.to_string()).try_collect()).await
    }

    /// Makes a request, which `object_store` retries. Fails at once if the last one was not answered, less than a minute ago.
    ///
    /// # Errors
    /// The request failed, and what that means.
    pub async fn request<T>(&self, request: impl Future<Output = object_store::Result<T>>) -> Result<T> {
        let outage = || lock_mutex(&self.outage);
        let _permit = self.requests.acquire().await;
        if let Some((since, error)) = &*outage()
            && since.elapsed() < COOLDOWN
        {
            return Err(error.clone());
        }
        let outcome = request.await.map_err(|error| self.error(&error));
        let unanswered = outcome.as_ref().err().filter(|error| error.is_transient());
        *outage() = unanswered.map(|error| (Instant::now(), error.clone()));
        outcome
    }

    fn error(&self, error: &object_store::Error) -> RemoteError {
        RemoteError::of(error, self.backend.credentials_advice)
    }
}
