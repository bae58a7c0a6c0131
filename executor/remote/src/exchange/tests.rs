//! Jobs that end otherwise than their authors thought, and remotes that others begin meanwhile.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bytes::Bytes;
use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService};
use object_store::http::HttpBuilder;
use object_store::memory::InMemory;

use super::*;
use cwm_engine::{Article, Provided, Provider, Tidings};
use cwm_project::site::{Address, Remote};

/// A client of something else than the folder that it was opened for.
fn client(change: impl FnOnce(&mut Client)) -> Client {
    let remote = Remote {
        name: "lab".to_owned(),
        url: "/nowhere".to_owned(),
        address: Address::Folder("/nowhere".into()),
        read_only: false,
        endpoint: None,
        region: None,
        timeout: Duration::from_secs(5),
    };
    let mut client = open(&remote).expect("it opens");
    client.folder = None;
    change(&mut client);
    client
}

fn exchange(folder: &std::path::Path, clients: Vec<Client>) -> Exchange {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("one");
    let shared = Shared {
        clients: clients.into_iter().map(Arc::new).collect(),
        denied: Mutex::default(),
        store: Store::at(folder).expect("a store"),
        results: Semaphore::new(1),
        keys: Semaphore::new(1),
    };
    Exchange { runtime: Some(runtime), shared: Arc::new(shared) }
}

/// What is told of a job; where `stumbles`, whoever is told panics the first time, as any line of the work might.
fn told(exchange: &Exchange, job: Job, stumbles: bool) -> Receiver<Told> {
    let (sender, inbox) = channel();
    let sender = Mutex::new(sender);
    let stumbles = AtomicBool::new(stumbles);
    exchange.start(job, move |told| {
        assert!(!stumbles.swap(false, Ordering::SeqCst), "on purpose");
        let _ = sender.lock().unwrap_or_else(PoisonError::into_inner).send(told);
    });
    inbox
}

fn key() -> Key {
    Digest::of(b"key").to_string().parse().expect("a key")
}

#[derive(Debug)]
struct Panics;

impl HttpConnector for Panics {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Panics))
    }
}

impl HttpService for Panics {
    fn call<'service, 'call>(
        &'service self,
        _: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'call>>
    where
        'service: 'call,
        Self: 'call,
    {
        panic!("a header that cannot be, on purpose")
    }
}

/// Whoever waits hears of it; he waited without end.
#[test]
fn what_panics_while_a_remote_is_asked_is_a_fault_of_whoever_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let web = HttpBuilder::new().with_url("http://localhost/x").with_http_connector(Panics).build().expect("it opens");
    let exchange = exchange(folder.path(), vec![client(|client| client.store = Arc::new(web))]);
    let patience = Duration::from_secs(20);
    let ends = |job, stumbles| told(&exchange, job, stumbles).recv_timeout(patience).expect("an end");
    for stumbles in [false, true] {
        let Told::Records(0, faults) = ends(Job::Records(vec![key()]), stumbles) else { panic!("another end") };
        assert_eq!(faults, [("lab".to_owned(), Fault::Broken)]);
        let Told::Looked(found) = ends(Job::Look(key(), None), stumbles) else { panic!("another end") };
        assert_eq!(found, [("lab".to_owned(), Err(Fault::Broken))]);
        let Told::Prepared(None) = ends(Job::Prepare, stumbles) else { panic!("another end") };
    }
    assert!(Fault::Broken.words().contains("a mistake in cwm or in a library") && !Fault::Broken.may_pass());
}

#[test]
fn a_remote_that_somebody_else_begins_is_seen_and_is_asked_once_for_what_is_asked_at_once() {
    let shared = Arc::new(InMemory::new());
    let of = || {
        client(|client| {
            client.store = shared.clone();
            client.multipart = Some(shared.clone());
        })
    };
    let (ours, theirs) = (of(), of());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let before = Instant::now();
        assert_eq!(ours.has_format(before).await, Ok(false));
        theirs.prepare(before).await.expect("it is begun");
        // Whoever began to ask before is told what was heard; whoever asks now, what is.
        assert_eq!(ours.has_format(before).await, Ok(false));
        assert_eq!(ours.has_format(Instant::now()).await, Ok(true));
        assert_eq!(ours.has_format(before).await, Ok(true));
        theirs.put("objects/x", Bytes::from("x")).await.expect("it is sent");
        assert_eq!(ours.size("objects/x").await, Ok(Some(1)));
    });
}

/// A folder that was mistyped, or a disk that is not mounted, would be filled without a word.
#[test]
fn a_remote_that_jobs_are_to_read_is_said_to_be_begun() {
    let folder = tempfile::tempdir().expect("a folder");
    let (lab, input) = (folder.path().join("lab"), folder.path().join("x"));
    std::fs::write(&input, "x").expect("written");
    let exchange = exchange(&folder.path().join("store"), vec![client(|client| client.folder = Some(lab.clone()))]);
    exchange.shared.store.create().expect("a store");
    let file = Files::of_store(&exchange.shared.store).snapshot(&input).expect("it is there");
    for begins in [true, false] {
        let (sender, inbox) = channel();
        let sender = Mutex::new(sender);
        let tell = move |tidings| drop(sender.lock().expect("no panic").send(tidings));
        exchange.provide(0, Article::File(file.clone()), Box::new(tell));
        let told: Vec<Tidings> = inbox.iter().collect();
        let said = told.iter().any(|one| matches!(one, Tidings::Said(words) if words.contains("its folder")));
        assert_eq!(said, begins, "{told:?}");
        assert!(matches!(told.last(), Some(Tidings::Provided { came: Provided::There { .. }, .. })), "{told:?}");
    }
}
