//! The pipelines of inside models: what they would run, and the miniature, made smaller, from games to the page.

use std::path::Path;

use serde_json::Value;

use crate::context::Context;

/// A folder with the pipeline of this name as `pipeline.yaml`.
fn context(name: &str) -> Context {
    let context = Context::new();
    let yaml = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/inside-models").join(name);
    context.write("pipeline.yaml", &std::fs::read_to_string(yaml).expect("the pipeline"));
    context
}

/// Cells of each stage in the pipeline of this name.
fn cells(name: &str, stages: &[&str]) -> Vec<usize> {
    let ran = context(name).cwm(&["status", "--json"]);
    assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
    let cells: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    let labels: Vec<&str> = cells.iter().filter_map(|cell| cell["label"].as_str()).collect();
    let of = |stage: &&str| labels.iter().filter(|label| label.split('[').next() == Some(*stage)).count();
    stages.iter().map(of).collect()
}

#[test]
fn the_three_pipelines_plan() {
    let stages = ["legality", "probes", "alignment", "sae", "sae_probes", "edits", "claim", "report"];
    assert_eq!(cells("pipeline.yaml", &stages), [1, 4, 2, 1, 2, 1, 1, 1]);
    assert_eq!(cells("small.yaml", &stages), [2, 6, 4, 2, 4, 2, 0, 1]);
    assert_eq!(cells("paper.yaml", &stages), [1, 2, 2, 1, 2, 1, 0, 1]);
}

/// The miniature on few games, with a model that learns next to nothing.
const SMALL: [&str; 5] = ["games=400", "words=40", "size=d16/l2", "layer=1", "data_seed=2"];

#[test]
fn a_smaller_miniature_comes_to_a_page_with_every_table() {
    if !cfg!(all(feature = "learn", feature = "edit", feature = "report", feature = "play")) {
        println!("skipped: built without the stages of inside models");
        return;
    }
    let context = context("pipeline.yaml");
    let sets: Vec<&str> = SMALL.iter().flat_map(|set| ["--set", set]).collect();
    let run = |target: &str| context.cwm(&[&["run", "pipeline.yaml", target], &sets[..]].concat());
    let ran = run("report");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for table in ["inside-2", "inside-3", "inside-4", "inside-5", "inside-6"] {
        assert!(context.path(&format!("report/tables/{table}.csv")).is_file(), "{table}");
    }
    for figure in ["inside-2", "inside-4", "inside-5", "inside-6", "inside-layers", "inside-squares"] {
        assert!(context.path(&format!("report/figures/figure-{figure}.svg")).is_file(), "{figure}");
    }
    let again = run("report");
    assert!(again.code == 0 && again.stderr.contains("ran 0, "), "{}", again.stderr);
    // A model that has learned nothing supports no claim.
    let claimed = run("claim");
    assert!(claimed.code == 1 && claimed.stderr.contains("claims do not hold"), "{}", claimed.stderr);
    let shown = context.cwm(&[&["show", "edits.edits"], &sets[..]].concat());
    assert!(shown.code == 0 && shown.stdout.contains("probe"), "{}{}", shown.stdout, shown.stderr);
}
