//! The reasons why a stage would run, followed to the change that somebody made.

use crate::context::{Context, finish};

const CHAIN: &str = r#"
cwm: 1
vars: { n: 1, unused: 2 }
stages:
  first: { stage: command, with: { run: 'echo "$n" > "$out"', n: $n } }
  second: { stage: command, from: first, with: { run: 'cat "$in" "$in" > "$out"' } }
  third: { stage: command, from: second, with: { run: 'cat "$in" > "$out"' } }
  axis:
    stage: command
    matrix:
      m: { a: a,
           b: b }
    with: { run: 'echo "$m" > "$out"', m: $m }
"#;

fn why(context: &Context, words: &[&str]) -> String {
    let ran = context.cwm(&[&["why"], words].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout
}

fn json(context: &Context, words: &[&str]) -> serde_json::Value {
    serde_json::from_str(&why(context, &[words, &["--json"]].concat())).expect("JSON")
}

fn dry(context: &Context, words: &[&str]) -> String {
    context.cwm(&[&["run", "--dry-run"], words].concat()).stderr
}

#[test]
fn a_parameter_is_reported_with_the_line_where_its_value_is_written() {
    let context = Context::with(CHAIN);
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    assert!(why(&context, &["first"]).contains("parameter `n` changed: 1 -> 5 (line 3)"), "a variable's line");
    let set = why(&context, &["first", "--set", "n=7"]);
    assert!(set.contains("parameter `n` changed: 1 -> 7 (--set)"), "{set}");
    // The value of an axis, where the stage has the same label all the same.
    context.edit("pipeline.yaml", "b: b }", "b: c }");
    let axis = why(&context, &["axis[m=b]"]);
    assert!(axis.contains("parameter `m` changed: b -> c (line 12)"), "{axis}");
}

#[test]
fn without_a_stage_the_cells_that_changed_themselves_are_explained() {
    let context = Context::with(CHAIN);
    context.run(&[]);
    assert_eq!(why(&context, &[]), "all cells are cached\n");
    assert_eq!(json(&context, &[]), serde_json::json!([]));
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    let cause = "parameter `n` changed: 1 -> 5 (line 3)";
    assert_eq!(why(&context, &[]), format!("first: would run\n  {cause}\n"), "and not `second` and `third`");
}

#[test]
fn a_cell_that_waits_is_reported_with_the_root_of_it() {
    let context = Context::with(CHAIN);
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    let reported = dry(&context, &[]);
    let cause = "parameter `n` changed: 1 -> 5 (line 3)";
    assert!(reported.contains("may run    third\n             depends on second\n"), "{reported}");
    assert_eq!(reported.matches(cause).count(), 1, "of first:\n{reported}");
    let third = &json(&context, &["third"])[0];
    assert_eq!(third["sentences"], serde_json::json!(["depends on second"]));
    assert_eq!(third["dependencies"][0]["dependencies"][0]["label"], "first");
    assert!(why(&context, &["third"]).contains(&format!("\n    first: would run\n      {cause}\n")));
}

#[test]
fn an_input_that_changed_is_followed_through_what_ran_meanwhile() {
    let context = Context::with(CHAIN);
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    context.run(&["second"]);
    let reason = &json(&context, &["third"])[0];
    let sentence = reason["sentences"][0].as_str().expect("a sentence");
    assert!(sentence.starts_with("input `in` changed: "), "{sentence}");
    let end = ", because first ran again, because parameter `n` changed: 1 -> 5 (line 3)";
    assert!(sentence.contains(", because second ran again, because input `in` changed: "), "{sentence}");
    assert!(sentence.ends_with(end), "{sentence}");
    let reported = dry(&context, &["third"]);
    assert!(reported.contains(sentence), "{reported}");
    let tree = why(&context, &["third"]);
    assert!(tree.contains("\n  second: ran again: ") && tree.contains("\n    first: ran again: "), "{tree}");
    assert!(tree.contains("\n      parameter `n` changed: 1 -> 5 (line 3)\n"), "{tree}");

    // Put back: the earlier results are there, and nobody has a reason to run.
    context.edit("pipeline.yaml", "n: 5,", "n: 1,");
    context.run(&[]).ran_just(&[]);
}

#[test]
fn why_works_on_a_store_that_cannot_be_written() {
    let context = Context::with(CHAIN);
    context.run(&[]);
    let before = context.inventory("artifacts");
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    let output = context.command(&["why", "third", "first"]).env("HOME", "/nowhere").output().expect("cwm starts");
    assert_eq!(finish(output).code, 0);
    let after = context.inventory("artifacts");
    let changed: Vec<_> = after.iter().filter(|(path, now)| before.get(*path) != Some(*now)).collect();
    assert!(changed.iter().all(|(path, _)| path.ends_with("external_files.cache") || path.is_dir()), "{changed:?}");
}

#[test]
fn a_cells_own_cause_is_reported_beside_what_it_waits_for() {
    let context = Context::with(CHAIN);
    context.write_old("script.sh", "cat\n");
    context.edit(
        "pipeline.yaml",
        "cat \"$in\" \"$in\" > \"$out\"' }",
        "sh script.sh < \"$in\" > \"$out\"', own: 1 }, deps: [script.sh]",
    );
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    context.edit("pipeline.yaml", "own: 1", "own: 2");
    context.write_old("script.sh", "tac\n");
    let reported = why(&context, &["second"]);
    let parameter = "parameter `own` changed: 1 -> 2 (line 6)";
    assert!(reported.starts_with("second: may run, when what it depends on has run\n  "), "{reported}");
    assert!(reported.contains(&format!("\n  {parameter}\n")), "{reported}");
    assert!(reported.contains("\n  input `deps` (script.sh) changed: "), "{reported}");
    assert!(reported.contains("\n  first: would run\n    parameter `n` changed: 1 -> 5 (line 3)\n"), "{reported}");
    assert!(dry(&context, &[]).contains(&format!("may run    second\n             {parameter}\n")));
    assert!(context.cwm(&["status"]).stdout.contains("; parameter `own` changed: 1 -> 2"));
    // A file that is not there will not be there then either.
    context.edit(
        "pipeline.yaml",
        "with: { run: 'cat \"$in\" > \"$out\"' } }",
        "with: { run: 'cat \"$in_t\"  > \"$out\"' } }",
    );
    context.edit("pipeline.yaml", "from: second,", "from: { t: second, gone: { file: gone.txt } },");
    assert!(why(&context, &["third"]).starts_with("third: would fail: "), "{}", why(&context, &["third"]));
}

#[test]
fn failed_cells_and_lost_results_did_run() {
    let context = Context::with(CHAIN);
    context.edit("pipeline.yaml", "echo \"$n\" > \"$out\"", "[ \"$n\" = 1 ] && echo 1 > \"$out\"");
    assert_eq!(context.run(&["--set", "n=2"]).raw.code, 1);
    let reported = why(&context, &["first", "--set", "n=2"]);
    assert!(
        reported.contains("first: would run\n  it failed or was stopped at 2") && !reported.contains("never ran"),
        "{reported}"
    );
    assert!(context.cwm(&["status", "--set", "n=2"]).stdout.contains("was never recorded (`cwm log --set n=2`)"));
    assert_eq!(json(&context, &["first", "--set", "n=2"])[0]["causes"][0]["cause"], "unfinished");
    let again = context.cwm(&["run", "-f", "pipeline.yaml", "--set", "n=2", "--store", "artifacts"]);
    let log = "was never recorded (`cwm log --file pipeline.yaml --set n=2 --store artifacts`)";
    assert!(again.code == 1 && again.stderr.contains(log), "{}", again.stderr);

    context.run(&[]);
    std::fs::remove_dir_all(context.path("artifacts")).expect("removed");
    let lost = "the lock file names its result, which the store does not have";
    assert_eq!(why(&context, &["first"]), format!("first: would run\n  {lost}\n"));
    assert!(dry(&context, &[]).contains(&format!("would run  first\n             {lost}\n")));
    let second = why(&context, &["second"]);
    assert!(second.contains("\n  the lock file names a result, of which the store has no record\n"), "{second}");
    context.edit("pipeline.yaml", "n: 1,", "n: 1.0,");
    assert!(why(&context, &["first"]).contains("what changed since is unknown"));
}

/// Returns the state of `second`, of which a file is missing, as each command reports it.
fn of_second(context: &Context) -> [String; 3] {
    let status = context.cwm(&["status", "second", "--json"]).stdout;
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    let events = context.cwm(&["run", "--dry-run", "--json"]).stdout;
    let events = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("an event"));
    let event = events.into_iter().find(|event| event["label"] == "second").expect("an event of it");
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    [text(&status[0]["state"]), text(&json(context, &["second"])[0]["state"]), text(&event["event"])]
}

