//! The pipelines of board against moves: what they would run, with any file in place of the engine.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::context::Context;

/// Cells of the stage in the pipeline of this name.
fn cells(name: &str, sets: &[&str], stages: &[&str]) -> Vec<usize> {
    let context = Context::new();
    let yaml = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/board-vs-moves").join(name);
    context.write("pipeline.yaml", &std::fs::read_to_string(yaml).expect("the pipeline"));
    context.write("engine", "not started here");
    std::fs::set_permissions(context.path("engine"), std::fs::Permissions::from_mode(0o755))
        .expect("an executable file");
    let ran = context.cwm(&[&["status", "--json", "--set", "stockfish=./engine"], sets].concat());
    assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
    let cells: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    let labels: Vec<&str> = cells.iter().filter_map(|cell| cell["label"].as_str()).collect();
    let of = |stage: &&str| labels.iter().filter(|label| label.split('[').next() == Some(*stage)).count();
    stages.iter().map(of).collect()
}

#[test]
fn a_missing_engine_is_an_error_that_names_the_package() {
    let context = Context::with(
        "cwm: 1\nstages:\n  games: { stage: play, with: { policy: uniform, games: 2 } }\n  corpus: { stage: parse, from: games }\n  \
         best: { stage: analyse, from: { games: corpus }, with: { engine: ./nostock } }\n",
    );
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("nostock") && ran.stderr.contains("apt-get install stockfish"), "{}", ran.stderr);
}

#[test]
fn the_three_pipelines_plan() {
    let stages =
        ["model", "choices", "bench_choices", "writer", "matches", "writer_matches", "duel", "claim", "report"];
    assert_eq!(cells("pipeline.yaml", &[], &stages), [3, 3, 0, 0, 6, 0, 1, 1, 1]);
    assert_eq!(cells("pipeline.yaml", &["--set", "seeds=[0, 1]"], &stages), [6, 6, 0, 0, 12, 0, 2, 1, 1]);
    assert_eq!(cells("small.yaml", &[], &stages), [4, 4, 3, 1, 20, 5, 0, 0, 1]);
    assert_eq!(cells("paper.yaml", &[], &stages), [4, 4, 0, 1, 44, 11, 0, 0, 1]);
}
