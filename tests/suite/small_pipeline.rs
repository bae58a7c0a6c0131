//! `small.yaml`: its downloads, `--set games=…` in place of them, and its number of seeds.

use std::path::Path;

use serde_json::Value;

use crate::context::Context;

fn small() -> Context {
    let context = Context::new();
    let yaml = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/chess-world-model/small.yaml");
    context.write("pipeline.yaml", &std::fs::read_to_string(yaml).expect("the pipeline"));
    context
}

/// Returns the JSON that a command prints.
fn reported(context: &Context, arguments: &[&str]) -> Vec<Value> {
    let ran = context.cwm(arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[test]
fn a_month_is_cut_and_a_given_file_is_taken_whole() {
    let context = small();
    let fetched = |sets: &[&str]| -> Vec<(String, Option<u64>)> {
        let rows = reported(&context, &[&["lock", "--json"], sets].concat());
        let row = |row: &Value| (row["stage"].as_str().unwrap_or_default().to_owned(), row["first_bytes"].as_u64());
        rows.iter().map(row).collect()
    };
    let held_out = ("held_out_games".to_owned(), Some(10_000_000));
    assert_eq!(fetched(&[]), [("games".to_owned(), Some(400_000_000)), held_out.clone()]);

    let play = "cwm: 1\nstages: { games: { stage: play, with: { policy: uniform, games: 12 } } }\n\
                export: { games.pgn: mine/ }\n";
    context.write("play.yaml", play);
    assert_eq!(context.run(&["play.yaml"]).raw.code, 0);
    let given = ["--set", "games=mine/pgn.pgn.zst", "--set", "limit=null"];
    assert_eq!(fetched(&given), [held_out]);
    // Were it cut, it would be here; and a URL is no beginning either.
    let cut = [&given[..], &["--set", "bytes=200"]].concat();
    context.run(&[&["corpus"], &cut[..]].concat()).ran_just(&["games", "corpus"]);
    let counts = context.cwm(&[&["show", "--path", "corpus.counts"], &cut[..]].concat()).stdout;
    let counts: Value = serde_json::from_str(&std::fs::read_to_string(counts.trim()).expect("counts")).expect("JSON");
    assert_eq!(counts["read"], 12);
    let other = fetched(&["--set", "games=https://example.org/x.pgn.zst"]);
    assert!(other.contains(&("games".to_owned(), None)), "{other:?}");
}

#[test]
fn the_number_of_seeds_is_a_variable() {
    let context = small();
    let count = |sets: &[&str]| {
        let cells = reported(&context, &[&["status", "--json"], sets].concat());
        let of = |stage: &str| {
            let labels = cells.iter().filter_map(|cell| cell["label"].as_str());
            labels.filter(|label| label.split('[').next() == Some(stage)).count()
        };
        [of("model"), of("evaluation"), of("report")]
    };
    assert_eq!(count(&[]), [7, 14, 1]);
    assert_eq!(count(&["--set", "seeds=[0, 1, 2]"]), [21, 42, 1]);
    assert_eq!(count(&["--set", "seeds=[7]"]), [7, 14, 1]);
}