#[test]
fn status_why_and_dry_run_report_a_missing_file_as_the_run_does() {
    // What the last one makes is not what the one before made.
    let context = Context::with(
        &CHAIN.replace("from: second, with: { run: 'cat \"$in\"", "from: second, with: { run: 'wc \"$in\""),
    );
    context.run(&[]);
    let object = std::fs::canonicalize(context.cwm(&["show", "--path", "second"]).stdout.trim()).expect("an object");
    std::fs::remove_file(object).expect("removed");
    assert_eq!(of_second(&context), ["incomplete", "incomplete", "cached"]);
    assert!(why(&context, &["second"]).contains("files of its result are missing; computed again when needed"));
    assert!(dry(&context, &[]).contains("files of its result are missing; computed again when needed"));
    assert!(
        dry(&context, &["second"]).contains("would run  second\n             a file of its recorded result is missing")
    );
    context.run(&[]).ran_just(&[]);

    // What reads it would run, so it would as well.
    context.edit(
        "pipeline.yaml",
        "third: { stage: command, from: second, with: {",
        "third: { stage: command, from: second, with: { x: 1,",
    );
    assert_eq!(of_second(&context), ["would run", "would run", "would_run"]);
    // What reads it may run.
    context.edit("pipeline.yaml", "x: 1,", "");
    context.edit(
        "pipeline.yaml",
        "third: { stage: command, from: second,",
        "third: { stage: command, from: [second, first],",
    );
    context.edit("pipeline.yaml", "wc \"$in\"", "wc \"$in\"/*");
    context.edit("pipeline.yaml", "from: first, with: { run: 'cat \"$in\" \"$in\"", "with: { run: 'echo 1; echo 1");
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 1,", "n: 2,");
    let object = std::fs::canonicalize(context.cwm(&["show", "--path", "second"]).stdout.trim()).expect("an object");
    std::fs::remove_file(object).expect("removed");
    assert_eq!(of_second(&context), ["may run", "may run", "would_run"]);
    assert!(dry(&context, &[]).contains("may run    second\n             a file of its recorded result is missing"));
    context.run(&[]).ran_just(&["first", "second", "third"]);
}

