//! The stage as a whole, against files and a server that misbehaves.

use std::path::Path;
use std::time::Duration;

use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{
    Cancellation, Context, Event, Failure, FailureKind, Fault, Input, Output, ParameterSpec, Stage, Value, Values,
};
use sha2::{Digest, Sha256};

use crate::Download;
use crate::checksum::Checksum;
use crate::fault_server::{Answer, Request, Server, empty, serve};
use crate::settings::Settings;

const TAG: &str = "\"v1\"";

/// The stage with little patience.
struct Impatient(Settings);

impl Stage for Impatient {
    fn kind(&self) -> &'static str {
        Download.kind()
    }
    fn about(&self) -> &'static str {
        Download.about()
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
    fn check(&self, values: &Values) -> Vec<Fault> {
        Download.check(values)
    }
    fn run(&self, context: &Context) -> Result<(), Failure> {
        crate::run::run(context, &self.0)
    }
}

/// Waits are short; what must not happen by chance on a slow machine has ample time.
fn settings() -> Settings {
    Settings {
        connect: Duration::from_secs(10),
        response: Duration::from_secs(10),
        read: Duration::from_secs(10),
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(4),
        checkpoint: 10_000,
        proxy: false,
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

fn trial(folder: &Path, source: &str, sha256: Option<&str>) -> Trial {
    let trial = Trial::new(folder).with("source", Value::Text(source.to_owned()));
    match sha256 {
        Some(sum) => trial.with("sha256", Value::Text(sum.to_owned())),
        None => trial,
    }
}

fn fails(result: Result<Outcome, Failure>) -> Failure {
    result.err().expect("a failure")
}

/// Downloads from a server that answers so, checks that the file came whole, and returns what was asked for.
fn check(settings: Settings, answer: impl Fn(usize, &Request) -> Answer + Send + 'static) -> Vec<Request> {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(answer);
    let outcome = trial(folder.path(), &server.url, Some(&sum(&file()))).run(&Impatient(settings)).unwrap();
    assert!(std::fs::read(&outcome.outputs["pgn"]).unwrap() == file(), "the bytes are others");
    assert_eq!(std::fs::read_dir(folder.path().join("keep")).unwrap().count(), 0, "something is left over");
    server.requests()
}

fn starts(requests: &[Request]) -> Vec<usize> {
    requests.iter().map(|request| request.start).collect()
}

#[test]
fn a_file_comes_in_one_piece() {
    assert_eq!(starts(&check(settings(), |_, request| serve(&file(), TAG, request))), [0]);
}

#[test]
fn after_each_cut_it_goes_on_where_it_was() {
    let requests = check(settings(), |_, request| serve(&file(), TAG, request).cut(30_001));
    assert_eq!(starts(&requests), [0, 30_001, 60_002, 90_003]);
    assert!(requests[1..].iter().all(|request| request.if_range.as_deref() == Some(TAG)));
}

#[test]
fn a_busy_server_is_asked_again() {
    let requests = check(settings(), |number, request| match number {
        0..3 => empty("503 Service Unavailable\r\nRetry-After: 0"),
        3 => empty("429 Too Many Requests"),
        _ => serve(&file(), TAG, request),
    });
    assert_eq!(requests.len(), 5);
}

#[test]
fn a_stalled_connection_is_given_up_and_continued() {
    let impatient = Settings { read: Duration::from_millis(300), ..settings() };
    let requests = check(impatient, |number, request| {
        let answer = serve(&file(), TAG, request);
        if number == 0 { Answer { stalls: true, ..answer.cut(20_000) } } else { answer }
    });
    assert_eq!(starts(&requests), [0, 20_000]);
}

#[test]
fn a_server_that_never_answers_is_asked_again() {
    let impatient = Settings { response: Duration::from_millis(300), ..settings() };
    let requests = check(impatient, |number, request| match number {
        0 => Answer { head: String::new(), body: Vec::new(), stalls: true },
        _ => serve(&file(), TAG, request),
    });
    assert_eq!(requests.len(), 2);
}

#[test]
fn a_file_that_changed_on_the_way_is_begun_anew() {
    let requests = check(settings(), |number, request| match number {
        0 => serve(&vec![7; 90_000], TAG, request).cut(40_000),
        _ => serve(&file(), "\"v2\"", request),
    });
    assert_eq!(starts(&requests), [0, 40_000]);
}

#[test]
fn a_file_whose_length_changed_under_one_tag_is_begun_anew() {
    let requests = check(settings(), |number, request| match number {
        0 => serve(&vec![7; 90_000], TAG, request).cut(40_000),
        _ => serve(&file(), TAG, request),
    });
    assert_eq!(starts(&requests), [0, 40_000, 0]);
}

#[test]
fn a_server_that_ignores_ranges_begins_anew() {
    let requests = check(settings(), |number, _| {
        let answer = serve(&file(), TAG, &Request { start: 0, if_range: None });
        if number < 3 { answer.cut(10_000 * (number + 1)) } else { answer }
    });
    assert_eq!(starts(&requests), [0, 10_000, 20_000, 30_000]);
}

#[test]
fn without_a_name_for_the_bytes_nothing_is_continued() {
    let requests = check(settings(), |number, request| {
        let answer = serve(&file(), TAG, request).saying("ETag: \"v1\"", "ETag: W/\"v1\"");
        if number == 0 { answer.cut(50_000) } else { answer }
    });
    assert_eq!(requests[1], Request { start: 0, if_range: None });
}

#[test]
fn a_range_from_elsewhere_is_not_taken() {
    let requests = check(settings(), |number, request| match number {
        0 => serve(&file(), TAG, request).cut(50_000),
        1 => serve(&file(), TAG, request).saying("bytes 50000-", "bytes 49999-"),
        _ => serve(&file(), TAG, request),
    });
    assert_eq!(starts(&requests), [0, 50_000, 0]);
}

#[test]
fn what_the_server_no_longer_has_is_begun_anew() {
    let requests = check(settings(), |number, request| match number {
        0 => serve(&file(), TAG, request).cut(50_000),
        1 => empty("416 Range Not Satisfiable"),
        _ => serve(&file(), TAG, request),
    });
    assert_eq!(starts(&requests), [0, 50_000, 0]);
}

#[test]
fn a_length_that_is_too_large_ends_in_words_and_keeps_what_came() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, request| {
        let mut longer = file();
        longer.push(0);
        let there = file().len().saturating_sub(request.start);
        serve(&longer, TAG, request).cut(there)
    });
    let failure = fails(trial(folder.path(), &server.url, None).run(&Impatient(settings())));
    assert!(failure.message.contains("6 tries in a row brought nothing new"), "{failure}");
    assert!(failure.hint.unwrap().contains("the 100000 bytes that have arrived are kept"));
    assert_eq!(server.requests().len(), 7);
}

