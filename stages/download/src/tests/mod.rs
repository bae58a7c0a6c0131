//! The stage as a whole, against files and a server that misbehaves.

mod cancelling;
mod faults;
mod network;
mod sources;
mod sums;

use std::path::Path;
use std::time::Duration;

use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{
    Context, Event, ExternalSource, Failure, FetchRequest, FetchResult, Input, Output, ParameterError, ParameterSpec,
    Stage, Value, Values,
};
use cwm_web::{Settings, Variables};
use sha2::{Digest, Sha256};

use crate::Download;
use crate::checksum::Checksum;
use crate::fault_server::{Request, Response, Server};

const TAG: &str = "\"v1\"";

/// The stage with short limits of time.
struct Impatient(Settings);

impl Stage for Impatient {
    fn kind(&self) -> &'static str {
        Download.kind()
    }
    fn description(&self) -> &'static str {
        Download.description()
    }
    fn inputs(&self) -> Vec<Input> {
        Download.inputs()
    }
    fn outputs(&self) -> Vec<Output> {
        Download.outputs()
    }
    fn parameters(&self) -> Vec<ParameterSpec> {
        Download.parameters()
    }
    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Download.check(values)
    }
    fn external_sources(&self, values: &Values) -> Option<Vec<ExternalSource>> {
        Download.external_sources(values)
    }
    fn run(&self, context: &Context) -> Result<(), Failure> {
        crate::run::run(context, &self.0, 10_000)
    }
}

/// Waits are short; what must not happen by chance on a slow machine has ample time.
fn settings() -> Settings {
    Settings {
        connect: Duration::from_secs(60),
        response: Duration::from_secs(60),
        read: Duration::from_secs(60),
        initial_backoff: Duration::from_millis(1),
        max_backoff: Duration::from_millis(4),
        proxies: Variables::new(),
        ..Settings::default()
    }
}

/// 100,000 bytes that repeat nowhere.
fn file() -> Vec<u8> {
    (0..25_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

fn sum(bytes: &[u8]) -> String {
    Checksum::of(Sha256::new_with_prefix(bytes)).to_string()
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn trial(folder: &Path, source: &str, sha256: Option<&str>) -> Trial {
    let trial = Trial::new(folder).with("source", text(source));
    match sha256 {
        Some(sum) => trial.with("sha256", text(sum)),
        None => trial,
    }
}

#[track_caller]
fn fails(result: Result<Outcome, Failure>) -> Failure {
    result.err().expect("a failure")
}

fn content(outcome: &Outcome) -> Vec<u8> {
    std::fs::read(&outcome.outputs["pgn"]).unwrap()
}

/// Returns the fetches that the stage reported.
fn reported_fetches(outcome: &Outcome) -> Vec<FetchResult> {
    let fetched = |event: &Event| if let Event::Fetched(one) = event { Some(one.clone()) } else { None };
    outcome.events.iter().filter_map(fetched).collect()
}

/// Returns the notes of the stage.
fn notes(outcome: &Outcome) -> Vec<String> {
    let note = |event: &Event| if let Event::Note(note) = event { Some(note.clone()) } else { None };
    outcome.events.iter().filter_map(note).collect()
}

/// Downloads from a server that answers so, checks that the file came whole, and returns what was requested.
fn check(settings: Settings, answer: impl Fn(usize, &Request) -> Response + Send + Sync + 'static) -> Vec<Request> {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(answer);
    let outcome = trial(folder.path(), &server.url, Some(&sum(&file()))).run(&Impatient(settings)).unwrap();
    assert!(content(&outcome) == file(), "the bytes are others");
    let fetch = FetchRequest { url: server.url.clone(), first_bytes: None };
    assert_eq!(reported_fetches(&outcome), [FetchResult { fetch, sha256: sum(&file()), bytes: 100_000 }]);
    server.requests()
}

fn starts(requests: &[Request]) -> Vec<usize> {
    requests.iter().map(|request| request.start).collect()
}
