//! The remotes of a site with a store: jobs are done in the background, and tell how they go.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::client::Client;
use super::fault::{Fault, unbroken};
use super::index::result_of;
use super::open::open;
use super::pull::{Pulled, content, pull};
use super::push::{Parcel, Pushed, push, push_file};
use super::{layout, records};
use cwm_core::digest::{Digest, Key};
use cwm_core::error::Error;
use cwm_project::site::Site;
use cwm_store::outside::{Files, Snapshot};
use cwm_store::{ActionRecord, OutputRecord, Store};

/// Results whose files move at a time.
const RESULTS: usize = 4;

/// Keys that are looked up at a time.
const KEYS: usize = 32;

/// A store and its remotes.
pub struct Exchange {
    // Before the runtime ends nothing else may.
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
}

struct Shared {
    clients: Vec<Arc<Client>>,
    /// Remotes of which it was told in this run that they deny us.
    denied: Mutex<BTreeSet<String>>,
    store: Store,
    results: Semaphore,
    keys: Semaphore,
}

/// What is to be done.
pub enum Job {
    /// Take over the records that remotes have of these keys.
    Records(Vec<Key>),
    /// Fetch the files of a result: of the first of these that can be had whole.
    Files(Vec<ActionRecord>),
    /// See to it that the remote to push to can be written.
    Prepare,
    /// Send a result.
    Push(Box<Parcel>, bool),
    /// Fetch these outputs, of whichever results they are.
    Content(BTreeMap<String, OutputRecord>),
    /// Send a result, unless all of it is there; nothing of one whose files are not here either.
    Offer(Box<ActionRecord>),
    /// Send a file from outside.
    Send(Snapshot),
    /// Ask whether a result of this key is there: that with these outputs, or any.
    Look(Key, Option<BTreeMap<String, Digest>>),
}

/// How a job goes; the last one is its end.
#[derive(Debug)]
pub enum Told {
    /// Pieces of content and bytes are to move.
    Begun(u64, u64),
    /// Bytes moved, of all.
    Progress(u64, u64),
    /// The end of [`Job::Records`]: how many results are new here, and what did not go well, by remote.
    Records(usize, Vec<(String, Fault)>),
    /// The end of [`Job::Files`] and [`Job::Content`]: pieces of content, bytes, seconds, and what did not come.
    Files(u64, u64, f64, Vec<Lack>),
    /// The end of [`Job::Prepare`]: what was begun there, in words; nothing of a remote that is in use, or does not answer.
    /// Of [`Job::Offer`] and [`Job::Send`] it is no end, and told where something was begun.
    Prepared(Option<String>),
    /// The end of [`Job::Offer`]: what was sent, with seconds; nothing if files of it are neither there nor here.
    Offered(Result<Option<Pushed>, Fault>, f64),
    /// The end of [`Job::Push`] and [`Job::Send`], with seconds.
    Pushed(Result<Pushed, Fault>, f64),
    /// The end of [`Job::Look`]: by remote, whether it has the record and its files.
    Looked(Vec<(String, Result<Presence, Fault>)>),
}

/// Content that could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// Of which output.
    pub output: String,
    /// Which content.
    pub digest: Digest,
    /// Why not, by remote, in words.
    pub why: Vec<String>,
    /// Whether every remote answered.
    pub reached: bool,
}

impl std::fmt::Display for Lack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.output, &self.digest.to_string()[..12], self.why.join("; "))
    }
}

impl Lack {
    pub(super) fn of(output: &str, digest: &Digest, why: String) -> Lack {
        Lack { output: output.to_owned(), digest: *digest, why: vec![why], reached: true }
    }
}

/// What a remote has of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Nothing.
    Nothing,
    /// The record, and not all of its files.
    Record,
    /// All of another result of the key than the one that was asked for.
    Other,
    /// All of it.
    Whole,
}