#[test]
fn a_variable_that_nothing_uses_is_reported_with_its_line() {
    let context = Context::with(CHAIN);
    let reported = dry(&context, &[]);
    assert!(
        reported.contains("pipeline.yaml:3:15: nothing uses the variable `unused`; write `$unused` where"),
        "{reported}"
    );
    context.edit("pipeline.yaml", "echo \"$n\"", "echo \"$unused\"");
    assert!(
        dry(&context, &[]).contains("for the text of a command `with: { unused: $unused }`"),
        "a command's text sees no variables"
    );
    context.edit("pipeline.yaml", "n: $n }", "n: $n, m: \"a ${unused}\" }");
    assert!(!dry(&context, &[]).contains("nothing uses"));
}

#[test]
fn a_lost_record_is_the_only_reported_cause() {
    let context = Context::with(CHAIN);
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 1,", "n: 2,");
    context.run(&[]);
    // What ran last is what the record of now is not: of `n: 1`, the first one again.
    context.edit("pipeline.yaml", "n: 2,", "n: 1,");
    context.run(&[]);
    let lock = context.read("pipeline.lock");
    let line = lock.lines().find(|line| line.starts_with("\"first\":")).expect("a line of the lock file");
    let key = line.split('"').nth(5).expect("a key").to_owned();
    std::fs::remove_dir_all(context.path(&format!("artifacts/actions/{}/{key}", &key[..2]))).expect("removed");
    let reported = json(&context, &["first"]);
    assert_eq!(
        reported[0]["causes"],
        serde_json::json!([{ "cause": "record_missing", "same": true }]),
        "nothing changed: {reported:#}"
    );
}

const RENAMED: &str = r#"
cwm: 1
vars: { q: 1 }
stages:
  a: { stage: command, with: { run: 'echo a > "$out"', p: 1 } }
  s:
    stage: command
    matrix: { k: [1, 2] }
    from: { a: a }
    with: { run: 'cat "$in_a" > "$out"; echo "$k$q" >> "$out"', k: $k, q: $q }
  j: { stage: command, from: { s: s }, with: { run: 'cat "$in_s"/* > "$out"' } }
  z: { stage: command, from: { j: j }, with: { run: 'echo z > "$out"', x: 1 } }
