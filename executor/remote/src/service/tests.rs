//! Requests that panic, and remotes that others initialize meanwhile.

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
use cwm_core::Digest;

/// A client of something else than the folder that it was opened for.
fn client(change: impl FnOnce(&mut Client)) -> Client {
    let remote = Remote {
        name: "lab".to_owned(),
        url: "/nowhere".to_owned(),
        base: "/".into(),
        read_only: false,
        options: BTreeMap::new(),
        timeout: Duration::from_secs(5),
    };
    let mut client = Client::open(&remote).expect("it opens");
    client.location.folder = None;
    change(&mut client);
    client
}

fn service(folder: &std::path::Path, clients: Vec<Client>) -> TransferService {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("one");
    let state = ServiceState {
        clients,
        denied: Mutex::default(),
        store: Store::at(folder).expect("a store"),
        fetches: Semaphore::new(1),
        uploads: Semaphore::new(1),
    };
    TransferService { runtime: Some(runtime), state: Arc::new(state) }
}

/// The events of a request; with `panics` their receiver panics the first time, as any line of the work might.
fn events_of(service: &TransferService, request: TransferRequest, panics: bool) -> Receiver<TransferEvent> {
    let (sender, inbox) = channel();
    let sender = Mutex::new(sender);
    let panics = AtomicBool::new(panics);
    service.start(request, move |event| {
        assert!(!panics.swap(false, Ordering::SeqCst), "on purpose");
        let _ = lock_mutex(&sender).send(event);
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

/// A panic once left the caller waiting forever.
#[test]
fn a_panic_is_the_error_of_its_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let web = HttpBuilder::new().with_url("http://localhost/x").with_http_connector(Panics).build().expect("it opens");
    let panicking = service(folder.path(), vec![client(|client| client.location.store = Arc::new(web))]);
    let working = service(folder.path(), vec![client(|client| client.location.store = Arc::new(InMemory::new()))]);
    // Either the request panics, or the receiver of its first event.
    let end_of = |request, receiver_panics| {
        let service = if receiver_panics { &working } else { &panicking };
        events_of(service, request, receiver_panics).recv_timeout(Duration::from_secs(20)).expect("an end")
    };
    for panics in [false, true] {
        let TransferEvent::RecordsFetched { new: 0, errors } =
            end_of(TransferRequest::FetchRecords(vec![key()]), panics)
        else {
            panic!("another end")
        };
        assert_eq!(errors, [("lab".to_owned(), RemoteError::Panicked)]);
        let TransferEvent::Status(found) = end_of(TransferRequest::Stat(key(), None), panics) else {
            panic!("another end")
        };
        assert_eq!(found, [("lab".to_owned(), Err(RemoteError::Panicked))]);
    }
    assert!(
        RemoteError::Panicked.to_string().contains("cwm or a library panicked")
            && !RemoteError::Panicked.is_transient()
    );
}

#[test]
fn a_remote_that_somebody_else_initializes_is_noticed() {
    let shared = Arc::new(InMemory::new());
    let of = || {
        client(|client| {
            client.location.store = shared.clone();
            client.location.multipart = Some(shared.clone());
        })
    };
    let (ours, theirs) = (of(), of());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        assert_eq!(ours.has_format().await, Ok(false));
        theirs.initialize().await.expect("it is initialized");
        assert_eq!(ours.has_format().await, Ok(true));
        theirs.put("objects/x", Bytes::from("x")).await.expect("it is sent");
        assert_eq!(ours.size("objects/x").await, Ok(Some(1)));
    });
}

/// A mistyped folder, or a disk that is not mounted, would be filled silently.
#[test]
fn the_initialization_of_a_remote_is_reported_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (lab, input) = (folder.path().join("lab"), folder.path().join("x"));
    std::fs::write(&input, "x").expect("written");
    let service =
        service(&folder.path().join("store"), vec![client(|client| client.location.folder = Some(lab.clone()))]);
    service.state.store.create().expect("a store");
    let file = DigestCache::of_store(&service.state.store).snapshot(&input).expect("it is there");
    for begins in [true, false] {
        let events: Vec<TransferEvent> =
            events_of(&service, TransferRequest::UploadFile(file.clone()), false).iter().collect();
        let is_reported = |event: &TransferEvent| matches!(event, TransferEvent::Initialized(message) if message.contains("its folder"));
        assert_eq!(events.iter().any(is_reported), begins, "{events:?}");
        assert!(matches!(events.last(), Some(TransferEvent::Uploaded(Ok(Some(_))))), "{events:?}");
    }
}