#[test]
fn a_length_that_is_too_small_shows_in_the_sum() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, request| serve(&file(), TAG, request).saying("Length: 100000", "Length: 99999"));
    let failure = fails(trial(folder.path(), &server.url, Some(&sum(&file()))).run(&Impatient(settings())));
    assert!(
        failure.message.contains(&format!("gave 99999 bytes with SHA-256 {}", sum(&file()[..99_999]))),
        "{failure}"
    );
}

#[test]
fn a_wrong_sum_names_both_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, request| serve(&file(), TAG, request));
    let wanted = sum(b"another file");
    let failure = fails(trial(folder.path(), &server.url, Some(&wanted)).run(&Impatient(settings())));
    assert_eq!(failure.kind, FailureKind::Input);
    assert_eq!(
        failure.message,
        format!("{} gave 100000 bytes with SHA-256 {}, but {wanted} is expected", server.url, sum(&file()))
    );
    assert!(failure.hint.unwrap().contains("correct `sha256`"));
    assert_eq!(std::fs::metadata(folder.path().join("keep/part")).unwrap().len(), 0);
    assert!(!folder.path().join("out/pgn.pgn.zst").exists());
}

#[test]
fn a_refusal_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| empty("404 Not Found"));
    let failure = fails(trial(folder.path(), &server.url, None).run(&Impatient(settings())));
    assert_eq!(failure.message, format!("{}: the server answers 404 Not Found", server.url));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_later_run_goes_on_where_an_earlier_one_was() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|number, request| match number {
        0 => serve(&file(), TAG, request).cut(35_000),
        1..7 => empty("503 Service Unavailable"),
        _ => serve(&file(), TAG, request),
    });
    let run = || trial(folder.path(), &server.url, Some(&sum(&file()))).run(&Impatient(settings()));
    assert!(fails(run()).message.contains("503 Service Unavailable"));
    let outcome = run().unwrap();
    assert!(std::fs::read(&outcome.outputs["pgn"]).unwrap() == file());
    assert_eq!(server.requests()[7], Request { start: 35_000, if_range: Some(TAG.into()) });
}

#[test]
fn bytes_that_were_not_yet_safe_are_fetched_again_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|number, request| match number {
        0 => serve(&file(), TAG, request).cut(35_000),
        1..7 => empty("503 Service Unavailable"),
        _ => serve(&file(), TAG, request),
    });
    let run = || trial(folder.path(), &server.url, Some(&sum(&file()))).run(&Impatient(settings()));
    fails(run());
    // As a process leaves it that is killed, or whose machine loses power: more bytes than are known to be right.
    let part = folder.path().join("keep/part");
    let mut bytes = std::fs::read(&part).unwrap();
    bytes.extend([0; 5_000]);
    std::fs::write(&part, bytes).unwrap();
    assert!(std::fs::read(&run().unwrap().outputs["pgn"]).unwrap() == file());
    assert_eq!(server.requests()[7].start, 35_000);
}

