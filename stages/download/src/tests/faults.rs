//! A server that cuts, stalls, lies and changes its mind.

use std::time::Duration;

use super::*;
use crate::fault_server::{empty, serve};

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
fn a_busy_server_is_tried_again() {
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
        if number == 0 { answer.cut(20_000).stalling() } else { answer }
    });
    assert_eq!(starts(&requests), [0, 20_000]);
}

#[test]
fn a_server_that_never_answers_is_tried_again() {
    let impatient = Settings { response: Duration::from_millis(300), ..settings() };
    let requests = check(impatient, |number, request| match number {
        0 => Response { head: String::new(), body: Vec::new(), stalls: true, repeats: false },
        _ => serve(&file(), TAG, request),
    });
    assert_eq!(requests.len(), 2);
}

#[test]
fn a_file_that_changed_on_the_way_is_fetched_from_its_start() {
    let requests = check(settings(), |number, request| match number {
        0 => serve(&vec![7; 90_000], TAG, request).cut(40_000),
        _ => serve(&file(), "\"v2\"", request),
    });
    assert_eq!(starts(&requests), [0, 40_000]);
}

#[test]
fn a_file_whose_length_changed_under_one_tag_is_fetched_from_its_start() {
    let requests = check(settings(), |number, request| match number {
        0 => serve(&vec![7; 90_000], TAG, request).cut(40_000),
        _ => serve(&file(), TAG, request),
    });
    assert_eq!(starts(&requests), [0, 40_000, 0]);
}

#[test]
fn a_server_that_ignores_ranges_begins_anew() {
    let requests = check(settings(), |number, _| {
        let answer = serve(&file(), TAG, &Request::default());
        if number < 3 { answer.cut(10_000 * (number + 1)) } else { answer }
    });
    assert_eq!(starts(&requests), [0, 10_000, 20_000, 30_000]);
}

/// An answer without a name for the bytes that could be relied on.
fn nameless(number: usize, request: &Request) -> Response {
    let answer = serve(&file(), TAG, request).with_head_replaced("ETag: \"v1\"", "ETag: W/\"v1\"");
    if number < 2 { answer.cut(40_000) } else { answer }
}

#[test]
fn without_a_name_for_the_bytes_the_sum_protects_what_is_continued() {
    let requests = check(settings(), nameless);
    assert_eq!(starts(&requests), [0, 40_000, 80_000]);
    assert!(requests.iter().all(|request| request.if_range.is_none()));
}

#[test]
fn without_a_name_and_without_a_sum_it_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(nameless);
    let outcome = trial(folder.path(), &server.url, None).run(&Impatient(settings())).unwrap();
    assert!(content(&outcome) == file());
    assert_eq!(starts(&server.requests()), [0, 0, 0]);
}

#[test]
fn other_bytes_under_the_same_name_show_in_the_sum_and_are_fetched_anew() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|number, request| match number {
        0 => serve(&vec![7; 100_000], TAG, request).cut(40_000),
        _ => serve(&file(), TAG, request),
    });
    let outcome = trial(folder.path(), &server.url, Some(&sum(&file()))).run(&Impatient(settings())).unwrap();
    assert!(content(&outcome) == file());
    assert_eq!(starts(&server.requests()), [0, 40_000, 0]);
    assert!(notes(&outcome).iter().any(|note| note.contains("once more from the beginning")), "{:?}", notes(&outcome));
}

#[test]
fn a_part_of_a_file_of_another_name_is_not_taken() {
    let requests = check(settings(), |number, request| match number {
        0 => serve(&file(), TAG, request).cut(40_000),
        1 => serve(&file(), TAG, request).with_head_replaced("\"v1\"", "\"v2\""),
        _ => serve(&file(), TAG, request),
    });
    assert_eq!(starts(&requests), [0, 40_000, 0]);
}

#[test]
fn cut_at_any_place_however_often_it_goes_on() {
    let requests = check(settings(), |number, request| {
        let answer = serve(&file(), TAG, request);
        // As random as it need be: 1 to 4,000 bytes, and sometimes nothing.
        let cut = (number * 7_919 + 13) % 4_001;
        if number % 5 == 4 { answer.cut(0) } else { answer.cut(cut.max(1)) }
    });
    assert!(requests.len() > 50, "{} requests", requests.len());
    assert!(requests.windows(2).all(|pair| pair[0].start <= pair[1].start));
}

