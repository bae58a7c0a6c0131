//! The sources that a download may have, through the whole program.

use super::*;
use crate::fault_server::{Server, empty, serve, tunnels};

const MONTH: &str = "lichess_db_standard_rated_2025-03.pgn.zst";

fn mirror(sum: String) -> Server {
    Server::start(move |_, request| match request.path.as_str() {
        "/standard/sha256sums.txt" => serve(format!("{sum}  {MONTH}\n").as_bytes(), TAG, &Default::default()),
        path if path == format!("/standard/{MONTH}") => serve(games(3).as_bytes(), TAG, request),
        _ => empty("404 Not Found"),
    })
}

#[test]
fn a_month_is_fetched_by_its_name_and_checked_against_the_published_sum() {
    let server = mirror(sum(games(3).as_bytes()));
    let with = format!("month: 2025-03, mirror: \"{}/standard\"", server.base);
    let context = pipeline(&with);
    context.run(&[]).ran_just(&["games", "size"]);
    assert_eq!(context.output("size").trim(), games(3).len().to_string());
    context.run(&[]).ran_just(&[]);
    // Pinned, it is known without asking the site for its list.
    context.run(&["--force", "games"]).ran_just(&["games"]);
    let lists = server.requests().iter().filter(|request| request.path.ends_with(".txt")).count();
    assert_eq!((lists, server.requests().len()), (1, 3));

    let server = mirror("0".repeat(64));
    let context = pipeline(&format!("month: 2025-03, mirror: \"{}/standard\"", server.base));
    let run = context.run(&[]);
    assert!(run.failed["games"].contains(&format!("but {} is published in", "0".repeat(64))), "{}", run.raw.stdout);
    assert!(!context.path("sources.lock").exists());
}

#[test]
fn a_source_overrides_a_month() {
    let context = Context::with(
        "cwm: 1\nvars: { games: null, month: 2025-03 }\nstages:\n  \
         games: { stage: download, with: { source: $games, month: $month } }\n",
    );
    context.write_old("mine.pgn", &games(2));
    let run = context.run(&["--set", "games=mine.pgn"]);
    run.ran_just(&["games"]);
    let status = well(context.cwm(&["status", "--set", "games=mine.pgn"]));
    assert!(status.starts_with("cached"), "{status}");
    // The month is what is meant without it.
    assert!(
        well(context.cwm(&["lock"])).contains(&format!("https://database.lichess.org/standard/{MONTH}\n  not pinned"))
    );
}

#[test]
fn a_list_after_set_is_relative_to_the_current_folder() {
    let context = Context::with("");
    context.write(
        "sub/p.yaml",
        "cwm: 1\nvars: { games: there.pgn }\nstages:\n  games: { stage: download, with: { source: $games } }\n",
    );
    context.write_old("a.pgn", &games(2));
    context.write_old("b.pgn", &games(3));
    well(context.cwm(&["run", "sub/p.yaml", "--set", "games=[a.pgn, ./b.pgn]"]));
}

#[test]
fn a_list_is_a_folder_of_files_in_its_order_and_parse_reads_it() {
    let server = Server::start(|_, request| {
        let count = request.path.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
        serve(games(count).as_bytes(), TAG, request)
    });
    let base = &server.base;
    let context = Context::with(&format!(
        "cwm: 1\nstages:\n  \
         games: {{ stage: download, with: {{ source: [\"{base}/5.pgn\", here.pgn, \"{base}/2.pgn\"] }} }}\n  \
         corpus: {{ stage: parse, from: games, with: {{ min_fullmoves: 10 }} }}\n"
    ));
    context.write_old("here.pgn", &games(4));
    context.run(&[]).ran_just(&["games", "corpus"]);
    let folder = well(context.cwm(&["show", "--path", "games"]));
    let mut names: Vec<String> = std::fs::read_dir(folder.trim())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["00000-5.pgn", "00001-here.pgn", "00002-2.pgn"]);
    assert!(context.output("corpus.counts").contains("\"kept\":11"), "{}", context.output("corpus.counts"));
    assert_eq!(context.read("sources.lock").matches("\"sha256\"").count(), 2);
    context.run(&[]).ran_just(&[]);
    let listed = well(context.cwm(&["lock"]));
    assert_eq!(listed.matches("games: http").count(), 2, "{listed}");
}

#[test]
fn parse_reads_a_truncated_source_up_to_its_limit() {
    let server = Server::start(|_, request| serve(games(1_000).as_bytes(), TAG, request));
    let context = Context::with(&format!(
        "cwm: 1\nstages:\n  games: {{ stage: download, with: {{ source: \"{}\", first_bytes: 10kB }} }}\n  \
         corpus: {{ stage: parse, from: games, with: {{ limit: 30 }} }}\n",
        server.url
    ));
    context.run(&[]).ran_just(&["games", "corpus"]);
    assert_eq!(server.served(), 10_000);
    assert!(context.output("corpus.counts").contains("\"kept\":30"));
    let pinned = context.read("sources.lock");
    let beginning = sum(&games(1_000).as_bytes()[..10_000]);
    let words = format!("\"first_bytes\": 10000, \"sha256\": \"{beginning}\", \"bytes\": 10000}}");
    assert!(pinned.contains(&words), "{pinned}");
    assert!(well(context.cwm(&["lock"])).contains("games: the first 10000 bytes of http"));
    // Another length is another thing.
    context.edit("pipeline.yaml", "10kB", "20000");
    context.run(&[]).ran_just(&["games", "corpus"]);
}

