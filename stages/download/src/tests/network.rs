//! Between here and the server: redirects and proxies.

use super::*;
use crate::fault_server::{empty, serve, tunnels};

#[test]
fn it_follows_redirects_and_goes_on_behind_them() {
    let requests = check(settings(), |number, request| match request.path.as_str() {
        "/games.pgn.zst" => empty("302 Found\r\nLocation: /elsewhere"),
        _ if number < 3 => serve(&file(), TAG, request).cut(30_000),
        _ => serve(&file(), TAG, request),
    });
    let asked: Vec<_> = requests.iter().map(|request| (request.path.as_str(), request.start)).collect();
    let there = "/elsewhere";
    assert_eq!(asked[..4], [("/games.pgn.zst", 0), (there, 0), ("/games.pgn.zst", 30_000), (there, 30_000)]);
}

#[test]
fn redirects_in_a_circle_end_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| empty("301 Moved Permanently\r\nLocation: /games.pgn.zst"));
    let failure = fails(trial(folder.path(), &server.url, None).run(&Impatient(settings())));
    assert!(failure.message.contains("too many redirects"), "{failure}");
    assert!(server.requests().len() < 20);
}

#[test]
fn a_proxy_is_asked_where_the_environment_names_one() {
    let server = Server::start(|_, request| serve(&file(), TAG, request));
    let (url, asked) = tunnels();
    let run = |variables: &[(&str, &str)]| {
        let folder = tempfile::tempdir().unwrap();
        let proxies = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let settings = Settings { proxies, ..settings() };
        assert!(content(&trial(folder.path(), &server.url, None).run(&Impatient(settings)).unwrap()) == file());
        asked.try_iter().collect::<Vec<_>>()
    };
    let host = server.base.trim_start_matches("http://");
    for name in ["http_proxy", "HTTP_PROXY", "ALL_PROXY"] {
        assert_eq!(run(&[(name, &url)]), [format!("CONNECT {host} HTTP/1.1")], "{name}");
    }
    assert!(run(&[("https_proxy", &url)]).is_empty());
    assert!(run(&[("http_proxy", &url), ("NO_PROXY", "localhost,127.0.0.1")]).is_empty());
}
