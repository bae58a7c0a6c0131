//! Sources: files, URLs, lists, beginnings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cwm_contract::Origin;

use super::*;
use crate::fault_server::{empty, serve};

fn values(given: &[(&str, Value)]) -> Values {
    let defaults = Download.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
    defaults.chain(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()))).collect()
}

fn list(items: &[&str]) -> Value {
    Value::List(items.iter().map(|item| text(item)).collect())
}

#[test]
fn a_file_is_referred_to_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("games.pgn");
    std::fs::write(&source, file()).unwrap();
    let path = source.to_str().unwrap();
    for sha256 in [None, Some(sum(&file())), Some(sum(&file()).to_uppercase())] {
        let outcome = trial(&folder.path().join("run"), path, sha256.as_deref()).run(&Download).unwrap();
        let same = Event::PassThrough { output: "pgn".into(), path: source.clone() };
        assert!(outcome.events.contains(&same));
        assert_eq!(std::fs::read_dir(folder.path().join("run/checkpoints")).unwrap().count(), 0);
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
    let words = format!("100000 bytes came with SHA-256 {}, but {wanted} is expected", sum(&file()));
    assert_eq!(failure.message, format!("{path}: {words}"));
    let failure = fails(trial(&run, "/nowhere/games.pgn", None).run(&Download));
    assert!(failure.message.starts_with("cannot read /nowhere/games.pgn: "), "{failure}");
    let failure = fails(trial(&run, folder.path().to_str().unwrap(), None).run(&Download));
    assert!(failure.message.ends_with("is not a file"), "{failure}");
    let failure = fails(trial(&run, path, Some("abc")).run(&Download));
    assert_eq!(failure.message, "parameter `sha256` must be 64 hexadecimal digits, not 3 characters");
}

#[test]
fn a_list_makes_a_folder_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let local = folder.path().join("b.pgn");
    std::fs::write(&local, b"local").unwrap();
    let server = Server::start(|_, request| serve(request.path.as_bytes(), TAG, &Request::default()));
    let sources = [format!("{}/z.pgn.zst", server.base), local.to_str().unwrap().to_owned(), server.url.clone()];
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let sums = Value::List(vec![Value::Null, text(&sum(b"local")), text(&sum(b"/games.pgn.zst"))]);
    let trial = Trial::new(folder.path().join("run")).with("source", list(&sources)).with("sha256", sums);
    let outcome = trial.run(&Impatient(settings())).unwrap();
    let read = |name: &str| std::fs::read_to_string(outcome.outputs["pgn"].join(name)).unwrap();
    assert_eq!(std::fs::read_dir(&outcome.outputs["pgn"]).unwrap().count(), 3);
    assert_eq!(read("00000-z.pgn.zst"), "/z.pgn.zst");
    assert_eq!(read("00001-b.pgn"), "local");
    assert_eq!(read("00002-games.pgn.zst"), "/games.pgn.zst");
    assert_eq!(reported_fetches(&outcome).iter().map(|one| one.bytes).collect::<Vec<_>>(), [10, 14]);
    assert_eq!(std::fs::read(&local).unwrap(), b"local");
}

#[test]
fn of_a_list_what_has_arrived_is_checked_and_not_fetched_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|number, request| match request.path.as_str() {
        "/b" if number < 8 => empty("503 Service Unavailable"),
        path => serve(path.as_bytes(), TAG, &Request::default()),
    });
    let sources = ["a", "b"].map(|name| format!("{}/{name}", server.base));
    let sources = list(&[&sources[0], &sources[1]]);
    let run = || Trial::new(folder.path()).with("source", sources.clone()).run(&Impatient(settings()));
    assert!(fails(run()).message.contains("503"));
    let outcome = run().unwrap();
    assert_eq!(std::fs::read(outcome.outputs["pgn"].join("00000-a")).unwrap(), b"/a");
    let of_a: Vec<Request> = server.requests().into_iter().filter(|request| request.path == "/a").collect();
    // By its last byte.
    assert_eq!(of_a.iter().map(|request| (request.ranged, request.start)).collect::<Vec<_>>(), [(false, 0), (true, 1)]);
    assert_eq!(of_a[1].if_range.as_deref(), Some(TAG));
}

