//! Runs with `--set`: they are recorded, compared with, listed and deleted.

use crate::context::{Context, Ran};

const PIPELINE: &str = r#"
cwm: 1
vars: { games: none, width: 5 }
stages:
  corpus: { stage: command, with: { run: 'echo "$games" > "$out"', games: $games } }
  bins: { stage: command, from: corpus, with: { run: 'cat "$in" > "$out"; echo "$width" >> "$out"', width: $width } }
"#;

/// A pipeline `sub/real.yaml` that ran with `--set games=X`.
fn with_one_run() -> Context {
    let context = Context::new();
    context.write("sub/real.yaml", PIPELINE);
    ran(context.cwm(&["run", "sub/real.yaml", "--set", "games=X"]));
    context
}

fn ran(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran
}

#[test]
fn a_run_with_set_is_remembered_by_why() {
    let context = with_one_run();
    assert!(!context.path("sub/real.lock").exists(), "the pipeline's lock file is of the run without --set");
    context.edit("sub/real.yaml", "width: 5", "width: 6");
    let why = |set: &[&str]| ran(context.cwm(&[&["why", "bins", "-f", "sub/real.yaml"], set].concat()));
    let exact = why(&["--set", "games=X"]);
    assert!(exact.stdout.contains("parameter `width` changed: 5 -> 6 (line 3)"), "{}", exact.stdout);
    assert!(!exact.stderr.contains("note:"), "{}", exact.stderr);
    // Of other values the nearest run is compared with.
    let other = ran(context.cwm(&["why", "corpus", "-f", "sub/real.yaml", "--set", "games=a b"]));
    assert!(other.stdout.contains("parameter `games` changed: X -> a b (--set)"), "{}", other.stdout);
    let note =
        "note: there was no run with `--set 'games=a b'` yet; the comparison is with the one with `--set games=X`";
    assert!(other.stderr.contains(note), "{}", other.stderr);
    let plain = ran(context.cwm(&["run", "-n", "sub/real.yaml"]));
    assert!(plain.stderr.contains("games` changed: X -> none"), "{}", plain.stderr);
    assert!(plain.stderr.contains("there was no run without `--set` yet"), "{}", plain.stderr);
}

#[test]
fn show_without_set_names_the_run_that_has_a_result_and_repeats_the_pipeline() {
    let context = with_one_run();
    let missing = |words: &[&str]| {
        let missing = context.cwm(&[words, &["-f", "sub/real.yaml"]].concat());
        assert_eq!(missing.code, 2, "{}", missing.stderr);
        missing.stderr
    };
    for command in [&["show", "corpus"][..], &["show", "--path", "corpus"], &["export", "corpus", "there"]] {
        let hints = missing(command);
        let words = command.join(" ");
        assert!(hints.contains("corpus has no result yet"), "{hints}");
        assert!(
            hints.contains("`cwm run -f sub/real.yaml corpus` computes it; `cwm why -f sub/real.yaml corpus`"),
            "{hints}"
        );
        let other = format!("the run with `--set games=X` has one: `cwm {words} -f sub/real.yaml --set games=X`");
        assert!(hints.contains(&other), "{hints}");
    }
    ran(context.cwm(&["show", "corpus", "-f", "sub/real.yaml", "--set", "games=X"]));
    let other = missing(&["show", "corpus", "--set=games=Y"]);
    assert!(other.contains("`cwm run -f sub/real.yaml --set games=Y corpus` computes it"), "{other}");
    assert!(other.contains("`cwm show corpus -f sub/real.yaml --set games=X`"), "{other}");
    // An edit since then makes that run's result an older one, which `show` does not print.
    context.edit("sub/real.yaml", "echo \"$games\"", "echo now \"$games\"");
    assert!(!missing(&["show", "corpus"]).contains("has one"));
}

#[test]
fn show_with_set_names_the_run_without_it() {
    let context = Context::with(PIPELINE);
    context.run(&[]);
    let missing = context.cwm(&["show", "corpus", "--set", "games=Y"]).stderr;
    assert!(missing.contains("the run without `--set` has one: leave out `--set`"), "{missing}");
}

