//! Cells of one key that fail or are checked; forced cells, whether their bytes are equal, and the summary at the end of a run.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::context::{Context, Ran};

fn events(ran: &Ran, name: &str) -> Vec<Value> {
    let events = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a JSON event a line"));
    events.filter(|event| event["event"] == name).collect()
}

/// A pipeline whose `HERE` is its folder.
fn context(text: &str) -> Context {
    let context = Context::with("cwm: 1\nstages: {}\n");
    let here = context.path(".").canonicalize().expect("a folder").display().to_string();
    context.write("pipeline.yaml", &text.replace("HERE", &here));
    context
}

#[test]
fn cells_of_the_key_of_a_failed_cell_fail_with_it_and_the_command_runs_once() {
    let text = r#"
cwm: 1
stages:
  a: { stage: command, with: { run: 'echo x >> HERE/count; exit 3' } }
  b: { stage: command, with: { run: 'echo x >> HERE/count; exit 3' } }
"#;
    let context = context(text);
    for jobs in ["-j1", "-j2"] {
        let run = context.run(&[jobs]);
        assert_eq!((run.raw.code, context.read("count").as_str()), (1, "x\n"), "{}", run.raw.stdout);
        assert!(run.failed["b"].starts_with("does the same as a, which failed: "), "{}", run.raw.stdout);
        assert!(run.failed["b"].ends_with(&run.failed["a"]));
        let table = &events(&run.raw, "failures")[0]["failed"];
        assert_eq!([&table[0]["attempts"], &table[1]["attempts"]], [1, 1], "{table}");
        fs::remove_file(context.path("count")).expect("the count");
    }
}

#[test]
fn a_reader_of_two_cells_of_one_key_whose_files_are_missing_is_predicted() {
    let text = r#"
cwm: 1
stages:
  a: { stage: command, keep: false, with: { run: 'echo 1 > "$out"' } }
  b: { stage: command, keep: false, with: { run: 'echo 1 > "$out"' } }
  c: { stage: command, from: { a: a, b: b }, with: { run: 'cat "$in_a" "$in_b" > "$out"' } }
"#;
    let context = context(text);
    assert_eq!(context.run(&[]).raw.code, 0);
    context.write("pipeline.yaml", &context.read("pipeline.yaml").replace("cat ", "cat -- "));
    for command in [&["status"][..], &["why"], &["run", "-n"]] {
        // A prediction that never ends must fail the test.
        let mut command_line = context.command(command);
        let quiet = command_line.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = quiet.spawn().expect("cwm starts");
        let ended = (0..2400).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(25));
            child.try_wait().expect("its state")
        });
        let _ = child.kill();
        assert!(ended.is_some_and(|status| status.success()), "{command:?}: {ended:?}");
    }
    let run = context.run(&[]);
    assert!(run.ran.contains("c") && run.failed.is_empty(), "{}", run.raw.stdout);
}

#[test]
fn the_largest_retry_of_cells_of_one_key_applies() {
    let stages = r#"
  A: { stage: command, with: { run: 'echo x >> HERE/count; test "$(wc -l < HERE/count)" -ge 3; echo 1 > "$out"' } }
"#;
    let retries = stages.replace("A: {", "retries: { retry: { times: 2, wait: 1ms },");
    for (first, second) in [("a", "z"), ("z", "a")] {
        let plain = stages.replace('A', "plain");
        let text = format!(
            "cwm: 1\nstages:\n{}{}",
            if first == "a" { &plain } else { &retries },
            if second == "a" { &plain } else { &retries }
        );
        let context = context(&text);
        let run = context.run(&["-j1"]);
        assert!(run.ran.contains("retries"), "{first} {second}: {}", run.raw.stdout);
        assert_eq!(context.read("count"), "x\nx\nx\n", "{}", run.raw.stdout);
    }
}

#[test]
fn one_check_covers_all_cells_of_a_key() {
    let text = r#"
cwm: 1
stages:
  e: { stage: command, with: { run: 'echo x >> HERE/count; test -e HERE/bad && exit 3; date +%N > "$out"' } }
  f: { stage: command, with: { run: 'echo x >> HERE/count; test -e HERE/bad && exit 3; date +%N > "$out"' } }
"#;
    let context = context(text);
    context.run(&[]);
    assert_eq!(context.read("count"), "x\n");
    let check = context.cwm(&["run", "--check", "--json", "-j2"]);
    assert_eq!(context.read("count"), "x\nx\n", "{}", check.stdout);
    let checked = events(&check, "checked");
    let labels: Vec<_> = checked.iter().map(|event| event["label"].as_str().unwrap_or_default()).collect();
    assert_eq!(labels, ["e", "f"], "{}", check.stdout);
    assert!(checked.iter().all(|event| event["differences"].as_array().is_some_and(|found| found.len() == 1)));
    assert_eq!((events(&check, "waiting").len(), &events(&check, "check_summary")[0]["different"]), (0, &2.into()));

    context.write("bad", "");
    let check = context.cwm(&["run", "--check", "--json", "-j2"]);
    assert_eq!(context.read("count"), "x\nx\nx\n", "{}", check.stdout);
    let summary = &events(&check, "check_summary")[0];
    assert_eq!((check.code, &summary["failed"], &summary["skipped"]), (1, &2.into(), &0.into()), "{}", check.stdout);
}