impl Job {
    /// How it ends where it cannot be done to its end; `remote` is the one that is told of it.
    fn broken(&self, remote: String) -> Box<dyn FnOnce(Fault) -> Told + Send> {
        let outputs = match self {
            Job::Files(candidates) => candidates.first().map(|record| &record.outputs),
            Job::Content(outputs) => Some(outputs),
            _ => None,
        };
        let lacks: Vec<(String, Digest)> =
            outputs.into_iter().flatten().map(|(name, one)| (name.clone(), one.digest)).collect();
        match self {
            Job::Records(_) => Box::new(|fault| Told::Records(0, vec![(remote, fault)])),
            Job::Files(_) | Job::Content(_) => Box::new(move |fault| {
                let lack = |(name, digest): &(String, Digest)| Lack {
                    reached: false,
                    ..Lack::of(name, digest, fault.words())
                };
                Told::Files(0, 0, 0.0, lacks.iter().map(lack).collect())
            }),
            Job::Prepare => Box::new(|_| Told::Prepared(None)),
            Job::Push(..) | Job::Send(_) => Box::new(|fault| Told::Pushed(Err(fault), 0.0)),
            Job::Offer(_) => Box::new(|fault| Told::Offered(Err(fault), 0.0)),
            Job::Look(..) => Box::new(|fault| Told::Looked(vec![(remote, Err(fault))])),
        }
    }
}

impl Exchange {
    /// The remotes of `site`, or the one that is named; with `to_write` the one to push to. Nothing is asked yet.
    ///
    /// # Errors
    /// There is none, none of that name or none that can be written; its settings do not fit together, or it is a store.
    pub fn open(site: &Site, named: Option<&str>, store: &Store, to_write: bool) -> Result<Exchange, Error> {
        let add = "`cwm remote add NAME URL` writes one into cwm.toml";
        if site.remotes.is_empty() {
            return Err(Error::usage("there are no remotes").hint(add));
        }
        let mut remotes: Vec<_> = site.remotes.iter().filter(|one| named.is_none_or(|name| one.name == name)).collect();
        if let (Some(name), true) = (named, remotes.is_empty()) {
            let names = site.remotes.iter().map(|remote| remote.name.as_str());
            let hint = cwm_core::names::suggest(name, "remotes", names);
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
            remote.must_be_no_store(Some(store.root()))?;
            let about = |fault: Fault| Error::usage(format!("the remote `{}` {}", remote.name, fault.words()));
            open(remote).map(Arc::new).map_err(about)
        });
        let clients = opened.collect::<Result<Vec<_>, Error>>()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .thread_name("cwm-remote")
            .build()
            .map_err(|error| Error::system(format!("cannot start what talks to remotes: {error}")))?;
        let (results, keys) = (Semaphore::new(RESULTS), Semaphore::new(KEYS));
        let shared = Shared { clients, denied: Mutex::default(), store: store.clone(), results, keys };
        Ok(Exchange { runtime: Some(runtime), shared: Arc::new(shared) })
    }

    /// The names of the remotes that are asked, in order.
    pub fn names(&self) -> Vec<&str> {
        self.shared.clients.iter().map(|client| client.name.as_str()).collect()
    }

    /// Tells whether a fault of a remote is news: that it denies us is told of once, whatever was asked for.
    pub fn news(&self) -> impl Fn(&str, &Fault) -> bool + Send + Sync + use<> {
        let shared = self.shared.clone();
        move |remote, fault| {
            let mut denied = shared.denied.lock().unwrap_or_else(PoisonError::into_inner);
            !matches!(fault, Fault::Denied { .. }) || denied.insert(remote.to_owned())
        }
    }

    /// Begins a job; `tell` is called from another thread.
    pub fn start(&self, job: Job, tell: impl Fn(Told) + Send + Sync + 'static) {
        let Some(runtime) = &self.runtime else { return };
        let shared = self.shared.clone();
        let tell: Arc<dyn Fn(Told) + Send + Sync> = Arc::new(tell);
        let name = shared.clients.first().map_or_else(String::new, |client| client.name.clone());
        let broken = job.broken(name);
        runtime.spawn(async move {
            // Somebody waits for the end, whatever becomes of the work.
            if let Err(fault) = unbroken(shared.work(job, tell.clone())).await {
                tell(broken(fault));
            }
        });
    }
}