#[test]
fn gc_keeps_what_a_run_with_set_made_as_long_as_it_is_remembered() {
    let context = with_one_run();
    let gc = || ran(context.cwm(&["store", "gc", "--delete", "-f", "sub/real.yaml"])).stdout;
    assert!(gc().starts_with("nothing to delete"));
    let corpus = ["show", "--path", "corpus", "-f", "sub/real.yaml", "--set", "games=X"];
    ran(context.cwm(&corpus));
    let folder = std::fs::read_dir(context.path("sub/.cwm/real")).expect("the folder of the runs");
    let [lock] = &folder.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()[..] else { panic!() };
    // As of any lock file, what it named stays for a while after it is gone.
    std::fs::rename(lock, context.path("there.lock")).expect("moved");
    let kept = gc();
    assert!(kept.contains("is gone; the results that it named") && kept.contains("nothing to delete"), "{kept}");
    ran(context.cwm(&["store", "gc", "-f", "sub/real.yaml", "--forget", &lock.to_string_lossy()]));
    assert!(gc().contains("deleted"));
    let gone = context.cwm(&corpus);
    assert!(gone.code == 2 && gone.stderr.contains("computes them again"), "gc deleted its files: {}", gone.stderr);
}

#[test]
fn store_ls_and_store_tag_know_the_results_of_runs_with_set() {
    let context = Context::with(PIPELINE);
    context.run(&["--set", "games=X"]).ran_just(&["corpus", "bins"]);
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&ran(context.cwm(&[arguments, &["--json"]].concat())).stdout).expect("JSON")
    };
    let name = json(&["runs"])[0]["name"].as_str().expect("a name").to_owned();
    let listed = ran(context.cwm(&["store", "ls"])).stdout;
    assert_eq!(listed.matches(&format!("  (run {name})\n")).count(), 2, "{listed}");
    let hint = context.cwm(&["store", "tag", "v0"]).stderr;
    assert!(hint.contains("the lock file names no results") && hint.contains("`cwm runs` lists"), "{hint}");

    context.run(&[]).ran_just(&["corpus", "bins"]);
    context.run(&["--set", "width=5"]).ran_just(&[]);
    let rows = json(&["store", "ls", "corpus"]);
    let rows: Vec<(bool, usize)> = rows
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| (row["locked"].as_bool().expect("a boolean"), row["runs"].as_array().expect("runs").len()))
        .collect();
    assert!(rows.len() == 2 && rows.contains(&(true, 1)) && rows.contains(&(false, 1)), "each once: {rows:?}");
    ran(context.cwm(&["store", "tag", "v1"]));
    ran(context.cwm(&["store", "tag", "v2", "corpus", "--set", "games=X"]));
    let digest = |tag: &str| json(&["store", "ls", tag])[0]["digest"].clone();
    assert_ne!(digest("tag:v1"), digest("tag:v2"));
    let unknown = context.cwm(&["store", "tag", "v3", "--set", "games=Y"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("no run with `--set games=Y` is recorded"));
    // The tag keeps its result when the run is deleted from the list.
    ran(context.cwm(&["runs", "--delete", &name]));
    assert!(ran(context.cwm(&["store", "gc", "--delete"])).stdout.contains("deleted"));
    assert_eq!(json(&["store", "ls", "tag:v2"])[0]["state"], "present");
}

#[test]
fn git_does_not_see_runs_with_set() {
    let context = with_one_run();
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git").current_dir(context.path("sub")).args(arguments).output();
        String::from_utf8(output.expect("git").stdout).expect("text")
    };
    git(&["init", "-q"]);
    let status = git(&["status", "--porcelain"]);
    assert!(status.contains("real.yaml") && !status.contains(".cwm"), "{status}");
}

