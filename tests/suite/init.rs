//! `cwm init`: a pipeline to begin with, which runs.

use crate::context::{Context, Run};

#[test]
fn a_pipeline_of_commands_is_written_runs_and_is_never_overwritten() {
    let context = Context::new();
    let begun = context.cwm(&["init", "--command", "new/folder", "--json"]);
    assert_eq!(begun.code, 0, "{}", begun.stderr);
    assert!(begun.stderr.contains("next: cd new/folder && cwm run"), "{}", begun.stderr);
    let written: serde_json::Value = serde_json::from_str(&begun.stdout).expect("JSON");
    assert_eq!(written["written"][0], "new/folder/pipeline.yaml");
    let run = context.run(&["new/folder/pipeline.yaml"]);
    let cells = ["numbers", "multiples[of=2]", "multiples[of=3]", "multiples[of=5]", "table"];
    run.ran_just(&cells);
    assert_eq!(context.read("new/folder/counts/out"), "500\n333\n200\n");
    // What git is to ignore covers what a run writes, but for what belongs into it.
    let ignored = context.read("new/folder/.gitignore");
    let entries = std::fs::read_dir(context.path("new/folder")).expect("a folder");
    for entry in entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()) {
        let kept = [".gitignore", "pipeline.yaml", "pipeline.schema.json", "pipeline.lock"].contains(&entry.as_str());
        assert!(kept || ignored.lines().any(|line| line == format!("/{entry}/")), "{entry}");
    }
    let text = context.read("new/folder/pipeline.yaml");
    let again = context.cwm(&["init", "new/folder"]);
    let again =
        if again.stderr.contains("has no stage") { context.cwm(&["init", "--command", "new/folder"]) } else { again };
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(again.stderr.contains("there is a pipeline already"), "{}", again.stderr);
    assert_eq!(context.read("new/folder/pipeline.yaml"), text);
}

#[test]
fn existing_files_are_kept_and_reported() {
    let context = Context::new();
    context.write(".gitignore", "mine\n");
    let begun = context.cwm(&["init", "--command"]);
    assert_eq!(begun.code, 0, "{}", begun.stderr);
    assert_eq!(begun.stdout, "./pipeline.yaml\n./pipeline.schema.json\n");
    assert!(begun.stderr.contains("./.gitignore existed before"), "{}", begun.stderr);
    assert_eq!(context.read(".gitignore"), "mine\n");
}

#[test]
fn a_first_report_has_the_models_of_the_template_in_table_8() {
    let context = Context::new();
    let begun = context.cwm(&["init"]);
    if !cfg!(all(feature = "play", feature = "train", feature = "evaluate", feature = "bins", feature = "report")) {
        assert!(begun.code == 2 && begun.stderr.contains("--command"), "{}", begun.stderr);
        assert!(!context.path("pipeline.yaml").exists());
        return;
    }
    assert_eq!(begun.code, 0, "{}", begun.stderr);
    let run = Run::read(context.cwm(&["run", "--json", "--set", "games=60"]));
    assert_eq!((run.raw.code, run.failed.len()), (0, 0), "{}\n{}", run.raw.stdout, run.raw.stderr);
    assert!(context.path("report/index.html").is_file());
    // The template names no test set: its games are held out.
    let table = context.read("report/tables/table-08.csv");
    let own = table.lines().filter(|line| line.contains(",this run,")).count();
    assert_eq!(own, 2, "{table}");
    assert_eq!(context.run(&["--set", "games=60"]).ran.len(), 0);
}