#[test]
fn a_range_from_elsewhere_is_not_taken() {
    let requests = check(settings(), |number, request| match number {
        0 => serve(&file(), TAG, request).cut(50_000),
        1 => serve(&file(), TAG, request).with_head_replaced("bytes 50000-", "bytes 49999-"),
        _ => serve(&file(), TAG, request),
    });
    assert_eq!(starts(&requests), [0, 50_000, 0]);
}

#[test]
fn what_the_server_no_longer_has_is_fetched_from_its_start() {
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
    assert!(failure.message.contains("6 attempts in a row transferred nothing"), "{failure}");
    assert!(failure.hint.unwrap().contains("the 100000 bytes that have arrived are kept"));
    assert_eq!(server.requests().len(), 7);
}

#[test]
fn a_length_that_is_too_small_shows_in_the_sum() {
    let folder = tempfile::tempdir().unwrap();
    let server =
        Server::start(|_, request| serve(&file(), TAG, request).with_head_replaced("Length: 100000", "Length: 99999"));
    let failure = fails(trial(folder.path(), &server.url, Some(&sum(&file()))).run(&Impatient(settings())));
    assert!(
        failure.message.contains(&format!("99999 bytes came with SHA-256 {}", sum(&file()[..99_999]))),
        "{failure}"
    );
}

#[test]
fn a_refusal_is_not_repeated() {
    for (status, words) in [("404 Not Found", "404 Not Found"), ("403 Forbidden", "403 Forbidden")] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(move |_, _| empty(status));
        let failure = fails(trial(folder.path(), &server.url, None).run(&Impatient(settings())));
        assert_eq!(failure.message, format!("{}: the server answers {words}", server.url));
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn bytes_that_are_changed_on_the_way_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, request| {
        serve(&file(), TAG, request).with_head_replaced("ETag", "Content-Encoding: gzip\r\nETag")
    });
    let failure = fails(trial(folder.path(), &server.url, None).run(&Impatient(settings())));
    assert!(failure.message.ends_with("the server changes the bytes on the way (Content-Encoding)"), "{failure}");
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
    assert!(content(&outcome) == file());
    assert_eq!(server.requests()[7].start, 35_000);
    assert_eq!(server.requests()[7].if_range.as_deref(), Some(TAG));
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
    let part = folder.path().join("checkpoints/files/00000-games.pgn.zst");
    let mut bytes = std::fs::read(&part).unwrap();
    bytes.extend([0; 5_000]);
    std::fs::write(&part, bytes).unwrap();
    assert!(content(&run().unwrap()) == file());
    assert_eq!(server.requests()[7].start, 35_000);
}

#[test]
fn what_belongs_to_another_url_or_cannot_be_read_is_thrown_away() {
    for stamp in [
        "{\"version\":2,\"fetch\":{\"url\":\"http://127.0.0.1/x\"},\"validator\":\"\\\"v1\\\"\",\"total\":9,\"safe\":3,\"pieces\":1}",
        "{\"version\":1,\"url\":\"x\",\"validator\":null,\"total\":null,\"safe\":3}",
        "{",
        "",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let keep = folder.path().join("checkpoints");
        std::fs::create_dir_all(keep.join("files")).unwrap();
        std::fs::create_dir_all(keep.join("stamps")).unwrap();
        std::fs::write(keep.join("files/00000-games.pgn.zst"), b"abc").unwrap();
        std::fs::write(keep.join("stamps/00000.json"), stamp).unwrap();
        let server = Server::start(|_, request| serve(&file(), TAG, request));
        let outcome = trial(folder.path(), &server.url, None).run(&Impatient(settings())).unwrap();
        assert!(content(&outcome) == file());
        assert_eq!(starts(&server.requests()), [0]);
    }
}

#[test]
fn chunks_tell_their_own_end_and_a_bare_close_does_not() {
    let chunked = |_: usize, _: &Request| {
        let mut body = format!("{:x}\r\n", file().len()).into_bytes();
        body.extend(file());
        body.extend(b"\r\n0\r\n\r\n");
        Response {
            head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n".into(),
            body,
            stalls: false,
            repeats: false,
        }
    };
    check(settings(), chunked);
    check(settings(), move |number, request| {
        let answer = chunked(number, request);
        if number == 0 { answer.cut(60_000) } else { answer }
    });
    let open = |_: usize, _: &Request| Response {
        head: "HTTP/1.1 200 OK\r\n".into(),
        body: file(),
        stalls: false,
        repeats: false,
    };
    check(settings(), open);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(open);
    let failure = fails(trial(folder.path(), &server.url, None).run(&Impatient(settings())));
    assert!(failure.message.ends_with("so a truncated download would go unnoticed"), "{failure}");
}
