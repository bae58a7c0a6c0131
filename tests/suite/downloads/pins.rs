//! A sum seen for the first time is pinned; other bytes are an error until someone asks for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::fault_server::{Server, empty, serve};

/// A server of a file that has another content for each number of the version.
fn versions() -> (Server, Arc<AtomicUsize>) {
    let version = Arc::new(AtomicUsize::new(1));
    let current = version.clone();
    let server = Server::start(move |_, request| {
        let version = current.load(Ordering::SeqCst);
        serve(content(version).as_bytes(), &format!("\"v{version}\""), request)
    });
    (server, version)
}

fn content(version: usize) -> String {
    games(version)
}

fn of(version: usize) -> String {
    sum(content(version).as_bytes())
}

#[test]
fn the_first_sum_is_pinned_and_nothing_is_fetched_again() {
    let (server, _) = versions();
    let context = pipeline(&format!("source: \"{}\"", server.url));
    let dry = context.cwm(&["run", "--dry-run"]);
    assert!(dry.stderr.contains("the fetched content is pinned in sources.lock"), "{}", dry.stderr);
    context.run(&[]).ran_just(&["games", "size"]);
    let (pins, locked) = (context.read("sources.lock"), context.read("pipeline.lock"));
    let line =
        format!("- {{\"url\": \"{}\", \"sha256\": \"{}\", \"bytes\": {}}}\n", server.url, of(1), content(1).len());
    assert!(pins.ends_with(&format!("cwm-sources: 1\npins:\n{line}")), "{pins}");
    // The key has the sum, and neither the code of the stage nor the URL: a change of either fetches nothing.
    let components = record(&context, "games")["components"].clone();
    assert_eq!(components["code"], serde_json::json!({}));
    assert_eq!(components["parameters"], serde_json::json!({ "source": { "$sha256": of(1) } }));
    let run = context.run(&[]);
    run.ran_just(&[]);
    assert_eq!(run.cached.len(), 2);
    assert_eq!((context.read("sources.lock"), context.read("pipeline.lock")), (pins.clone(), locked));
    // What the pin says is known without it, from the store.
    std::fs::remove_file(context.path("sources.lock")).unwrap();
    context.run(&[]).ran_just(&[]);
    assert_eq!(context.read("sources.lock"), pins);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn pipelines_of_a_folder_share_their_pins_and_a_set_makes_no_difference() {
    let (server, _) = versions();
    let context =
        Context::with("cwm: 1\nvars: { url: null }\nstages:\n  games: { stage: download, with: { source: $url } }\n");
    let set = format!("url={}", server.url);
    context.run(&["--set", &set]).ran_just(&["games"]);
    assert!(!context.path("pipeline.lock").exists() && context.read("sources.lock").contains(&of(1)));
    let yaml = format!("cwm: 1\nstages:\n  other: {{ stage: download, with: {{ source: \"{}\" }} }}\n", server.url);
    context.write("other.yaml", &yaml);
    context.run(&["other.yaml"]).ran_just(&[]);
    // In a store of its own the file is fetched again, and must be the same.
    context.run(&["other.yaml", "--store", "elsewhere"]).ran_just(&["other"]);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn other_bytes_are_an_error_until_the_pin_is_updated() {
    let (server, version) = versions();
    let context = pipeline(&format!("source: \"{}\"", server.url));
    context.run(&[]).ran_just(&["games", "size"]);
    version.store(2, Ordering::SeqCst);
    context.run(&[]).ran_just(&[]);
    let (pins, forced) = (context.read("sources.lock"), context.cwm(&["run", "--force", "games"]));
    assert_eq!(forced.code, 1, "{}", forced.stderr);
    for words in [&of(1), &of(2), "is pinned in sources.lock", "`cwm lock --update games`"] {
        assert!(forced.stderr.contains(words), "{words}: {}", forced.stderr);
    }
    assert_eq!(context.read("sources.lock"), pins);
    context.run(&[]).ran_just(&[]);

    let size = content(1).len();
    assert_eq!(well(context.cwm(&["lock"])), format!("games: {}\n  {}  ({size} B)\n", server.url, of(1)));
    let updated = well(context.cwm(&["lock", "--update", "games"]));
    assert!(updated.contains(&format!("{} -> {}", of(1), of(2))), "{updated}");
    let why = well(context.cwm(&["why", "size"]));
    assert!(why.contains("from games"), "{why}");
    let words = format!("its pin in sources.lock changed: sha256 {} -> sha256 {}\n", &of(1)[..12], &of(2)[..12]);
    assert!(why.contains(&words) && !why.contains("line"), "{why}");
    context.run(&[]).ran_just(&["size"]);
    assert_eq!(context.output("size").trim(), content(2).len().to_string());
    let again = well(context.cwm(&["lock", "--update"]));
    assert!(again.contains(&format!("unchanged: {}", of(2))), "{again}");
    // A pin that git brought back names the result of then, which is still there.
    context.write("sources.lock", &pins);
    context.run(&[]).ran_just(&[]);
    assert_eq!(context.output("size").trim(), content(1).len().to_string());
}

#[test]
fn what_cannot_be_fetched_leaves_the_pin_as_it_is() {
    let there = Arc::new(AtomicUsize::new(1));
    let current = there.clone();
    let server = Server::start(move |_, request| match current.load(Ordering::SeqCst) {
        0 => empty("404 Not Found"),
        _ => serve(b"1. e4", TAG, request),
    });
    let context = pipeline(&format!("source: \"{}\"", server.url));
    context.run(&[]).ran_just(&["games", "size"]);
    let pins = context.read("sources.lock");
    there.store(0, Ordering::SeqCst);
    let updated = context.cwm(&["lock", "--update"]);
    assert_eq!(updated.code, 1, "{}", updated.stderr);
    assert!(updated.stderr.contains("404 Not Found"), "{}", updated.stderr);
    assert_eq!(context.read("sources.lock"), pins);
    context.run(&[]).ran_just(&[]);
}

#[test]
fn a_pin_that_changed_is_reported_to_be_the_cause() {
    let (server, _) = versions();
    let context = pipeline(&format!("source: \"{}\"", server.url));
    context.run(&[]).ran_just(&["games", "size"]);
    context.edit("sources.lock", &of(1), &of(2));
    let why = well(context.cwm(&["why", "games"]));
    let words = format!("its pin in sources.lock changed: sha256 {} -> sha256 {}", &of(1)[..12], &of(2)[..12]);
    assert!(why.contains(&words), "{why}");
    let run = context.run(&[]);
    assert!(run.failed["games"].contains(&of(2)) && run.causes["games"].contains(&words), "{}", run.raw.stdout);
}

#[test]
fn a_checksum_in_the_pipeline_overrides_the_pin_and_the_conflict_is_reported() {
    let (server, version) = versions();
    let context = pipeline(&format!("source: \"{}\"", server.url));
    context.run(&[]).ran_just(&["games", "size"]);
    version.store(2, Ordering::SeqCst);
    context.edit("pipeline.yaml", &server.url, &format!("{}\", sha256: \"{}", server.url, of(2)));
    let run = context.cwm(&["run"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let words = format!("sources.lock pins {}; the pipeline's is used", of(1));
    assert!(run.stderr.contains("warning: games") && run.stderr.contains(&words), "{}", run.stderr);
    // What was seen last is pinned, so there is nothing to contradict any more.
    assert!(context.read("sources.lock").contains(&of(2)));
    assert!(!context.cwm(&["run"]).stderr.contains("warning"));
}

#[test]
fn a_pin_is_replaced_only_by_what_is_fetched() {
    let (server, _) = versions();
    let context = pipeline(&format!("source: \"{}\", sha256: \"{}\"", server.url, of(1)));
    context.run(&[]).ran_just(&["games", "size"]);
    context.edit("sources.lock", &of(1), &of(2));
    let pins = context.read("sources.lock");
    // Cached by the pipeline's sum, it says nothing of what the URL gives now.
    context.run(&[]).ran_just(&[]);
    assert_eq!(context.read("sources.lock"), pins);
    context.run(&["--force", "games"]).ran_just(&["games"]);
    assert!(context.read("sources.lock").contains(&of(1)));
}

#[test]
fn the_command_that_an_error_names_finds_the_fetch() {
    let (server, version) = versions();
    let context = pipeline("source: unused.pgn");
    let yaml = "cwm: 1\nvars: { url: null }\nstages:\n  games: { stage: download, with: { source: $url } }\n";
    context.write("below/other.yaml", yaml);
    let set = format!("url={}", server.url);
    let run = ["run", "below/other.yaml", "--set", &set, "--store", "elsewhere"];
    well(context.cwm(&run));
    version.store(2, Ordering::SeqCst);
    let forced = context.cwm(&[&run[..], &["--force", "games"]].concat());
    let command = format!("cwm lock -f below/other.yaml --set {set} --store elsewhere --update games");
    assert!(forced.stderr.contains(&format!("`{command}`")), "{}", forced.stderr);
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert!(well(context.cwm(&words)).contains(&format!("{} -> {}", of(1), of(2))));
    assert!(context.read("below/sources.lock").contains(&of(2)));
}

#[test]
fn a_damaged_file_of_pins_is_reported_with_its_line_and_fetches_nothing() {
    let (server, _) = versions();
    let context = pipeline(&format!("source: \"{}\"", server.url));
    context.run(&[]).ran_just(&["games", "size"]);
    let good = context.read("sources.lock");
    for (text, code, place, words) in [
        (good.replace("pins:\n", "pins:\n<<<<<<< HEAD\n"), 3, "sources.lock:5:1", "merge conflict"),
        (good.replace("\"bytes\"", "bytes"), 3, "sources.lock:5:1", "this is not a pin"),
        (good.replace("cwm-sources: 1", "cwm-sources: 2"), 4, "sources.lock has format 2", "up to 1"),
    ] {
        context.write("sources.lock", &text);
        for command in [&["run"][..], &["status"], &["lock"], &["lock", "--update"]] {
            let ran = context.cwm(command);
            assert_eq!(ran.code, code, "{command:?} {}", ran.stderr);
            assert!(ran.stderr.contains(place) && ran.stderr.contains(words), "{command:?} {}", ran.stderr);
        }
        assert_eq!(context.read("sources.lock"), text);
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn stages_without_downloads_have_no_pins() {
    let context = pipeline("source: games.pgn");
    context.write_old("games.pgn", &games(1));
    context.run(&[]).ran_just(&["games", "size"]);
    assert!(!context.path("sources.lock").exists());
    assert_eq!(well(context.cwm(&["lock"])), "this pipeline fetches nothing from the network\n");
    let named = context.cwm(&["lock", "--update", "size"]);
    assert_eq!(named.code, 2);
    assert!(named.stderr.contains("size fetches nothing"), "{}", named.stderr);
}