#[test]
fn what_belongs_to_another_url_or_cannot_be_read_is_thrown_away() {
    for stamp in [
        "{\"version\":1,\"url\":\"http://127.0.0.1/x\",\"validator\":\"\\\"v1\\\"\",\"total\":null,\"safe\":3}",
        "{",
        "",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let keep = folder.path().join("keep");
        std::fs::create_dir_all(&keep).unwrap();
        std::fs::write(keep.join("part"), b"abc").unwrap();
        std::fs::write(keep.join("stamp.json"), stamp).unwrap();
        let server = Server::start(|_, request| serve(&file(), TAG, request));
        let outcome = trial(folder.path(), &server.url, None).run(&Impatient(settings())).unwrap();
        assert!(std::fs::read(&outcome.outputs["pgn"]).unwrap() == file());
        assert_eq!(starts(&server.requests()), [0]);
    }
}

#[test]
fn chunks_tell_their_own_end_and_a_bare_close_does_not() {
    let chunked = |_: usize, _: &Request| {
        let mut body = format!("{:x}\r\n", file().len()).into_bytes();
        body.extend(file());
        body.extend(b"\r\n0\r\n\r\n");
        Answer { head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n".into(), body, stalls: false }
    };
    check(settings(), chunked);
    check(settings(), move |number, request| {
        let answer = chunked(number, request);
        if number == 0 { answer.cut(60_000) } else { answer }
    });
    let open = |_: usize, _: &Request| Answer { head: "HTTP/1.1 200 OK\r\n".into(), body: file(), stalls: false };
    check(settings(), open);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(open);
    let failure = fails(trial(folder.path(), &server.url, None).run(&Impatient(settings())));
    assert!(failure.message.ends_with("so a cut would go unnoticed"), "{failure}");
}

#[test]
fn it_stops_when_asked_even_while_it_waits() {
    let folder = tempfile::tempdir().unwrap();
    let cancellation = Cancellation::default();
    let asked = cancellation.clone();
    let server = Server::start(move |_, _| {
        asked.cancel();
        empty("503 Service Unavailable")
    });
    let patient =
        Settings { first_wait: Duration::from_secs(3_600), longest_wait: Duration::from_secs(3_600), ..settings() };
    let failure = fails(trial(folder.path(), &server.url, None).run_until(&Impatient(patient), cancellation));
    assert_eq!(failure.kind, FailureKind::Cancelled);
}

#[test]
fn a_file_is_referred_to_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("games.pgn");
    std::fs::write(&source, file()).unwrap();
    let path = source.to_str().unwrap();
    for sha256 in [None, Some(sum(&file())), Some(sum(&file()).to_uppercase())] {
        let outcome = trial(&folder.path().join("run"), path, sha256.as_deref()).run(&Download).unwrap();
        let same = Event::SameAs { output: "pgn".into(), path: source.clone() };
        assert!(outcome.events.contains(&same));
        assert!(!folder.path().join("run/out/pgn.pgn.zst").exists());
    }
}

#[test]
fn a_file_with_another_sum_or_none_at_all_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("games.pgn");
    std::fs::write(&source, file()).unwrap();
    let (path, run) = (source.to_str().unwrap(), folder.path().join("run"));
    let wanted = sum(b"another file");
    let failure = fails(trial(&run, path, Some(&wanted)).run(&Download));
    assert_eq!(failure.message, format!("{path} has SHA-256 {}, but {wanted} is expected", sum(&file())));
    let failure = fails(trial(&run, "/nowhere/games.pgn", None).run(&Download));
    assert!(failure.message.starts_with("cannot read /nowhere/games.pgn: "), "{failure}");
    let failure = fails(trial(&run, folder.path().to_str().unwrap(), None).run(&Download));
    assert!(failure.message.ends_with("is not a file"), "{failure}");
    let failure = fails(trial(&run, path, Some("abc")).run(&Download));
    assert_eq!(failure.message, "parameter `sha256` must be 64 hexadecimal digits, not 3 characters");
}

#[test]
fn the_key_is_the_sum_else_the_url() {
    let key = |source: &str, sha256: Value| {
        Download.fixed_key(&Values::from([("source".into(), Value::Text(source.into())), ("sha256".into(), sha256)]))
    };
    let wanted = sum(&file());
    let given = Value::Text(wanted.to_uppercase());
    for source in ["http://127.0.0.1/games", "https://127.0.0.1/games", "/tmp/games"] {
        assert_eq!(key(source, given.clone()), Some(Value::Text(wanted.clone())));
    }
    assert_eq!(key("http://127.0.0.1/games", Value::Null), Some(Value::Text("http://127.0.0.1/games".into())));
    assert_eq!(key("/tmp/games", Value::Null), None);
}
