//! One remote, asked patiently: a request that a bad moment broke is made again; one that was answered is not.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::{sleep, timeout};

use super::fault::{Fault, unbroken};
use super::folder;
use super::ranges::NotTheRange;
use super::turns::Turns;

/// Requests of one remote at a time.
pub const REQUESTS: usize = 32;

/// How often one request is made at most.
const TRIES: u32 = 8;

/// How long nothing more is asked of a remote that was given up.
const REST: Duration = Duration::from_secs(60);

/// Whoever takes bytes more slowly than this is gone.
const SLOWEST: u64 = 64 << 10;

/// Whether anything of cwm is with a remote, as far as that was asked.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Heard {
    /// Nobody asked.
    #[default]
    Nothing,
    /// It was not when this was asked. Others may begin it at any time.
    Not(Instant),
    /// It is.
    There,
}

/// A remote that can be asked.
pub struct Client {
    /// What people call it.
    pub name: String,
    /// Its uploads in parts that can be gone on with.
    pub multipart: Option<Arc<dyn MultipartStore>>,
    /// Where it is, if it is a folder.
    pub folder: Option<PathBuf>,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) prefix: String,
    pub(super) silence: Duration,
    pub(super) requests: Semaphore,
    pub(super) heard: Mutex<Instant>,
    /// What was heard of its version.
    pub(super) format: Mutex<Heard>,
    /// Whoever asks for that: one at a time.
    pub(super) asking_format: tokio::sync::Mutex<()>,
    /// That it was begun.
    pub(super) begun: OnceCell<()>,
    /// When it was given up, and why: nothing else waits for it as long.
    pub(super) given_up: Mutex<Option<(Instant, Fault)>>,
    /// Whose turn it is to send what.
    pub(super) going: Turns,
    /// Of a remote that is a folder: the folders in it that were written to.
    pub(super) written: Mutex<BTreeSet<String>>,
}

impl Client {
    /// The whole name of something.
    pub fn path(&self, name: &str) -> Result<Path, Fault> {
        if let Some(folder) = &self.folder {
            return Path::from_absolute_path(folder.join(name)).map_err(|error| Fault::Refused(error.to_string()));
        }
        Ok(Path::from(if self.prefix.is_empty() { name.to_owned() } else { format!("{}/{name}", self.prefix) }))
    }

    /// Notes that something is written beside `name`; whether it is the first here.
    pub fn writes_beside(&self, name: &str) -> bool {
        let beside = name.rsplit_once('/').map_or("", |(beside, _)| beside).to_owned();
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(beside)
    }

    /// All of something small.
    ///
    /// # Errors
    /// It is not there, is longer than `limit`, or does not come.
    pub async fn small(&self, name: &str, limit: u64) -> Result<Vec<u8>, Fault> {
        let path = &self.path(name)?;
        self.plain_file(name, 0)?;
        self.patiently(|| {
            Box::pin(async move {
                let mut body = self.body(path, None).await?;
                let mut bytes = Vec::new();
                while let Some(piece) = self.piece(&mut body).await? {
                    if bytes.len() as u64 + piece.len() as u64 > limit {
                        return Err(Fault::Bad(format!("is longer than it can be ({limit} bytes)")));
                    }
                    bytes.extend_from_slice(&piece);
                }
                Ok(bytes)
            })
        })
        .await
    }

    /// Some of the bytes of something.
    ///
    /// # Errors
    /// It is not there, is shorter, or does not come.
    pub async fn range(&self, name: &str, range: Range<u64>) -> Result<Bytes, Fault> {
        let path = &self.path(name)?;
        self.plain_file(name, range.end)?;
        self.patiently(|| {
            let range = range.clone();
            Box::pin(async move {
                let length = range.end - range.start;
                let mut body = self.body(path, Some(range)).await?;
                let mut bytes = Vec::new();
                while let Some(piece) = self.piece(&mut body).await? {
                    bytes.extend_from_slice(&piece);
                    if bytes.len() as u64 > length {
                        return Err(Fault::Bad("has another length than it should have".to_owned()));
                    }
                }
                match bytes.len() as u64 == length {
                    true => Ok(Bytes::from(bytes)),
                    false => Err(Fault::NotReached("the connection ended too early".to_owned())),
                }
            })
        })
        .await
    }

