//! The pipelines of questions: what they would run, and the miniature, made smaller, from games to the page.

use std::path::Path;

use serde_json::Value;

use crate::context::{Context, shared};

/// A folder with the pipeline of this name as `pipeline.yaml`.
fn context(name: &str) -> Context {
    let context = Context::new();
    let yaml = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/questions").join(name);
    context.write("pipeline.yaml", &std::fs::read_to_string(yaml).expect("the pipeline"));
    context
}

/// Cells of each stage in the pipeline of this name.
fn cells(name: &str, sets: &[&str], stages: &[&str]) -> Vec<usize> {
    let ran = context(name).cwm(&[&["status", "--json"], sets].concat());
    assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
    let cells: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    let labels: Vec<&str> = cells.iter().filter_map(|cell| cell["label"].as_str()).collect();
    let of = |stage: &&str| labels.iter().filter(|label| label.split('[').next() == Some(*stage)).count();
    stages.iter().map(of).collect()
}

#[test]
fn the_four_pipelines_plan() {
    let stages = ["published", "items", "scripted", "world_model", "asked", "varied", "grades", "report"];
    assert_eq!(cells("pipeline.yaml", &[], &stages), [0, 1, 8, 1, 0, 0, 1, 1]);
    assert_eq!(cells("small.yaml", &["--set", "engine=null"], &stages), [0, 1, 4, 0, 2, 2, 1, 1]);
    assert_eq!(cells("paper.yaml", &[], &stages), [5, 0, 3, 0, 15, 4, 1, 1]);
    assert_eq!(cells("build.yaml", &[], &stages), [0, 1, 3, 0, 0, 0, 1, 1]);
}

#[test]
fn items_are_built_of_files_that_download_gets() {
    let Some(shared) = shared() else { return };
    let golden = shared.join("systems/questions-golden");
    let context = context("build.yaml");
    let sets = [
        format!("puzzles={}", golden.join("lichess-puzzles-6605.csv.zst").display()),
        format!("evaluations={}", golden.join("evaluations.jsonl").display()),
        format!("broadcast={}", shared.join("data/lichess-sample.pgn.zst").display()),
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let ran = context.cwm(&[&["run"], &sets[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let items = context.path("report-build/tables/questions-items.csv");
    let items = std::fs::read_to_string(items).expect("the table");
    for category in ["Structural", "Motifs", "Short Tactics", "Position Judgement"] {
        assert!(items.contains(category), "{category}: {items}");
    }
}

/// The miniature on few games.
const SMALL: [&str; 5] = ["games=60", "analysed=12", "learned=40", "per_task=4", "per_theme=1"];

#[test]
fn a_smaller_miniature_comes_to_a_page_with_every_table() {
    if !cfg!(all(
        feature = "questions",
        feature = "train",
        feature = "evaluate",
        feature = "answer",
        feature = "grade",
        feature = "report"
    )) {
        println!("skipped: built without the stages of questions");
        return;
    }
    let context = context("pipeline.yaml");
    let sets: Vec<&str> = SMALL.iter().flat_map(|set| ["--set", set]).collect();
    let run = || context.cwm(&[&["run", "pipeline.yaml"], &sets[..]].concat());
    let ran = run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for table in ["categories", "tasks", "verdicts", "context", "agreement", "sound", "items"] {
        assert!(context.path(&format!("report/tables/questions-{table}.csv")).is_file(), "{table}");
    }
    for figure in ["accuracy", "verdicts", "agreement", "items"] {
        assert!(context.path(&format!("report/figures/questions-{figure}.svg")).is_file(), "{figure}");
    }
    let categories =
        std::fs::read_to_string(context.path("report/tables/questions-categories.csv")).expect("the table");
    let oracle = categories.lines().find(|line| line.starts_with("ours,oracle,")).expect("the oracle");
    assert_eq!(oracle.split(',').nth(4), Some("100"), "{categories}");
    // A world model is asked what follows from a board, and nothing else.
    let believed = categories.lines().find(|line| line.starts_with("ours,world_model,")).expect("the world model");
    let cells: Vec<&str> = believed.split(',').collect();
    assert!(!cells[7].is_empty() && !cells[10].is_empty(), "{categories}");
    assert!(cells[13..].iter().all(|cell| cell.is_empty()), "{categories}");
    // No scripted player reads a prompt.
    let context_table =
        std::fs::read_to_string(context.path("report/tables/questions-context.csv")).expect("the table");
    for line in context_table.lines().filter(|line| line.starts_with("ours,")) {
        assert!(line.ends_with(",0,0,0"), "{context_table}");
    }
    let again = run();
    assert!(again.code == 0 && again.stderr.contains("ran 0, "), "{}", again.stderr);
    // Before a server is paid, a dry run counts what it would be asked; a stage whose items do not exist says nothing.
    let exported = context.cwm(&[&["export", "items.items", "exported", "-f", "pipeline.yaml"], &sets[..]].concat());
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let items = std::fs::read_to_string(context.path("exported/items.jsonl")).expect("items").lines().count();
    let asked = |items: &str| {
        let asked = "with: { model: m, prices: { input: 1, output: 2 } }";
        context.write(
            "asked.yaml",
            &format!("cwm: 1\nstages:\n  asked: {{ stage: answer, from: {{ items: {items} }}, {asked} }}\n"),
        );
        context.cwm(&["run", "--dry-run", "-f", "asked.yaml"])
    };
    let text = asked("./exported/items.jsonl").stderr;
    assert!(text.contains(&format!("asks {items} questions; prompts of ")) && text.contains(" tokens: $0."), "{text}");
}