#[test]
fn a_run_in_a_folder_that_cannot_be_written_is_done_and_not_remembered() {
    let context = Context::new();
    context.write("sub/real.yaml", PIPELINE);
    // As root has every permission, a link to nowhere stands in the place of the folder.
    std::os::unix::fs::symlink("nowhere", context.path("sub/.cwm")).expect("a link");
    let run = ran(context.cwm(&["run", "sub/real.yaml", "--set", "games=X", "--store", "elsewhere"]));
    assert!(run.stderr.contains("warning: this run is not recorded: "), "{}", run.stderr);
}

/// Runs a pipeline with a JSON output for three values of `n`, the last of which fails.
fn with_numbers() -> Context {
    let context = Context::with(
        r#"
cwm: 1
vars: { n: 1 }
stages:
  model:
    stage: command
    with: { run: 'echo "{\"format\": 1, \"loss\": 0.$n, \"best\": {\"step\": 7}}" > "$out_scores"', n: $n }
    outputs: { scores: { ext: json } }
  test: { stage: command, from: model.scores, with: { run: '[ "$n" != 3 ] && cat "$in" > "$out"', n: $n } }
"#,
    );
    context.run(&[]);
    ran(context.cwm(&["run", "--set", "n=2"]));
    assert_eq!(context.cwm(&["run", "--set", "n=3"]).code, 1);
    context
}

#[test]
fn runs_warns_once_of_an_output_whose_numbers_cannot_be_read() {
    let context = Context::with(
        r#"
cwm: 1
vars: { n: 1 }
stages:
  model: { stage: command, with: { run: 'echo "{\"loss\": NaN}" > "$out_scores"' }, outputs: { scores: { ext: json } } }
  test: { stage: command, from: model.scores, with: { run: 'echo "{\"exact\": 0.$n}" > "$out_scores"', n: $n }, outputs: { scores: { ext: json } } }
"#,
    );
    context.run(&[]);
    ran(context.cwm(&["run", "--set", "n=2"]));
    let listed = ran(context.cwm(&["runs"]));
    let problem = "model.scores is not JSON, so it is not listed: expected value at line 1 column 10";
    assert_eq!(listed.stderr, format!("warning: {problem}\n"));
    assert!(listed.stdout.contains("exact") && !listed.stdout.contains("loss"), "{}", listed.stdout);
}

#[test]
fn runs_lists_each_run_with_its_values_and_numbers() {
    let context = with_numbers();
    let table = ran(context.cwm(&["runs"])).stdout;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["run", "when", "done", "--set", "model.scores:", "loss", "model.scores:", "best.step"]);
    let ends: Vec<String> = rows[1..].iter().map(|row| row[3..].join(" ")).collect();
    assert_eq!(ends, ["2 0.1 7", "2 n=2 0.2 7", "1, 1 failed n=3 0.3 7"]);
    let runs =
        || -> serde_json::Value { serde_json::from_str(&ran(context.cwm(&["runs", "--json"])).stdout).expect("JSON") };
    let listed = runs();
    let name = listed[1]["name"].as_str().expect("a name").to_owned();
    assert_eq!(
        (listed[0]["name"].as_str(), &listed[0]["failed"], rows[2][0]),
        (Some("."), &serde_json::Value::Null, &name[..])
    );
    assert_eq!(listed[2]["set"], serde_json::json!({ "n": "3" }));
    assert_eq!(listed[2]["metrics"], serde_json::json!({ "model.scores: best.step": 7.0, "model.scores: loss": 0.3 }));
    let only = ran(context.cwm(&["runs", "pipeline.yaml", "test"])).stdout;
    assert!(!only.contains("loss"), "{only}");

    // What only a run named goes once it is dropped.
    assert!(ran(context.cwm(&["store", "gc", "--delete"])).stdout.starts_with("nothing to delete"));
    assert!(context.cwm(&["runs", "--delete", "../pipeline"]).stderr.contains("there is no run"));
    ran(context.cwm(&["runs", "--delete", &name]));
    assert_eq!(runs().as_array().map(Vec::len), Some(2));
    let collected = ran(context.cwm(&["store", "gc", "--delete"])).stdout;
    assert!(collected.contains("deleted 48 B; 96 B stay"), "{collected}");
    assert!(context.path("pipeline.lock").exists());
}