/// What is under way ends where it is; all of it can be gone on with.
impl Drop for Exchange {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Shared {
    async fn work(&self, job: Job, tell: Arc<dyn Fn(Told) + Send + Sync>) {
        let began = Instant::now();
        let begun = |objects, bytes| tell(Told::Begun(objects, bytes));
        let teller = tell.clone();
        let listener: super::tally::Listener = Arc::new(move |done, total| teller(Told::Progress(done, total)));
        match job {
            Job::Records(keys) => {
                let _permit = self.keys.acquire().await;
                let (new, faults) = self.take_over(&keys).await;
                tell(Told::Records(new, faults));
            }
            Job::Files(candidates) => {
                let _permit = self.results.acquire().await;
                let mut first: Option<Vec<Lack>> = None;
                let (mut objects, mut bytes) = (0, 0);
                for record in &candidates {
                    let pulled = pull(&self.clients, &self.store, record, begun, listener.clone()).await;
                    let pulled = pulled.unwrap_or_else(|fault| {
                        let lacks = record.outputs.iter().map(|(name, one)| Lack::of(name, &one.digest, fault.words()));
                        Pulled { lacks: lacks.collect(), ..Pulled::default() }
                    });
                    objects += pulled.objects;
                    bytes += pulled.bytes;
                    if pulled.lacks.is_empty() {
                        first = None;
                        break;
                    }
                    first.get_or_insert(pulled.lacks);
                }
                tell(Told::Files(objects, bytes, began.elapsed().as_secs_f64(), first.unwrap_or_default()));
            }
            Job::Prepare => {
                let mut begun = None;
                if let Some(client) = self.clients.first() {
                    begun = prepare(client).await;
                }
                tell(Told::Prepared(begun));
            }
            Job::Push(parcel, anew) => {
                let _permit = self.results.acquire().await;
                let mut outcome = Err(nowhere());
                if let Some(client) = self.clients.first() {
                    outcome = push(client, &self.store, &parcel, anew, begun, listener).await;
                }
                tell(Told::Pushed(outcome, began.elapsed().as_secs_f64()));
            }
            Job::Content(outputs) => {
                let _permit = self.results.acquire().await;
                let came = content(&self.clients, &self.store, &outputs, None, begun, listener).await;
                let Pulled { objects, bytes, lacks } = came.unwrap_or_else(|fault| {
                    let lacks = outputs.iter().map(|(name, one)| Lack::of(name, &one.digest, fault.words()));
                    Pulled { lacks: lacks.collect(), ..Pulled::default() }
                });
                tell(Told::Files(objects, bytes, began.elapsed().as_secs_f64(), lacks));
            }
            Job::Offer(record) => {
                let said = |words| tell(Told::Prepared(Some(words)));
                let outcome = self.offer(&record, said, begun, listener).await;
                tell(Told::Offered(outcome, began.elapsed().as_secs_f64()));
            }
            Job::Send(file) => {
                let _permit = self.results.acquire().await;
                if let Some(client) = self.clients.first()
                    && let Some(words) = prepare(client).await
                {
                    tell(Told::Prepared(Some(words)));
                }
                let outcome = match self.clients.first() {
                    Some(client) => push_file(client, &self.store, &file, begun, listener).await,
                    None => Err(nowhere()),
                };
                tell(Told::Pushed(outcome, began.elapsed().as_secs_f64()));
            }
            Job::Look(key, outputs) => {
                let _permit = self.keys.acquire().await;
                let mut found = Vec::new();
                for client in &self.clients {
                    found.push((client.name.clone(), look(client, &key, outputs.as_ref()).await));
                }
                tell(Told::Looked(found));
            }
        }
    }