"#;

#[test]
fn a_stage_of_another_name_is_a_cache_hit_and_what_reads_it_runs() {
    let context = Context::with(RENAMED);
    context.run(&[]);
    context.edit("pipeline.yaml", "  s:\n", "  ss:\n");
    context.edit("pipeline.yaml", "from: { s: s }", "from: { s: ss }");
    let gone = ["1", "2"].map(|k| format!("input `s` (s[k={k}]) is gone"));
    let new = ["1", "2"].map(|k| format!("input `s` (ss[k={k}]) is new, from ss[k={k}]"));
    let lines = [gone, new].concat();
    assert_eq!(why(&context, &["j"]), format!("j: would run\n  {}\n", lines.join("\n  ")));
    assert!(dry(&context, &[]).contains(&format!("would run  j\n             {}\n", lines.join("\n             "))));
    let ran = context.run(&[]);
    ran.ran_just(&["j"]);
    assert!(ran.causes["j"].contains(&lines[0]), "{:?}", ran.causes);
}

#[test]
fn an_input_from_another_stage_is_not_shown_as_one_that_ran_again() {
    let context = Context::with(CHAIN);
    context.edit(
        "pipeline.yaml",
        "  axis:",
        "  other: { stage: command, with: { run: 'echo other > \"$out\"' } }\n  axis:",
    );
    context.run(&[]);
    context.edit("pipeline.yaml", "from: second", "from: other");
    let reported = why(&context, &["third"]);
    assert!(reported.ends_with(", from other\n") && !reported.contains("ran again"), "{reported}");
    // A result of before that stands again did not run since.
    context.edit("pipeline.yaml", "from: other", "from: second");
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    context.run(&["second"]);
    context.edit("pipeline.yaml", "n: 5,", "n: 1,");
    context.run(&["first", "axis"]);
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 5,", "n: 1,");
    context.edit("pipeline.yaml", "cat \"$in\" > \"$out\"", "cat \"$in\" >> \"$out\"");
    let reported = why(&context, &["third"]);
    assert!(reported.contains("\n  second: has another result: ") && !reported.contains("ran again"), "{reported}");
}

/// The stage that makes it did not change, nor has it another result.
#[test]
fn another_output_of_the_same_stage_is_shown_as_the_reference_that_changed() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  m: { stage: command, outputs: { h: file, t: file }, with: { run: 'echo 1 > "$out_h"; echo 2 > "$out_t"', q: 1 } }
  l: { stage: command, from: { x: m.h }, with: { run: 'cat "$in_x" > "$out"', n: 5 } }
"#,
    );
    context.run(&[]);
    context.edit("pipeline.yaml", "q: 1", "q: 2");
    context.run(&[]);
    context.edit("pipeline.yaml", "q: 2", "q: 1");
    context.run(&[]);
    context.edit("pipeline.yaml", "x: m.h", "x: m.t");
    context.edit("pipeline.yaml", "n: 5", "n: '5'");
    let reported = why(&context, &["l"]);
    assert!(reported.contains(", since it was `m.h` before, from m\n"), "{reported}");
    assert!(reported.contains("parameter `n` changed: 5 -> \"5\" (line 5)\n"), "{reported}");
    assert!(!reported.contains("has another result") && !reported.contains("ran again"), "{reported}");
    assert_eq!(json(&context, &["l"])[0]["causes"][1]["old_output"], "h");
}

#[test]
fn accepted_files_did_not_run_again() {
    let context = Context::with(
        "cwm: 1\nstages:\n  a: { stage: command, with: { run: 'echo 1 > \"$out\"' } }\n  b: { stage: command, from: a, with: { run: 'cp \"$in\" \"$out\"' } }\n",
    );
    context.run(&[]).ran_just(&["a", "b"]);
    context.write("mine.txt", "2\n");
    context.edit("pipeline.yaml", "echo 1", "echo 3");
    let taken = context.cwm(&["accept", "a", "--files", "mine.txt"]);
    assert_eq!(taken.code, 0, "{}", taken.stderr);
    let reported = why(&context, &["b"]);
    assert!(reported.contains("a: has another result") && !reported.contains("ran again"), "{reported}");
}