#[test]
fn a_moved_source_file_gives_the_same_result() {
    let context = Context::with(
        "cwm: 1\nvars: { games: here.pgn }\nstages:\n  games: { stage: download, with: { source: $games } }\n",
    );
    context.write_old("here.pgn", &games(2));
    context.run(&[]).ran_just(&["games"]);
    std::fs::rename(context.path("here.pgn"), context.path("there.pgn")).unwrap();
    let path = context.cwm(&["show", "--path", "games"]);
    assert!(
        path.code == 2 && path.stderr.contains("here.pgn") && !path.stderr.contains("computes it"),
        "{}",
        path.stderr
    );
    let run = context.run(&["--set", "games=there.pgn"]);
    run.ran_just(&["games"]);
    assert!(!run.raw.stdout.contains("different results"), "{}", run.raw.stdout);
}

#[test]
fn invalid_sources_are_reported_with_their_position() {
    for (with, words) in [
        ("source: [there/x.pgn, nowhere.pgn]", "cannot read"),
        ("source: \"file:///tmp/x.pgn\"", "write `/tmp/x.pgn`"),
        ("source: \"ftp://x/y.pgn\"", "ftp:// is not supported"),
        ("month: 2025-3", "must be a year and a month"),
        ("source: there/x.pgn, first_bytes: 0", "a number of bytes such as"),
    ] {
        let context = pipeline(with);
        context.write_old("there/x.pgn", "x");
        let ran = context.cwm(&["run"]);
        assert_eq!(ran.code, 3, "{with}: {}", ran.stderr);
        assert!(ran.stderr.contains("pipeline.yaml:3:") && ran.stderr.contains(words), "{with}: {}", ran.stderr);
    }
}

#[test]
fn another_try_is_reported_in_plain_output() {
    let server = Server::start(|number, request| match number {
        0 => empty("503 Service Unavailable"),
        _ => serve(b"1. e4", TAG, request),
    });
    let context = pipeline(&format!("source: \"{}\"", server.url));
    let ran = context.cwm(&["run", "--output", "plain"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let words = format!("note     games: {}: the server answers 503 Service Unavailable", server.url);
    assert!(ran.stderr.contains(&words) && ran.stderr.contains("next try in"), "{}", ran.stderr);
}

#[test]
fn the_proxy_of_the_environment_is_used() {
    let server = Server::start(|_, request| serve(b"1. e4", TAG, request));
    let (proxy, asked) = tunnels();
    let context = pipeline(&format!("source: \"{}\"", server.url));
    let mut command = context.command(&["run"]);
    let output =
        command.env_remove("no_proxy").env_remove("NO_PROXY").env("HTTP_PROXY", proxy).env_remove("http_proxy");
    well(crate::context::finish(output.output().expect("cwm starts")));
    assert!(asked.try_recv().expect("a tunnel").starts_with("CONNECT 127.0.0.1:"));
}

#[test]
fn a_folder_as_source_is_the_list_of_its_game_files() {
    let context = Context::with(
        "cwm: 1\nvars: { games: games }\nstages:\n  games: { stage: download, with: { source: $games } }\n  \
         corpus: { stage: parse, from: games }\n",
    );
    context.write_old("games/b.pgn", &games(3));
    context.write_old("games/a/2.pgn", &games(2));
    context.write_old("games/notes.txt", "not games");
    context.run(&[]).ran_just(&["games", "corpus"]);
    // The same as the list, in the order of the paths.
    context.edit("pipeline.yaml", "games: games }", "games: [games/a/2.pgn, games/b.pgn] }");
    context.run(&[]).ran_just(&[]);
    context.edit("pipeline.yaml", "games: [games/a/2.pgn, games/b.pgn] }", "games: games }");
    context.run(&["--set", "games=games/"]).ran_just(&[]);
    context.write_old("games/c.pgn", &games(1));
    assert!(context.cwm(&["why", "games"]).stdout.contains("its source changed"));
    assert!(context.run(&[]).ran.contains("games"));
    // Endings count in any case.
    context.write_old("games/D.PGN", &games(1));
    assert!(context.run(&[]).ran.contains("games"));
    context.write("empty/notes.txt", "");
    let empty = context.cwm(&["run", "--set", "games=empty"]);
    assert_eq!(empty.code, 3, "{}", empty.stderr);
    assert!(empty.stderr.contains("holds no file whose name ends in .pgn, "), "{}", empty.stderr);
}

#[test]
fn a_path_in_from_is_a_file() {
    let context = Context::with(
        "cwm: 1\nvars: { games: played }\nstages:\n  played: { stage: play, with: { policy: engine, games: 2 } }\n  \
         corpus: { stage: parse, from: { pgn: $games } }\n",
    );
    context.write_old("games/x.pgn", &games(2));
    context.run(&[]).ran_just(&["played", "corpus"]);
    context.run(&["corpus", "--set", "games=games/x.pgn"]).ran_just(&["corpus"]);
    context.edit("pipeline.yaml", "games: played", "games: ./games/x.pgn");
    context.run(&["corpus"]).ran_just(&[]);
    context.edit("pipeline.yaml", "from: { pgn: $games }", "from: $games");
    let unnamed = context.cwm(&["run"]);
    assert_eq!(unnamed.code, 3, "{}", unnamed.stderr);
    assert!(unnamed.stderr.contains("a file is given to an input by name"), "{}", unnamed.stderr);
    assert!(unnamed.stderr.contains("`from: { pgn: "), "{}", unnamed.stderr);
}