/// Runs a list of two files twice, of which the second fails the first time, and the first is another the second time,
/// named `tags`. Returns the first file's content then, and the first byte of each request for it.
fn changed_between_two_runs(tags: [&'static str; 2], is_summed: bool) -> (Vec<u8>, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let second = Arc::new(AtomicBool::new(false));
    let now = second.clone();
    let server = Server::start(move |_, request| match (request.path.as_str(), now.load(Ordering::SeqCst)) {
        ("/a", false) => serve(b"old", tags[0], request),
        ("/a", true) => serve(b"new", tags[1], request),
        (_, false) => empty("404 Not Found"),
        (_, true) => serve(b"b", TAG, request),
    });
    let sources = ["a", "b"].map(|name| format!("{}/{name}", server.base));
    let sums = Value::List(vec![if is_summed { text(&sum(b"old")) } else { Value::Null }, Value::Null]);
    let run = || {
        let trial = Trial::new(folder.path()).with("source", list(&[&sources[0], &sources[1]]));
        trial.with("sha256", sums.clone()).run(&Impatient(settings()))
    };
    assert!(fails(run()).message.contains("404"));
    second.store(true, Ordering::SeqCst);
    let outcome = run().unwrap();
    let content = std::fs::read(outcome.outputs["pgn"].join("00000-a")).unwrap();
    if let [first, _] = &reported_fetches(&outcome)[..] {
        assert_eq!(first.sha256, sum(&content));
    }
    let requests = server.requests().into_iter().filter(|request| request.path == "/a");
    (content, requests.map(|request| request.start).collect())
}

#[test]
fn a_whole_file_of_an_earlier_run_is_not_taken_unasked() {
    assert_eq!(changed_between_two_runs(["\"v1\"", "\"v2\""], false), (b"new".to_vec(), vec![0, 2]));
    // No name that could be queried.
    assert_eq!(changed_between_two_runs(["W/\"v1\"", "W/\"v1\""], false), (b"new".to_vec(), vec![0, 0]));
    // A sum counts more than the server's validator.
    assert_eq!(changed_between_two_runs(["\"v1\"", "\"v2\""], true), (b"old".to_vec(), vec![0]));
}

#[test]
fn a_whole_beginning_of_an_earlier_run_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, request| serve(&file(), TAG, request));
    for _ in 0..2 {
        let trial = trial(folder.path(), &server.url, None).with("first_bytes", Value::Int(20_000));
        assert!(content(&trial.run(&Impatient(settings())).unwrap()) == file()[..20_000]);
    }
    let asked: Vec<_> = server.requests().iter().map(|request| (request.start, request.last)).collect();
    assert_eq!(asked, [(0, Some(19_999)), (19_999, Some(19_999))]);
}

#[test]
fn only_a_beginning_is_fetched() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, request| serve(&file(), TAG, request).cut(7_000));
    let run = |first_bytes: Value, sha256: &str| {
        let trial = trial(folder.path(), &server.url, Some(sha256)).with("first_bytes", first_bytes);
        trial.run(&Impatient(settings()))
    };
    let outcome = run(text("20kB"), &sum(&file()[..20_000])).unwrap();
    assert!(content(&outcome) == file()[..20_000]);
    let fetch = FetchRequest { url: server.url.clone(), first_bytes: Some(20_000) };
    assert_eq!(reported_fetches(&outcome), [FetchResult { fetch, sha256: sum(&file()[..20_000]), bytes: 20_000 }]);
    let asked: Vec<_> = server.requests().iter().map(|request| (request.start, request.last)).collect();
    assert_eq!(asked, [(0, Some(19_999)), (7_000, Some(19_999)), (14_000, Some(19_999))]);
    assert_eq!(server.served(), 20_000);
    let failure = fails(run(Value::Int(10_000), &sum(&file())));
    let words = format!("the first 10000 bytes of {}: 10000 bytes came with SHA-256", server.url);
    assert!(failure.message.starts_with(&words), "{failure}");
}

#[test]
fn a_beginning_of_a_server_without_ranges_and_of_a_shorter_file() {
    for (bytes, length) in [(20_000, 20_000), (100_000, 100_000), (200_000, 100_000)] {
        for ranges in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let server = Server::start(move |_, request| {
                serve(&file(), TAG, &if ranges { request.clone() } else { Request::default() })
            });
            let trial = trial(folder.path(), &server.url, None).with("first_bytes", Value::Int(bytes));
            let outcome = trial.run(&Impatient(settings())).unwrap();
            assert!(content(&outcome) == file()[..length]);
            assert_eq!(reported_fetches(&outcome)[0].bytes, length as u64);
        }
    }
}

