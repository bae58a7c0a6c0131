//! The content of an artifact as `show` prints it, and the forms in which `export` writes a dataset.

use std::io::Read;
use std::process::Stdio;

use crate::context::{Context, finish};

/// Thirty games, of which the short ones are dropped, as a dataset.
const GAMES: &str = "
cwm: 1
stages:
  games: { stage: play, with: { policy: uniform, games: 30 } }
  corpus: { stage: parse, from: games, with: { ids: site, min_fullmoves: 40 } }
  split: { stage: split, from: corpus, with: { buckets: 10, validation: 3 } }
  tokens: { stage: tokenize, from: split }
";

fn made() -> Context {
    let context = Context::with(GAMES);
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    context
}

fn counts(context: &Context, source: &str) -> serde_json::Value {
    serde_json::from_str(&context.output(source)).expect("JSON")
}

/// The number that stands in a line of `text` after `name`.
fn number(text: &str, name: &str) -> u64 {
    let line =
        text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
    let word = line.trim_start()[name.len()..].split_whitespace().next().expect("a number");
    word.replace(',', "").parse().unwrap_or_else(|_| panic!("{line}"))
}

#[test]
fn a_dataset_is_shown_with_its_counts_its_games_and_what_was_dropped_on_the_way() {
    let context = made();
    let before = context.inventory(".");
    let shown = context.cwm(&["show", "tokens.train"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let (record, contents) = shown.stdout.split_once("\ntokens.train\n").expect("contents after the record");
    assert!(record.starts_with("tokens (tokenize)\n"), "{record}");
    let (contents, upstream) = contents.split_once("\ncorpus.counts, upstream of it\n").expect("what parse dropped");
    let sets = counts(&context, "tokens.counts");
    let train = &sets["sets"]["train"];
    for (name, key) in
        [("games ", "games"), ("plies ", "plies"), ("positions ", "positions"), ("moves ", "unique_moves")]
    {
        assert_eq!(number(contents, name), train[key].as_u64().expect("a count"), "{name}: {contents}");
    }
    assert_eq!(contents.matches("  game ").count(), 5, "{contents}");
    assert!(
        contents.contains("  game 0      cwm_random_000") && contents.contains("\n              1. "),
        "{contents}"
    );
    let parsed = counts(&context, "corpus.counts");
    assert!(parsed["dropped"]["short"].as_u64() > Some(0), "the test wants a dropped game: {parsed}");
    for (name, key) in [("read ", "read"), ("kept ", "kept")] {
        assert_eq!(number(upstream, name), parsed[key].as_u64().expect("a count"), "{upstream}");
    }
    assert_eq!(number(upstream, "short "), parsed["dropped"]["short"].as_u64().expect("a count"), "{upstream}");

    let none = context.cwm(&["show", "tokens.validation", "--games", "0"]).stdout;
    assert!(none.contains("\ntokens.validation\n") && !none.contains("game 0"), "{none}");
    let json = context.cwm(&["show", "tokens.train", "--json", "--games", "2"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json[0]["contents"]["train"]["totals"]["games"], train["games"]);
    assert_eq!(json[0]["contents"]["train"]["examples"].as_array().map(Vec::len), Some(2));
    let upstream = json[0]["upstream"].as_array().expect("a list");
    let corpus = upstream.iter().find(|above| above["stage"] == "corpus").expect("what parse dropped");
    assert_eq!((&corpus["output"], &corpus["contents"]), (&"counts".into(), &parsed));
    assert_eq!(context.inventory("."), before, "looking writes nothing");
}

#[test]
fn a_whole_stage_and_a_digest_are_shown_with_their_contents() {
    let context = made();
    let shown = context.cwm(&["show", "corpus", "--games", "1"]).stdout;
    let titles: Vec<&str> = shown.lines().filter(|line| line.starts_with("corpus.")).collect();
    assert_eq!(titles, ["corpus.counts", "corpus.games"]);
    assert!(shown.contains("  game 0      cwm_random_000"), "{shown}");
    let digest = shown.split("games: games ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a digest");
    let by_digest = context.cwm(&["show", &digest[..12]]).stdout;
    assert!(by_digest.contains("\ncorpus.games\n") && !by_digest.contains("\ncorpus.counts\n"), "{by_digest}");
    let pgn = context.cwm(&["show", "games.pgn", "--games", "1"]).stdout;
    assert!(pgn.contains("\ngames.pgn\n  games       30\n"), "{pgn}");
    let unknown = context.cwm(&["show", "tokens.trian"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("has no output `trian`") && unknown.stderr.contains("train"), "{}", unknown.stderr);
}

#[test]
fn outputs_without_a_reader_are_reported_after_the_others() {
    let context = made();
    let folder = context.cwm(&["show", "--path", "tokens.train"]).stdout;
    let file = std::fs::canonicalize(format!("{}/dataset-00000.arrow", folder.trim())).expect("an object");
    let bytes = std::fs::read(&file).expect("its bytes");
    std::fs::remove_file(&file).expect("removed");
    std::fs::write(&file, vec![0; bytes.len()]).expect("damaged");
    let shown = context.cwm(&["show", "tokens"]);
    assert_eq!(shown.code, 4, "{}", shown.stderr);
    assert!(shown.stdout.contains("\ntokens.validation\n") && !shown.stdout.contains("\ntokens.train\n"));
    let words = "error: the files of tokens.train were changed since they were stored\nhint: `cwm run tokens` computes";
    assert!(shown.stderr.contains(words), "{}", shown.stderr);
    std::fs::remove_file(&file).expect("removed");
    let shown = context.cwm(&["show", "tokens.train"]);
    assert!(shown.stdout.starts_with("tokens (tokenize)\n"));
    assert!(shown.stderr.contains("the files of tokens.train are missing"), "{}", shown.stderr);
    assert!(shown.stderr.contains("`cwm run tokens` computes them again"), "{}", shown.stderr);
}

#[test]
fn a_dataset_is_exported_to_a_folder_with_labels() {
    let context = made();
    let export = |arguments: &[&str]| {
        let ran = context.cwm(&[&["export", "tokens.train", "out", "--labels"], arguments].concat());
        (ran.code, ran.stderr)
    };
    assert_eq!(export(&[]).0, 0);
    let positions = counts(&context, "tokens.counts")["sets"]["train"]["positions"].as_u64().expect("positions");
    let size = std::fs::metadata(context.path("out/labelled-00000.arrow")).expect("a file").len();
    assert!((75 * positions..80 * positions + 10_000).contains(&size), "{size} bytes for {positions} positions");
    let before = context.inventory("out");
    assert_eq!(export(&[]).0, 0);
    assert_eq!(context.inventory("out"), before, "an equal export has nothing to do");
    assert_eq!(export(&["--limit", "2"]).0, 0);
    assert!(std::fs::metadata(context.path("out/labelled-00000.arrow")).expect("a file").len() < size);
    context.write("out/mine.txt", "mine");
    let (code, words) = export(&[]);
    assert_eq!(code, 2);
    assert!(words.contains("mine.txt exists, and no export wrote it"), "{words}");
    assert_eq!(context.read("out/mine.txt"), "mine");
    std::fs::remove_file(context.path("out/mine.txt")).expect("removed");
    context.write("out/labelled-00000.arrow", "edited");
    assert_eq!(export(&[]).0, 0);
    assert_eq!(std::fs::metadata(context.path("out/labelled-00000.arrow")).expect("a file").len(), size);

    let inside = context.cwm(&["export", "tokens.train", "artifacts/out", "--labels"]);
    assert!(inside.stderr.contains("is in the store itself"), "{}", inside.stderr);
    let games = context.cwm(&["export", "corpus.games", "elsewhere", "--labels"]);
    assert_eq!(games.code, 2);
    assert!(games.stderr.contains("what has format `games` cannot be exported with labels"), "{}", games.stderr);
    assert!(games.stderr.contains("hint: name a dataset") && !context.path("elsewhere").exists(), "{}", games.stderr);
}

#[test]
fn a_dataset_is_exported_as_a_stream_and_its_reader_may_stop() {
    let context = made();
    let stream = |arguments: &[&str]| {
        let all = [&["export", "tokens.train", "-"], arguments].concat();
        let output = context.command(&all).output().expect("cwm starts");
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
        output.stdout
    };
    for arguments in [&["--labels"][..], &[], &["--labels", "--limit", "1"]] {
        let bytes = stream(arguments);
        // An Arrow stream begins with a message's mark and ends with an empty message.
        assert!(bytes.starts_with(&[255; 4]) && bytes.ends_with(&[255, 255, 255, 255, 0, 0, 0, 0]), "{arguments:?}");
        assert!(bytes == stream(arguments), "equal bytes each time");
    }
    assert!(stream(&["--labels"]).len() > 8 * stream(&[]).len());

    let mut child = context.command(&["export", "tokens.train", "-", "--labels"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm starts");
    let mut out = child.stdout.take().expect("its output");
    out.read_exact(&mut [0; 8]).expect("a beginning");
    drop(out);
    let ran = finish(child.wait_with_output().expect("an end"));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "a reader that has seen enough is no error");

    let counts = context.cwm(&["export", "tokens.counts", "-"]);
    assert_eq!((counts.code, counts.stdout.as_str()), (2, ""));
    assert!(counts.stderr.contains("cannot be exported as a stream"), "{}", counts.stderr);
}