#[test]
fn dependents_of_a_forced_cell_may_run() {
    let text = r#"
cwm: 1
stages:
  a: { stage: command, with: { run: 'date +%N > "$out"' } }
  b: { stage: command, from: a, with: { run: 'wc -c < "$in" > "$out"' } }
  c: { stage: command, from: b, with: { run: 'cp "$in" "$out"' } }
  d: { stage: command, with: { run: 'echo 1 > "$out"' } }
"#;
    let context = context(text);
    context.run(&[]);
    let dry = context.cwm(&["run", "--dry-run", "--force", "a"]);
    let cause = "             depends on a, which is forced: runs if its result changes";
    for label in ["b", "c"] {
        assert!(dry.stderr.contains(&format!("may run    {label}\n{cause}")), "{}", dry.stderr);
    }
    assert!(dry.stderr.contains("would run 1, may run 2, cached 1, would fail 0"), "{}", dry.stderr);
    let json = context.cwm(&["run", "--dry-run", "--force", "a", "--json"]);
    let would = events(&json, "would_run");
    let certain: Vec<_> = would.iter().map(|event| event["uncertain"] == false).collect();
    assert_eq!(certain, [true, false, false], "{}", json.stdout);
    assert_eq!(would[1]["cause"][0], cause.trim());
    context.run(&["--force", "a"]).ran_just(&["a", "b"]);
}

#[test]
fn dependents_of_a_rebuilt_equal_result_are_cached_and_reported() {
    let text = r#"
cwm: 1
stages:
  a: { stage: command, keep: false, with: { run: 'echo 1 > "$out"' } }
  b: { stage: command, from: a, with: { run: 'wc -c < "$in" > "$out"' } }
  c: { stage: command, from: a, with: { run: 'tr 1 3 < "$in" > "$out"; echo NEW' } }
"#;
    let context = context(text);
    context.run(&[]);
    context.edit("pipeline.yaml", "NEW", "newer");
    let dry = context.cwm(&["run", "--dry-run", "--json"]);
    let cached = events(&dry, "cached");
    let origin = cached[0]["origin"].as_str().unwrap_or_default();
    assert_eq!((cached.len(), &cached[0]["label"]), (1, &"b".into()), "{}", dry.stdout);
    assert!(origin.ends_with("; runs if a, which is computed again, has another result"), "{origin}");
}

#[test]
fn a_cell_skipped_by_two_failures_names_both_and_messages_have_their_own_lines() {
    let text = r#"
cwm: 1
stages:
  a: { stage: command, with: { run: 'printf half; exit 3' } }
  b: { stage: command, with: { run: 'printf other; sleep 0.5; exit 4' } }
  c: { stage: command, from: { a: a, b: b }, with: { run: 'cat "$in_a" "$in_b" > "$out"' } }
"#;
    let context = context(text);
    let run = context.run(&["-j2"]);
    let failures = &events(&run.raw, "failures")[0];
    let skipped = &failures["skipped"];
    assert_eq!((&skipped[0]["label"], &skipped[0]["blocked_by"]), (&"c".into(), &"a".into()), "{skipped}");
    assert_eq!(skipped[0]["failed_later"], serde_json::json!(["b"]));
    let plain = context.cwm(&["run", "-j2"]).stderr;
    assert_eq!(plain.matches("skipped because of it: c").count(), 2, "{plain}");
    let log = fs::read_to_string(failures["failed"][0]["log"].as_str().expect("a log")).expect("the log");
    assert!(log.starts_with("half\n"), "{log}");
}

#[test]
fn status_and_why_report_that_a_run_starts_only_when_its_files_exist() {
    let text = r#"
cwm: 1
stages:
  a: { stage: command, from: { f: { file: none.txt } }, with: { run: 'cp "$in_f" "$out"' } }
  b: { stage: command, with: { run: 'echo 1 > "$out"' } }
"#;
    let context = context(text);
    let hint = "hint: files that these read are missing or unreadable: `cwm run` begins only when all can be read\n";
    for words in [&["status"][..], &["why", "a", "b"]] {
        let ran = context.cwm(words);
        assert_eq!((ran.code, ran.stderr.contains(hint)), (0, true), "{}{}", ran.stdout, ran.stderr);
    }
    assert_eq!((context.cwm(&["run"]).code, context.cwm(&["run", "b"]).code), (3, 0));
    for words in [&["status", "b"][..], &["why", "b"], &["status", "--json"]] {
        assert!(!context.cwm(words).stderr.contains("hint"), "{words:?}");
    }
}