#[test]
fn a_beginning_of_nothing_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, request| serve(b"", TAG, request));
    let trial = trial(folder.path(), &server.url, None).with("first_bytes", Value::Int(5));
    assert!(content(&trial.run(&Impatient(settings())).unwrap()).is_empty());
    // First a part of it, which an empty file does not have.
    assert_eq!(server.requests().iter().map(|request| request.ranged).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_beginning_of_a_file_is_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("games.pgn");
    std::fs::write(&source, file()).unwrap();
    for (bytes, length) in [(30_000, 30_000), (200_000, 100_000)] {
        let trial = trial(&folder.path().join("run"), source.to_str().unwrap(), Some(&sum(&file()[..length])));
        let outcome = trial.with("first_bytes", Value::Int(bytes)).run(&Download).unwrap();
        assert!(content(&outcome) == file()[..length]);
        assert_ne!(outcome.outputs["pgn"], source);
    }
}

#[test]
fn what_is_asked_for_is_checked_before_anything_runs() {
    let fault = |given: &[(&str, Value)]| {
        let mut faults = Download.check(&values(given));
        assert_eq!(faults.len(), 1, "{faults:?}");
        let fault = faults.remove(0);
        format!("{} {}", fault.parameter, fault.message)
    };
    assert!(fault(&[]).starts_with("source must be given"));
    assert!(fault(&[("source", Value::List(Vec::new()))]).starts_with("source must name at least one"));
    assert!(
        fault(&[("source", list(&["http://x/y", "/x", " http://x/y"]))]).starts_with("source names http://x/y twice")
    );
    let many: Vec<String> = (0..=100_000).map(|number| format!("/{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(fault(&[("source", list(&many))]), "source must name at most 100000 files and URLs, not 100001");
    assert!(Download.check(&values(&[("source", list(&many[1..]))])).is_empty());
    assert!(fault(&[("source", text("file:///x/y.pgn"))]).ends_with("write `/x/y.pgn`"));
    assert!(fault(&[("source", list(&["/x", "ftp://x/y"]))]).starts_with("source must be the path of a file or"));
    assert!(fault(&[("month", text("2025-13"))]).starts_with("month must be a year and a month"));
    assert!(fault(&[("month", text("2025-03")), ("mirror", text("/tmp"))]).starts_with("mirror must begin with"));
    let both = [("month", text("2025-03")), ("first_bytes", Value::Int(7)), ("month_bytes", Value::Int(7))];
    assert_eq!(fault(&both), "month_bytes must not be given together with `first_bytes`");
    let sums = Value::List(vec![text(&sum(b"")); 2]);
    assert!(fault(&[("source", text("/x")), ("sha256", sums)]).contains("as many as there are sources: 1, not 2"));
    assert!(fault(&[("source", list(&["/x", "/y"])), ("sha256", text(&sum(b"")))]).contains("2, not 1"));
    assert!(Download.check(&values(&[("source", text("/x")), ("month", text("2025-03"))])).is_empty());
}

#[test]
fn what_is_brought_is_the_source_else_the_month() {
    let brought = |given: &[(&str, Value)]| Download.external_sources(&values(given)).unwrap();
    let given = sum(&file());
    let [one] = &brought(&[("source", text(" https://x/y ")), ("sha256", text(&given.to_uppercase()))])[..] else {
        panic!("one source");
    };
    assert_eq!(one.sha256.as_deref(), Some(given.as_str()));
    assert_eq!(one.name, None);
    assert_eq!(one.from, Origin::Url(FetchRequest { url: "https://x/y".into(), first_bytes: None }));
    let month = ("month", text("2025-03"));
    let url = |brought: Vec<ExternalSource>| match &brought[..] {
        [ExternalSource { from: Origin::Url(fetch), name: None, .. }] => fetch.to_string(),
        other => panic!("{other:?}"),
    };
    let of_site = "https://database.lichess.org/standard/lichess_db_standard_rated_2025-03.pgn.zst";
    assert_eq!(
        url(brought(&[month.clone(), ("first_bytes", Value::Int(7))])),
        format!("the first 7 bytes of {of_site}")
    );
    let beginning = ("month_bytes", Value::Int(7));
    assert_eq!(url(brought(&[month.clone(), beginning.clone()])), format!("the first 7 bytes of {of_site}"));
    // What is given in place of the month is taken whole.
    assert_eq!(url(brought(&[month.clone(), beginning, ("source", text("http://x/y"))])), "http://x/y");
    assert_eq!(url(brought(&[month.clone(), ("source", text("http://x/y"))])), "http://x/y");
    // A list of one is a folder all the same.
    assert_eq!(brought(&[("source", list(&["/x/y.pgn"]))])[0].name.as_deref(), Some("00000-y.pgn"));
}