    /// A stream of something from its beginning: one request, not made again.
    ///
    /// # Errors
    /// It is not there, or does not come.
    pub async fn stream(&self, name: &str) -> Result<BoxStream<'static, object_store::Result<Bytes>>, Fault> {
        self.plain_file(name, 0)?;
        self.body(&self.path(name)?, None).await
    }

    /// The next piece of a stream.
    ///
    /// # Errors
    /// It does not come.
    pub async fn piece(
        &self,
        body: &mut BoxStream<'static, object_store::Result<Bytes>>,
    ) -> Result<Option<Bytes>, Fault> {
        match timeout(self.silence, body.next()).await {
            Ok(None) => Ok(None),
            Ok(Some(Ok(piece))) => {
                self.hear();
                Ok(Some(piece))
            }
            Ok(Some(Err(error))) => Err(error.into()),
            Err(_) => Err(self.silent()),
        }
    }

    async fn body(
        &self,
        path: &Path,
        range: Option<Range<u64>>,
    ) -> Result<BoxStream<'static, object_store::Result<Bytes>>, Fault> {
        let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        match timeout(self.silence, self.store.get_opts(path, options)).await {
            Ok(Ok(result)) => Ok(result.into_stream()),
            Ok(Err(error)) => Err(self.fault(error)),
            Err(_) => Err(self.silent()),
        }
    }

    /// What an answer means; a web server is asked without credentials.
    fn fault(&self, error: object_store::Error) -> Fault {
        match error.into() {
            // What follows its status is a page for people.
            Fault::Denied { why, .. } if self.is_web() => {
                Fault::Denied { why: why.split(':').next().unwrap_or_default().to_owned(), is_web: true }
            }
            fault => fault,
        }
    }

    /// The size of something; nothing if it is not there.
    ///
    /// # Errors
    /// It cannot be told.
    pub async fn size(&self, name: &str) -> Result<Option<u64>, Fault> {
        if let Some(folder) = &self.folder {
            return folder::size(&folder.join(name));
        }
        let path = &self.path(name)?;
        let asked = self.patiently(|| {
            Box::pin(async move {
                match timeout(self.silence, self.store.head(path)).await {
                    Ok(answer) => Ok(answer.map_err(|error| self.fault(error))?.size),
                    Err(_) => Err(self.silent()),
                }
            })
        });
        match asked.await {
            Ok(size) => Ok(Some(size)),
            Err(Fault::NotThere) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Writes something, in place of what is there.
    ///
    /// # Errors
    /// The remote does not take it.
    pub async fn put(&self, name: &str, bytes: Bytes) -> Result<(), Fault> {
        if let Some(folder) = &self.folder {
            return folder::put(folder, name, &bytes);
        }
        let path = &self.path(name)?;
        self.patiently(|| {
            let bytes = bytes.clone();
            Box::pin(async move {
                let limit = self.silence + Duration::from_secs(bytes.len() as u64 / SLOWEST);
                match timeout(limit, self.store.put(path, PutPayload::from(bytes))).await {
                    Ok(answer) => answer.map(drop).map_err(Fault::from),
                    Err(_) => Err(self.silent()),
                }
            })
        })
        .await
    }

    /// The names in a folder of the remote, whole.
    ///
    /// # Errors
    /// It cannot be listed.
    pub async fn names(&self, name: &str) -> Result<BTreeSet<String>, Fault> {
        let path = &self.path(name)?;
        self.patiently(|| {
            Box::pin(async move {
                let mut names = BTreeSet::new();
                let mut listed = self.store.list(Some(path));
                loop {
                    match timeout(self.silence, listed.next()).await {
                        Ok(None) => return Ok(names),
                        Ok(Some(Ok(meta))) => names.insert(meta.location.to_string()),
                        // What another one was just renaming.
                        Ok(Some(Err(object_store::Error::NotFound { .. }))) => continue,
                        Ok(Some(Err(error))) => return Err(error.into()),
                        Err(_) => return Err(self.silent()),
                    };
                    self.hear();
                }
            })
        })
        .await
    }

    /// Does a request, again after a pause while it fails in a way that may pass: until the remote was silent for as long as
    /// it may be, or eight times. If nothing was heard of it all the while, it is given up: for a minute nothing is asked,
    /// then things are asked once.
    ///
    /// # Errors
    /// The last failure.
    pub async fn patiently<'a, T>(&'a self, request: impl Fn() -> BoxFuture<'a, Result<T, Fault>>) -> Result<T, Fault> {
        if let Some((_, fault)) = self.given_up().as_ref().filter(|(when, _)| when.elapsed() < REST) {
            return Err(fault.clone());
        }
        let tries = if self.given_up().is_some() { 1 } else { TRIES };
        let began = Instant::now();
        let mut pause = Duration::from_millis(100);
        for attempt in 1.. {
            let permit = self.requests.acquire().await;
            let outcome = unbroken(request()).await.flatten();
            drop(permit);
            let fault = match outcome {
                Ok(value) => {
                    self.answered();
                    return Ok(value);
                }
                Err(fault) => fault,
            };
            if !fault.may_pass() {
                self.answered();
                return Err(fault);
            }
            let heard = self.last_heard();
            let is_silent = heard.max(began).elapsed() >= self.silence;
            if is_silent || attempt >= tries {
                if is_silent || heard < began {
                    *self.given_up() = Some((Instant::now(), fault.clone()));
                }
                return Err(fault);
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
        unreachable!("the loop ends by returning")
    }

    /// How long a request of so many bytes may take.
    pub fn limit(&self, bytes: u64) -> Duration {
        self.silence + Duration::from_secs(bytes / SLOWEST)
    }

    /// The remote gave no sign of life.
    pub fn silent(&self) -> Fault {
        Fault::NotReached(format!("no answer within {} s", self.silence.as_secs_f64()))
    }

    fn answered(&self) {
        self.hear();
        *self.given_up() = None;
    }

    fn hear(&self) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn given_up(&self) -> std::sync::MutexGuard<'_, Option<(Instant, Fault)>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_heard(&self) -> Instant {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In a shared folder there may lie what is no file: a pipe would be waited for without end; or a file that is too short.
    fn plain_file(&self, name: &str, least: u64) -> Result<(), Fault> {
        let Some(folder) = &self.folder else { return Ok(()) };
        match folder::size(&folder.join(name))? {
            None => Err(Fault::NotThere),
            Some(size) if size < least => Err(Fault::Bad(NotTheRange::Shorter.to_string())),
            Some(_) => Ok(()),
        }
    }
}
