//! Sums: given, pinned, published.

use cwm_contract::{ExpectedChecksum, FailureKind};

use super::*;
use crate::fault_server::{empty, serve};

#[test]
fn a_wrong_sum_names_both_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, request| serve(&file(), TAG, request));
    let wanted = sum(b"another file");
    let failure = fails(trial(folder.path(), &server.url, Some(&wanted)).run(&Impatient(settings())));
    assert_eq!(failure.kind, FailureKind::Input);
    assert_eq!(
        failure.message,
        format!("{}: 100000 bytes came with SHA-256 {}, but {wanted} is expected", server.url, sum(&file()))
    );
    assert!(failure.hint.unwrap().contains("correct `sha256`"));
    assert_eq!(std::fs::metadata(folder.path().join("checkpoints/files/00000-games.pgn.zst")).unwrap().len(), 0);
    assert_eq!(server.requests().len(), 1);
}

fn pinned(url: &str, sha256: &str) -> ExpectedChecksum {
    ExpectedChecksum {
        fetch: FetchRequest { url: url.into(), first_bytes: None },
        sha256: sha256.into(),
        reason: "is pinned in sources.lock".into(),
        hint: "ask for it".into(),
    }
}

#[test]
fn what_is_pinned_must_come_again() {
    let server = Server::start(|_, request| serve(&file(), TAG, request));
    let run = |wanted: &str| {
        let folder = tempfile::tempdir().unwrap();
        trial(folder.path(), &server.url, None).expecting(pinned(&server.url, wanted)).run(&Impatient(settings()))
    };
    assert!(run(&sum(&file())).is_ok());
    let wanted = sum(b"another file");
    let failure = fails(run(&wanted));
    let words = format!("100000 bytes came with SHA-256 {}, but {wanted} is pinned in sources.lock", sum(&file()));
    assert_eq!(failure.message, format!("{}: {words}", server.url));
    assert_eq!(failure.hint.unwrap(), "ask for it");
}

#[test]
fn the_sum_of_a_parameter_counts_before_the_pin() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, request| serve(&file(), TAG, request));
    let trial = trial(folder.path(), &server.url, Some(&sum(&file())));
    assert!(trial.expecting(pinned(&server.url, &sum(b"old"))).run(&Impatient(settings())).is_ok());
}

const MONTH: &str = "lichess_db_standard_rated_2025-03.pgn.zst";

/// A mirror with one month, and a list of sums that has `published` for it.
fn mirror(published: Option<String>) -> Server {
    Server::start(move |_, request| match (request.path.as_str(), &published) {
        ("/standard/sha256sums.txt", Some(sum)) => {
            let list = format!("{}  lichess_db_standard_rated_2025-02.pgn.zst\n{sum}  {MONTH}\n", "0".repeat(64));
            serve(list.as_bytes(), TAG, &Request::default())
        }
        (path, _) if path == format!("/standard/{MONTH}") => serve(&file(), TAG, request),
        _ => empty("404 Not Found"),
    })
}

fn month(folder: &Path, server: &Server) -> Trial {
    Trial::new(folder).with("month", text("2025-03")).with("mirror", text(&format!("{}/standard/", server.base)))
}

fn paths(server: &Server) -> Vec<String> {
    server.requests().into_iter().map(|request| request.path).collect()
}

#[test]
fn a_month_is_checked_against_the_published_sum() {
    let folder = tempfile::tempdir().unwrap();
    let server = mirror(Some(sum(&file())));
    let outcome = month(folder.path(), &server).run(&Impatient(settings())).unwrap();
    assert!(content(&outcome) == file());
    assert_eq!(paths(&server), ["/standard/sha256sums.txt".to_owned(), format!("/standard/{MONTH}")]);
    let fetch = FetchRequest { url: format!("{}/standard/{MONTH}", server.base), first_bytes: None };
    assert_eq!(reported_fetches(&outcome), [FetchResult { fetch, sha256: sum(&file()), bytes: 100_000 }]);
}

#[test]
fn a_month_with_another_sum_than_the_published_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let published = sum(b"another file");
    let server = mirror(Some(published.clone()));
    let failure = fails(month(folder.path(), &server).run(&Impatient(settings())));
    let list = format!("{}/standard/sha256sums.txt", server.base);
    assert!(failure.message.ends_with(&format!("but {published} is published in {list}")), "{failure}");
}

#[test]
fn a_list_that_is_not_there_or_has_no_such_month_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let server = mirror(None);
    let failure = fails(month(folder.path(), &server).run(&Impatient(settings())));
    assert!(failure.message.ends_with("sha256sums.txt: the server answers 404 Not Found"), "{failure}");
    assert!(failure.hint.unwrap().contains("`sha256`"));
    // Of a list nothing is kept, so nothing can be gone on from.
    let server = Server::start(|_, _| empty("503 Service Unavailable"));
    let failure = fails(month(folder.path(), &server).run(&Impatient(settings())));
    assert!(failure.message.contains("6 attempts in a row"), "{failure}");
    assert!(failure.hint.unwrap().contains("`sha256`"));
    let server = mirror(Some("nonsense".into()));
    let failure = fails(month(folder.path(), &server).run(&Impatient(settings())));
    assert!(failure.message.ends_with(&format!("has no sum of {MONTH}")), "{failure}");
}

#[test]
fn a_known_sum_needs_no_list_and_of_a_beginning_none_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let server = mirror(None);
    let whole = month(folder.path(), &server).with("sha256", text(&sum(&file())));
    assert!(whole.run(&Impatient(settings())).is_ok());
    let folder = tempfile::tempdir().unwrap();
    let outcome = month(folder.path(), &server).with("first_bytes", text("10kB")).run(&Impatient(settings())).unwrap();
    assert!(content(&outcome) == file()[..10_000]);
    assert!(notes(&outcome)[0].contains("so the first 10000 bytes are not checked"), "{:?}", notes(&outcome));
    assert!(!paths(&server).contains(&"/standard/sha256sums.txt".to_owned()));
}
