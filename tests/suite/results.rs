//! The result that a cell gets when its record does not fit, is lost, is doubled, or is written by two runs at once.

use std::process::Stdio;

use crate::context::{Context, Run, finish};

/// `cwm run --json` where commands find the context's folder as `$HOME`.
fn run(context: &Context, arguments: &[&str]) -> Run {
    let mut all = vec!["run", "--json"];
    all.extend(arguments);
    let output = context.command(&all).env("HOME", context.path(".")).output();
    Run::read(finish(output.expect("cwm starts")))
}

#[test]
fn what_a_command_declares_of_its_outputs_is_in_its_key() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  only: { stage: command, with: { run: 'echo x > "$out_x"; echo y > "${out_y:-/dev/null}"' }, outputs: { x: file } }
"#,
    );
    run(&context, &[]).ran_just(&["only"]);
    run(&context, &[]).ran_just(&[]);
    context.edit("pipeline.yaml", "x: file", "x: file, y: file");
    let more = run(&context, &[]);
    more.ran_just(&["only"]);
    assert!(
        more.causes["only"].contains("output `y` is declared otherwise: (not declared) -> a file"),
        "{}",
        more.causes["only"]
    );
    assert_eq!(context.output("only.y"), "y\n");
    context.edit("pipeline.yaml", "x: file", "x: { ext: txt }");
    run(&context, &[]).ran_just(&["only"]);
}

#[test]
fn commands_that_read_work_without_a_store() {
    let context = Context::with(
        "cwm: 1\nstages:\n  only: { stage: command, from: { text: { file: in.txt } }, with: { run: 'cp \"$in\" \"$out\"' } }\n",
    );
    context.write("in.txt", "text\n");
    // Old enough for its digest to be remembered.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    // As git leaves it.
    context.write("artifacts/README.md", "results\n");
    assert_eq!(context.cwm(&["status"]).code, 0);
    run(&context, &[]).ran_just(&["only"]);
}

#[test]
fn a_lost_result_that_is_rebuilt_differently_reruns_its_dependents() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'echo x >> "$HOME/count"; wc -l < "$HOME/count" > "$out"' } }
  left: { stage: command, from: first, with: { run: 'echo left $(cat "$in") > "$out"' } }
  far: { stage: command, from: left, with: { run: 'echo far $(cat "$in") > "$out"' } }
  right: { stage: command, from: first, with: { run: 'echo right $(cat "$in") > "$out"', n: 1 } }
"#,
    );
    run(&context, &[]).ran_just(&["first", "left", "far", "right"]);
    std::fs::remove_file(context.cwm(&["show", "--path", "first"]).stdout.trim()).expect("a removed object");
    context.edit("pipeline.yaml", "n: 1", "n: 2");
    let dry = context.cwm(&["run", "--dry-run"]).stderr;
    assert!(dry.contains("would run  first\n             a file of its recorded result is missing"), "{dry}");
    let again = run(&context, &[]);
    again.ran_just(&["first", "left", "far", "right"]);
    assert!(again.raw.stdout.contains("2 different results are recorded"), "{}", again.raw.stdout);
    assert!(again.raw.stdout.contains(r#""ran":4,"cached":0,"failed":0,"skipped":0"#), "{}", again.raw.stdout);
    for (stage, output) in [("first", "2"), ("left", "left 2"), ("far", "far left 2"), ("right", "right 2")] {
        assert_eq!(context.output(stage).trim(), output);
    }
    run(&context, &[]).ran_just(&[]);
}

#[test]
fn cells_of_one_key_run_once_also_by_force() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  one: { stage: command, with: { run: 'echo x >> "$HOME/count"; echo same > "$out"' } }
  two: { stage: command, with: { run: 'echo x >> "$HOME/count"; echo same > "$out"' } }
"#,
    );
    let first = run(&context, &[]);
    assert_eq!((first.ran.len(), first.cached.len()), (1, 1), "{}", first.raw.stdout);
    let forced = run(&context, &["--force", "one", "--force", "two"]);
    assert_eq!((forced.ran.len(), forced.cached.len()), (1, 1), "{}", forced.raw.stdout);
    assert_eq!(context.read("count"), "x\nx\n");
}

#[test]
fn two_runs_at_once_keep_each_others_lines_of_the_lock_file() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  slow: { stage: command, with: { run: 'touch "$HOME/begun"; while ! test -e "$HOME/go"; do sleep 0.05; done; echo x > "$out"' } }
  quick: { stage: command, with: { run: 'echo y > "$out"' } }
