//! Asked to stop, it stops at once, whatever it waits for.

use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, FailureKind};

use super::*;
use crate::fault_server::{empty, serve};

/// Limits longer than any test: only a cancellation ends a wait.
fn patient() -> Settings {
    let hours = Duration::from_secs(36_000);
    Settings { connect: hours, response: hours, read: hours, initial_backoff: hours, max_backoff: hours, ..settings() }
}

fn is_stopped(answer: impl Fn(usize, &Request) -> Response + Send + Sync + 'static) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let cancellation = Cancellation::default();
    let asked = cancellation.clone();
    let server = Server::start(move |number, request| {
        let asked = asked.clone();
        // After the answer has gone out, so that it is awaited when the request to stop comes.
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            asked.cancel();
        });
        answer(number, request)
    });
    let begun = Instant::now();
    let failure = fails(trial(folder.path(), &server.url, None).run_until(&Impatient(patient()), cancellation));
    assert_eq!(failure.kind, FailureKind::Cancelled);
    // Half an hour is 1/20 of the shortest limit.
    assert!(begun.elapsed() < Duration::from_secs(1_800));
    folder
}

#[test]
fn while_it_waits_for_the_next_try() {
    is_stopped(|_, _| empty("503 Service Unavailable"));
}

#[test]
fn while_the_server_says_nothing() {
    is_stopped(|_, _| Response { head: String::new(), body: Vec::new(), stalls: true, repeats: false });
}

#[test]
fn while_a_transfer_stalls_and_nothing_of_it_is_taken_for_another_url() {
    let folder = is_stopped(|_, request| serve(&file(), TAG, request).cut(60_000).stalling());
    let server = Server::start(|_, request| serve(&file(), TAG, request));
    // Another URL: nothing of the first is taken for it.
    let outcome = trial(folder.path(), &server.url, None).run(&Impatient(settings())).unwrap();
    assert!(content(&outcome) == file());
    assert_eq!(starts(&server.requests()), [0]);
}