    /// Sees to it that a remote has all of a result: the first, if none has.
    async fn offer(
        &self,
        record: &ActionRecord,
        said: impl Fn(String),
        begun: impl Fn(u64, u64),
        listener: super::tally::Listener,
    ) -> Result<Option<Pushed>, Fault> {
        let client = self.clients.first().ok_or_else(nowhere)?;
        let looking = self.keys.acquire().await;
        let mut first = None;
        for client in &self.clients {
            let found = look(client, &record.key, Some(&record.output_digests())).await;
            if found == Ok(Presence::Whole) {
                return Ok(Some(Pushed::default()));
            }
            first.get_or_insert(found);
        }
        drop(looking);
        let _permit = self.results.acquire().await;
        let (store, wanted) = (self.store.clone(), record.clone());
        let packed = tokio::task::spawn_blocking(move || {
            let files = Files::of_store(&store);
            Parcel::of(&store, &files, &wanted, true)
        });
        let parcel = packed.await.map_err(|error| Fault::Here(error.to_string()))??;
        if !parcel.has_files {
            // What is neither there nor here, as far as that is known.
            return first.unwrap_or(Ok(Presence::Nothing)).map(|_| None);
        }
        if let Some(words) = prepare(client).await {
            said(words);
        }
        push(client, &self.store, &parcel, false, begun, listener).await.map(Some)
    }

    /// Takes over what remotes have of these keys. That one cannot be asked does not keep the others from being asked.
    async fn take_over(&self, keys: &[Key]) -> (usize, Vec<(String, Fault)>) {
        let (mut new, mut faults) = (0, Vec::new());
        for key in keys {
            for client in &self.clients {
                let found = match records::look(client, key).await {
                    Ok(found) => found,
                    Err(fault) => {
                        faults.push((client.name.clone(), fault));
                        continue;
                    }
                };
                faults.extend(found.bad.into_iter().map(|what| (client.name.clone(), Fault::Bad(what))));
                match self.store.adopt(key, found.records, &client.name) {
                    Ok(adopted) => new += adopted,
                    Err(error) => faults.push((client.name.clone(), error.into())),
                }
            }
        }
        (new, faults)
    }
}

/// Begins a remote that holds nothing yet; what was done, in words. What goes wrong is told by what is sent after it.
async fn prepare(client: &Client) -> Option<String> {
    if client.begun.initialized() {
        return None;
    }
    let (name, since) = (&client.name, Instant::now());
    let missing = client.folder.as_ref().filter(|folder| !folder.exists());
    if missing.is_none() && client.has_format(since).await.ok()? {
        return None;
    }
    client.prepare(since).await.ok()?;
    Some(match missing {
        Some(folder) => format!("the remote `{name}` was not there: its folder {} was made", folder.display()),
        None => format!("the remote `{name}` held nothing of cwm's: it was begun"),
    })
}

fn nowhere() -> Fault {
    Fault::Refused("there is no remote to push to".to_owned())
}

/// What a remote has of a key: of the result with these outputs, or of any. Of a folder its list is asked for alone, which went
/// there after the files.
async fn look(client: &Client, key: &Key, outputs: Option<&BTreeMap<String, Digest>>) -> Result<Presence, Fault> {
    if !client.has_format(Instant::now()).await? {
        return Ok(Presence::Nothing);
    }
    let mut best = Presence::Nothing;
    if let Some(outputs) = outputs
        && records::index_of(client, key).await?.has_result(&result_of(outputs))
    {
        if is_whole(client, outputs).await? {
            return Ok(Presence::Whole);
        }
        best = Presence::Record;
    }
    let whole = if outputs.is_some() { Presence::Other } else { Presence::Whole };
    for (record, _) in records::look(client, key).await?.records {
        let theirs = record.output_digests();
        if outputs == Some(&theirs) {
            continue;
        }
        if is_whole(client, &theirs).await? {
            return Ok(whole);
        }
        best = Presence::Record;
    }
    Ok(best)
}

async fn is_whole(client: &Client, outputs: &BTreeMap<String, Digest>) -> Result<bool, Fault> {
    for digest in outputs.values() {
        if client.size(&layout::object(digest)).await?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}