"#,
    );
    let mut slow = context.command(&["run", "--json", "slow"]);
    slow.env("HOME", context.path(".")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let slow = slow.spawn().expect("cwm starts");
    context.await_file("begun");
    run(&context, &["quick"]).ran_just(&["quick"]);
    context.write("go", "");
    Run::read(finish(slow.wait_with_output().expect("an end"))).ran_just(&["slow"]);
    let lock = context.read("pipeline.lock");
    assert!(lock.contains("\"slow\"") && lock.contains("\"quick\""), "{lock}");
}

#[test]
fn a_variable_of_the_environment_is_written_nowhere() {
    let context = Context::with(
        "cwm: 1\nstages:\n  only: { stage: command, with: { run: 'test \"$TOKEN\" = open-sesame; false' }, env: [TOKEN] }\n",
    );
    let output = context.command(&["run", "--json"]).env("TOKEN", "open-sesame").output().expect("cwm starts");
    assert!(Run::read(finish(output)).failed.contains_key("only"));
    let mut looked_at = 0;
    for (path, _) in context.inventory("artifacts") {
        if path.is_file() {
            looked_at += 1;
            let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).replace("= open-sesame", "");
            assert!(!text.contains("open-sesame"), "{}", path.display());
        }
    }
    assert!(looked_at > 3);
}

#[test]
fn an_export_of_a_matrix_has_a_folder_for_each_cell() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  model: { stage: command, matrix: { size: [d32/l1, d64/l1], seed: [0, 1] }, with: { run: 'echo "$size $seed" > "$out"', size: $size, seed: $seed } }
  table: { stage: command, from: { m: model }, with: { run: 'cat "$in_m"/* > "$out"' } }
export: { model: models/, 'model[seed=0]': firsts }
"#,
    );
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("\nmodel (4 cells): a folder each in models\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\nmodel[seed=0] (2 cells): a folder each in firsts\n"), "{}", ran.stderr);
    for (folder, text) in [
        ("models/size=d32-l1,seed=0", "d32/l1 0\n"),
        ("models/size=d64-l1,seed=1", "d64/l1 1\n"),
        ("firsts/size=d64-l1,seed=0", "d64/l1 0\n"),
    ] {
        assert_eq!(context.read(&format!("{folder}/out")), text);
    }
    assert!(!context.path("firsts/size=d64-l1,seed=1").exists());

    let exported = context.cwm(&["export", "model[size=d32/l1]", "elsewhere"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    assert_eq!(context.read("elsewhere/size=d32-l1,seed=1/out"), "d32/l1 1\n");
    assert_eq!(exported.stdout.lines().count(), 2, "{}", exported.stdout);
    let json: serde_json::Value =
        serde_json::from_str(&context.cwm(&["export", "model", "all", "--json"]).stdout).unwrap();
    assert_eq!(json[3]["label"], "model[size=d64/l1,seed=1]");
    assert!(json[3]["path"].as_str().is_some_and(|path| path.ends_with("/all/size=d64-l1,seed=1/out")), "{json}");
    // A single cell has the folder itself.
    assert_eq!(context.cwm(&["export", "model[size=d32/l1,seed=1]", "one"]).code, 0);
    assert_eq!(context.read("one/out"), "d32/l1 1\n");
    // Nothing is exported unless all of it is there.
    context.edit("pipeline.yaml", "seed: [0, 1]", "seed: [0, 1, 2]");
    let missing = context.cwm(&["export", "model", "none"]);
    assert!(
        missing.code == 2 && missing.stderr.contains("model[size=d32/l1,seed=2] has no result yet"),
        "{}",
        missing.stderr
    );
    assert!(!context.path("none").exists());
    // Nor if the place of one cell is taken.
    assert_eq!(context.cwm(&["run"]).code, 0);
    context.write("some/size=d64-l1,seed=2/out", "mine");
    let taken = context.cwm(&["export", "model", "some"]);
    assert_eq!(taken.code, 2, "{}", taken.stderr);
    assert!(taken.stderr.contains("size=d64-l1,seed=2/out exists, and no export wrote it\nhint: "), "{}", taken.stderr);
    assert_eq!(std::fs::read_dir(context.path("some")).expect("a folder").count(), 1, "nothing was written");
    // What an export made is replaced, which is reported once.
    std::fs::remove_dir_all(context.path("some")).expect("removed");
    assert_eq!(context.cwm(&["export", "model", "some"]).code, 0);
    for seed in [0, 1] {
        context.write(&format!("some/size=d32-l1,seed={seed}/out"), "edited");
    }
    let again = context.cwm(&["export", "model", "some"]);
    assert_eq!(again.stderr, "replaced the earlier export there (2 of 6 cells)\n");
}