#[test]
fn diff_compares_runs_by_their_values_and_by_their_names() {
    let context = with_numbers();
    let diff = |words: &[&str]| {
        let ran = context.cwm(&[&["diff"], words].concat());
        assert_eq!(ran.code, 7, "{}", ran.stderr);
        ran.stdout
    };
    let by_values = diff(&[".", "--set", "n=2"]);
    assert!(by_values.starts_with("pipeline.lock -> --set n=2\n"), "{by_values}");
    assert!(by_values.contains("parameter `n` changed: 1 -> 2"), "{by_values}");
    let listed: serde_json::Value = serde_json::from_str(&context.cwm(&["runs", "--json"]).stdout).expect("JSON");
    let name = |index: usize| listed[index]["name"].as_str().expect("a name");
    let by_names = diff(&[name(2), name(1)]);
    assert!(by_names.contains("parameter `n` changed: 3 -> 2") && by_names.contains("test"), "{by_names}");
    let missing = context.cwm(&["diff", ".", "--set", "n=9"]);
    assert!(missing.code == 2 && missing.stderr.contains("no run with `--set n=9` is recorded"), "{}", missing.stderr);
    for (set, words) in [("m=9", "this pipeline has no variable `m`"), ("=9", "`=9` has no name: NAME=VALUE")] {
        let ran = context.cwm(&["diff", ".", "--set", set]);
        assert!(ran.stderr.contains(words), "{set}: {}", ran.stderr);
    }
    let twice = context.cwm(&["run", "--set", "n=1", "--set", "n=2"]);
    assert!(twice.code == 3 && twice.stderr.contains("`n` is set twice"), "{}", twice.stderr);
    assert_eq!(context.cwm(&["diff", ".", ".", "--set", "n=2"]).code, 2, "three runs");
}

#[test]
fn equal_values_that_are_typed_differently_are_one_run() {
    let context = Context::with(
        r#"
cwm: 1
vars: { seeds: [0, 1], n: 1 }
stages:
  a: { stage: command, matrix: { seed: $seeds }, with: { run: 'echo "$seed $n" > "$out"', seed: $seed, n: $n } }
"#,
    );
    context.run(&["--set", "seeds=[0]"]).ran_just(&["a[seed=0]"]);
    context.run(&["--set", "seeds=[ 0 ]"]).ran_just(&[]);
    let sets = || {
        let listed: serde_json::Value =
            serde_json::from_str(&ran(context.cwm(&["runs", "--json"])).stdout).expect("JSON");
        let rows = listed.as_array().expect("a list").iter();
        rows.map(|row| row["set"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(sets(), [r#"{"seeds":"[0]"}"#]);
    assert_eq!(context.cwm(&["store", "verify", "a", "--set", "seeds=[  0]"]).code, 0);
    // The key of a result has a whole number apart from one with a point.
    context.run(&["--set", "n=9"]).ran_just(&["a[seed=0]", "a[seed=1]"]);
    context.run(&["--set", "n=9.0"]).ran_just(&["a[seed=0]", "a[seed=1]"]);
    assert_eq!(sets()[1..], [r#"{"n":"9"}"#, r#"{"n":"9.0"}"#]);
}

#[test]
fn files_that_are_not_kept_go_though_another_run_of_the_pipeline_names_them() {
    let context = Context::with(
        r#"
cwm: 1
vars: { n: 1 }
stages:
  big: { stage: command, keep: false, with: { run: 'echo big > "$out"' } }
  small: { stage: command, from: big, with: { run: 'cat "$in" > "$out"; echo "$n" >> "$out"', n: $n } }
"#,
    );
    context.run(&[]);
    for set in ["n=2", "n=3"] {
        context.run(&["--set", set]).ran_just(&["big", "small"]);
        let status = ran(context.cwm(&["status", "--set", set])).stdout;
        assert!(status.contains("not kept   big"), "{status}");
    }
}
