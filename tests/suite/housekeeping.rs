//! Results that a store keeps, evicts and lists: `gc`, `keep: false`, `du`, `ls`, `tag`, `accept`, through the binary.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::context::Context;

/// first -> second -> third, each with a file of its own.
const CHAIN: &str = r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'seq 1 1000 > "$out"', tuning: 1 } }
  second: { stage: command, from: first, with: { run: 'cat "$in" "$in" > "$out"' } }
  third: { stage: command, from: second, with: { run: 'wc -l < "$in" > "$out"', last: 1 } }
"#;

fn chain() -> Context {
    let context = Context::with(CHAIN);
    context.run(&[]).ran_just(&["first", "second", "third"]);
    context
}

impl Context {
    /// The JSON that a command prints; it must go well.
    #[track_caller]
    fn reported(&self, arguments: &[&str]) -> Value {
        let ran = self.cwm(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
    }

    #[track_caller]
    fn is_clean(&self) {
        let ran = self.cwm(&["store", "verify"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn gc_evicts_what_no_lock_file_names_and_a_run_rebuilds_it_with_that_cause() {
    let context = chain();
    assert!(context.cwm(&["store", "gc"]).stdout.contains("nothing to delete"));
    context.edit("pipeline.yaml", "seq 1 1000", "seq 1 2000");
    context.run(&[]).ran_just(&["first", "second", "third"]);
    let before = context.inventory("artifacts/objects");
    let dry = context.reported(&["store", "gc", "--json"]);
    assert_eq!(context.inventory("artifacts/objects"), before, "it only says what would go");
    assert_eq!(dry["deleted"], false);
    let stages: Vec<&str> = dry["stages"].as_array().unwrap().iter().map(|s| s["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["second", "first", "third"], "the most bytes first");
    assert!(context.cwm(&["store", "gc", "--keep", "1d"]).stdout.contains("nothing to delete"));

    let done = context.reported(&["store", "gc", "--delete", "--json"]);
    assert_eq!(done["stages"], dry["stages"]);
    assert_eq!(done["bytes"], dry["bytes"]);
    context.is_clean();
    context.run(&[]).ran_just(&[]);
    // Put back: the records are there, and only what is needed is made again.
    context.edit("pipeline.yaml", "seq 1 2000", "seq 1 1000");
    let why = context.cwm(&["why", "third"]);
    assert!(why.stdout.contains("`cwm store gc`"), "{}", why.stdout);
    let status = context.cwm(&["status"]);
    assert!(status.stdout.contains("3 would run"), "{}", status.stdout);
    let run = context.run(&[]);
    run.ran_just(&["first", "second", "third"]);
    assert_eq!(run.causes["first"], "its files were deleted by `cwm store gc`");
    context.is_clean();
    assert!(context.cwm(&["status"]).stdout.contains("3 cached"));
}

#[test]
fn gc_keeps_what_another_pipeline_on_the_store_names() {
    let context = chain();
    context.write("other.yaml", &CHAIN.replace("seq 1 1000", "seq 1 3000"));
    context.cwm(&["run", "other.yaml"]);
    fs::remove_file(context.path("pipeline.lock")).unwrap();
    let dry = context.reported(&["store", "gc", "--json"]);
    assert_eq!(dry["bytes"], 0, "a lock file that is gone counts for a while: {dry}");
    let roots = dry["roots"].as_array().unwrap();
    assert_eq!(roots.len(), 2);
    assert_eq!(roots.iter().filter(|root| root["note"].as_str().is_some_and(|note| note.contains("gone"))).count(), 1);
    assert_eq!(context.cwm(&["store", "gc", "--forget", "pipeline.lock", "--delete"]).code, 0);
    assert_eq!(context.cwm(&["store", "gc", "--forget", "pipeline.lock"]).code, 2);
    assert_eq!(context.cwm(&["run", "other.yaml", "--json"]).stdout.matches("\"cached\"").count(), 4);
    context.is_clean();
}

#[test]
fn forgetting_a_lock_file_that_exists_is_a_warning_and_its_next_run_keeps_its_results() {
    let context = chain();
    let forgotten = context.cwm(&["store", "gc", "--forget", "pipeline.lock"]);
    assert_eq!(forgotten.code, 0, "{}", forgotten.stderr);
    assert_eq!(
        forgotten.stderr,
        "warning: pipeline.lock still exists; until its pipeline runs again, `cwm store gc --delete` deletes what only \
         it names\n"
    );
    assert!(forgotten.stdout.contains("to delete with `--delete`"), "{}", forgotten.stdout);
    context.run(&[]).ran_just(&[]);
    assert!(context.cwm(&["store", "gc"]).stdout.contains("nothing to delete"));
}

#[test]
fn a_no_op_run_writes_nothing_even_with_roots() {
    let context = chain();
    context.run(&[]).ran_just(&[]);
    let before = context.inventory("artifacts");
    context.run(&[]).ran_just(&[]);
    let after = context.inventory("artifacts");
    let changed: Vec<_> = after.iter().filter(|(path, is)| before.get(*path) != Some(is)).collect();
    assert!(changed.is_empty(), "{changed:?}");
}

#[test]
fn the_file_by_which_git_ignores_a_store_is_neither_damage_nor_garbage() {
    let context = Context::with(CHAIN);
    fs::create_dir(context.path(".git")).unwrap();
    context.run(&[]).ran_just(&["first", "second", "third"]);
    context.is_clean();
    assert!(context.cwm(&["store", "gc", "--delete"]).stdout.contains("nothing to delete"));
    assert_eq!(context.read("artifacts/.gitignore"), "*\n");
}

#[test]
fn gc_waits_for_a_run_and_takes_nothing_that_it_made() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  quick: { stage: command, with: { run: 'echo quick > "$out"' } }
  slow: { stage: command, from: quick, env: [GATE], with: { run: 'touch "$GATE.there"; while [ ! -e "$GATE" ]; do sleep 0.02; done; cat "$in" > "$out"' } }
"#,
    );
    let gate = context.path("gate");
    let mut run = context.command(&["run"]).env("GATE", &gate).spawn().unwrap();
    context.await_file("gate.there");
    let mut gc = context.command(&["store", "gc", "--delete"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut gc_told = String::new();
    let mut stderr = std::io::BufReader::new(gc.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut stderr, &mut gc_told).unwrap();
    assert!(gc_told.contains("waiting for users of the store: `"), "{gc_told}");
    fs::write(&gate, "").unwrap();
    assert!(run.wait().unwrap().success());
    assert!(gc.wait().unwrap().success());
    for stage in ["quick", "slow"] {
        let path = context.command(&["show", "--path", stage]).env("GATE", &gate).output().unwrap();
        assert_eq!(fs::read_to_string(String::from_utf8_lossy(&path.stdout).trim()).unwrap(), "quick\n");
    }
    context.is_clean();
}

#[test]
fn gc_keeps_what_a_killed_run_had_finished() {
    let context = Context::with(
        r#"
cwm: 1
vars: { n: 1 }
stages:
  quick: { stage: command, with: { run: 'echo $n > "$out"', n: $n } }
  slow: { stage: command, from: quick, env: [NAP], with: { run: 'sleep $NAP; cat "$in" > "$out"' } }
"#,
    );
    for set in [&[][..], &["--set", "n=2"]] {
        let mut run = context.command(&[&["run"], set].concat()).env("NAP", "600").spawn().unwrap();
        // A run with `--set` has a lock file of its own.
        let names_quick = |lock: PathBuf| std::fs::read_to_string(lock).is_ok_and(|text| text.contains("quick"));
        let files = || std::fs::read_dir(context.path(".cwm/pipeline")).into_iter().flatten().flatten();
        let is_locked = || match set {
            [] => names_quick(context.path("pipeline.lock")),
            _ => files()
                .map(|file| file.path())
                .filter(|path| path.extension().is_some_and(|end| end == "lock"))
                .any(names_quick),
        };
        for _ in 0..2400 {
            if is_locked() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        run.kill().and_then(|()| run.wait()).unwrap();
        let gc = context.cwm(&["store", "gc", "--delete"]);
        assert!(gc.stdout.contains("nothing to delete"), "{set:?}: {}{}", gc.stdout, gc.stderr);
        let rest = context.command(&[&["run", "--json"], set].concat()).env("NAP", "0").output().unwrap();
        crate::context::Run::read(crate::context::finish(rest)).ran_just(&["slow"]);
    }
    context.is_clean();
}

#[test]
fn invalid_ages_and_sizes_are_errors() {
    let context = chain();
    for arguments in [
        &["store", "gc", "--keep", "soon"][..],
        &["store", "gc", "--max-size", "lots"],
        &["store", "gc", "--keep", "-1d"],
    ] {
        let ran = context.cwm(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}");
    }
    assert!(context.cwm(&["store", "gc", "--max-size", "1B"]).stdout.contains("what must stay is more than 1 B"));
}

#[test]
fn unkept_files_are_evicted_after_their_readers_and_rebuilt_when_needed() {
    let context = Context::with(&CHAIN.replace("second: { stage: command,", "second: { stage: command, keep: false,"));
    let run = context.run(&[]);
    run.ran_just(&["first", "second", "third"]);
    assert!(run.raw.stdout.contains("evicted (`keep: false`)"), "{}", run.raw.stdout);
    let listed = context.reported(&["store", "ls", "second", "--json"]);
    assert_eq!(listed[0]["state"], "not kept");
    let bytes = listed[0]["digest"].clone();
    let status = context.cwm(&["status"]);
    assert!(status.stdout.contains("2 cached, 1 not kept"), "{}", status.stdout);
    assert!(context.cwm(&["why", "second"]).stdout.contains("second: cached"));
    context.is_clean();
    assert!(context.cwm(&["store", "gc"]).stdout.contains("nothing to delete"));

    let before = context.inventory("artifacts/objects");
    let run = context.run(&[]);
    run.ran_just(&[]);
    assert_eq!(run.cached.len(), 3);
    assert_eq!(context.inventory("artifacts/objects"), before);

    // What reads it changes: it is made again, the same bytes, and goes again.
    context.edit("pipeline.yaml", "last: 1", "last: 2");
    let run = context.run(&[]);
    run.ran_just(&["second", "third"]);
    assert_eq!(run.causes["second"], "its files were evicted (`keep: false`)");
    let listed = context.reported(&["store", "ls", "second", "--json"]);
    assert_eq!((&listed[0]["state"], &listed[0]["digest"]), (&Value::from("not kept"), &bytes));

    // Asked for by name it is still made again at need only; without `keep: false` the next that reads it keeps it.
    context.edit("pipeline.yaml", "keep: false, ", "");
    context.edit("pipeline.yaml", "last: 2", "last: 3");
    context.run(&[]).ran_just(&["second", "third"]);
    assert_eq!(context.reported(&["store", "ls", "second", "--json"])[0]["state"], "present");
    assert!(context.cwm(&["status"]).stdout.contains("3 cached"));
    context.is_clean();
}

#[test]
fn unkept_files_stay_while_a_tag_pipeline_export_or_equal_content_needs_them() {
    let not_kept = CHAIN.replace("second: { stage: command,", "second: { stage: command, keep: false,");
    let state = |context: &Context| context.reported(&["store", "ls", "second", "--json"])[0]["state"].clone();

    let exported = Context::with(&format!("{not_kept}export: {{ second: out }}\n"));
    exported.run(&[]).ran_just(&["first", "second", "third"]);
    assert_eq!(state(&exported), "present");

    let equal =
        "  equal: { stage: command, from: first, with: { run: 'cat \"$in\" > \"$out\"; cat \"$in\" >> \"$out\"' } }\n";
    let shared = Context::with(&format!("{not_kept}{equal}"));
    shared.run(&[]).ran_just(&["first", "second", "third", "equal"]);
    assert_eq!(state(&shared), "present");

    let other = Context::with(CHAIN);
    other.run(&[]).ran_just(&["first", "second", "third"]);
    other.write("not-kept.yaml", &not_kept);
    other.cwm(&["run", "not-kept.yaml"]);
    assert_eq!(state(&other), "present", "pipeline.lock names it");

    let tagged = chain();
    assert_eq!(tagged.cwm(&["store", "tag", "mine", "second"]).code, 0);
    tagged.write("pipeline.yaml", &not_kept);
    tagged.run(&[]).ran_just(&[]);
    assert_eq!(state(&tagged), "present");
    assert_eq!(tagged.cwm(&["store", "tag", "mine", "--delete"]).code, 0);
    tagged.run(&[]).ran_just(&[]);
    assert_eq!(state(&tagged), "not kept");
    tagged.is_clean();

    // A part of the pipeline leaves it to the readers that have not run.
    let part = Context::with(&format!(
        "{not_kept}  fourth: {{ stage: command, from: second, with: {{ run: 'wc -c < \"$in\" > \"$out\"' }} }}\n"
    ));
    part.run(&["third"]).ran_just(&["first", "second", "third"]);
    assert_eq!(state(&part), "present");
    part.run(&[]).ran_just(&["fourth"]);
    assert_eq!(state(&part), "not kept");

    let wrong = Context::with(&CHAIN.replace("second: { stage: command,", "second: { stage: command, keep: maybe,"));
    let ran = wrong.cwm(&["run"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("`keep` must be true or false"), "{}", ran.stderr);
}

#[test]
fn a_tag_names_results_as_they_are_now_keeps_them_and_can_be_compared() {
    let context = chain();
    assert_eq!(context.cwm(&["store", "tag", "v1"]).code, 0);
    let third = context.reported(&["store", "ls", "third", "--json"])[0]["key"].as_str().unwrap().to_owned();
    assert_eq!(context.cwm(&["store", "tag", "only", &third[..12]]).code, 0);
    context.edit("pipeline.yaml", "seq 1 1000", "seq 1 2000");
    context.run(&[]).ran_just(&["first", "second", "third"]);
    assert_eq!(context.cwm(&["diff", "tag:v1", "."]).code, 7);
    assert_eq!(context.cwm(&["diff", "tag:v1", "tag:v1"]).code, 0);
    assert!(context.cwm(&["store", "gc", "--delete"]).stdout.contains("nothing to delete"));
    assert_eq!(context.reported(&["store", "tag", "--json"]).as_array().unwrap().len(), 2);
    assert_eq!(
        context.reported(&["store", "tag", "v1", "--list", "--json"])[0]["cells"],
        serde_json::json!(["first", "second", "third"])
    );
    assert_eq!(context.reported(&["store", "ls", "tag:only", "--json"])[0]["key"], third);
    let listed = context.reported(&["store", "ls", "--all", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 6);
    assert_eq!(listed.as_array().unwrap().iter().filter(|row| row["locked"] == true).count(), 3);

    for (arguments, words) in [
        (&["store", "tag", "v1"][..], "there is a tag `v1` already"),
        (&["store", "tag", "../v1"], "cannot name a tag"),
        (&["store", "tag", "-x"], "unexpected argument"),
        (&["store", "tag", "none", "--delete"], "there is no tag `none`"),
        (&["store", "tag", "new", "fourth"], "there is no result of `fourth`"),
        (&["store", "tag", "new", "0123456789ab"], "no key or digest in the store begins with 0123456789ab"),
        (&["diff", "tag:none", "."], "there is no tag `none`"),
        (&["store", "ls", "tag:none"], "there is no tag `none`"),
    ] {
        let ran = context.cwm(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(context.cwm(&["store", "tag", "v1", "--replace"]).code, 0);
    assert_eq!(context.cwm(&["diff", "tag:v1", "."]).code, 0);
    assert_eq!(
        context.reported(&["store", "tag", "only", "--delete", "--json"]),
        serde_json::json!([{ "name": "only", "cells": ["third"] }])
    );
    let gone = context.reported(&["store", "gc", "--delete", "--json"]);
    assert_eq!(gone["stages"].as_array().unwrap().len(), 3);
    let states: Vec<_> = context
        .reported(&["store", "ls", "--all", "--json"])
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["state"].clone())
        .collect();
    assert_eq!(states.iter().filter(|state| *state == "collected").count(), 3);
}

#[test]
fn a_damaged_tag_is_reported_and_stops_gc_until_it_is_renewed() {
    let context = chain();
    for damage in ["cut", "emptied"] {
        assert_eq!(context.cwm(&["store", "tag", "v1", "--replace"]).code, 0);
        let tag = context.path("artifacts/tags/v1.lock");
        let text = fs::read_to_string(&tag).unwrap();
        fs::remove_file(&tag).unwrap();
        fs::write(&tag, if damage == "cut" { &text[..text.len() - 60] } else { "" }).unwrap();
        for gc in [&["store", "gc"][..], &["store", "gc", "--delete"]] {
            let ran = context.cwm(gc);
            assert_eq!(ran.code, 4, "{damage}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("v1.lock is damaged") && ran.stderr.contains("--delete"), "{}", ran.stderr);
        }
        let verify = context.cwm(&["store", "verify"]);
        assert_eq!(verify.code, 5, "{damage}: {}{}", verify.stdout, verify.stderr);
        assert!(verify.stdout.contains("v1.lock is damaged") && tag.exists(), "{}", verify.stdout);
        for tells in
            [&["store", "tag"][..], &["store", "tag", "--list", "v1"], &["store", "ls"], &["store", "ls", "tag:v1"]]
        {
            let ran = context.cwm(tells);
            assert!(ran.stderr.contains("v1.lock is damaged"), "{damage} {tells:?}: {}{}", ran.stdout, ran.stderr);
        }
        assert!(context.reported(&["store", "tag", "--json"])[0]["damaged"].is_string());
        assert_eq!(context.cwm(&["store", "tag", "v1", "--replace"]).code, 0);
        assert!(context.reported(&["store", "tag", "--json"])[0].get("damaged").is_none());
        context.is_clean();
        assert_eq!(context.cwm(&["store", "gc", "--delete"]).code, 0);
    }
}

#[test]
fn a_lock_file_that_cannot_be_read_as_a_whole_is_reported_and_not_tagged() {
    let context = chain();
    let text = context.read("pipeline.lock");
    context.write("pipeline.lock", &text[..text.len() - 60]);
    let before = context.inventory("artifacts/objects");
    let gc = context.cwm(&["store", "gc", "--delete"]);
    assert_eq!(gc.code, 0, "{}{}", gc.stdout, gc.stderr);
    assert!(gc.stdout.contains("cannot be read as a whole (line "), "{}", gc.stdout);
    assert_eq!(context.inventory("artifacts/objects"), before);
    assert!(context.cwm(&["store", "ls"]).stderr.contains("warning: "), "{}", context.cwm(&["store", "ls"]).stderr);
    let tag = context.cwm(&["store", "tag", "v1"]);
    assert_eq!(tag.code, 4, "{}{}", tag.stdout, tag.stderr);
    assert!(tag.stderr.contains("error: cannot read "), "{}", tag.stderr);
    context.write("pipeline.lock", "");
    assert!(context.cwm(&["status"]).stderr.contains("`cwm-lock: 1` is missing"));
    context.cwm(&["store", "gc", "--delete"]);
    assert_eq!(context.inventory("artifacts/objects"), before);
    context.run(&[]).ran_just(&[]);
    assert_eq!(context.read("pipeline.lock"), text);
}

#[test]
fn a_store_that_is_not_there_is_reported() {
    let context = chain();
    fs::rename(context.path("artifacts"), context.path("elsewhere")).unwrap();
    for command in ["verify", "gc", "du", "ls"] {
        let named = context.cwm(&["store", command, "--store", "/nonexistent"]);
        assert_eq!(named.code, 4, "{command}: {}{}", named.stdout, named.stderr);
        assert!(named.stderr.contains("there is no store in /nonexistent"), "{}", named.stderr);
        assert_eq!(context.cwm(&["store", command, "--store", "elsewhere"]).code, 0);
        let own = context.cwm(&["store", command]);
        assert_eq!(own.code, 0, "{command}: {}{}", own.stdout, own.stderr);
        assert!(own.stderr.contains("there is no store in ") && own.stderr.contains("yet"), "{}", own.stderr);
    }
    assert_eq!(context.cwm(&["store", "gc", "--delete", "--store", "/nonexistent"]).code, 4);
    let rows = context.reported(&["store", "ls", "--json"]);
    assert_eq!(rows.as_array().unwrap().len(), 3, "{rows}");
    for row in rows.as_array().unwrap() {
        assert_eq!((&row["state"], &row["locked"]), (&"not here".into(), &true.into()), "{row}");
        assert!(row["bytes"].is_null() && row["digest"].is_string(), "{row}");
    }
    let words = context.cwm(&["store", "ls", "second"]).stdout;
    assert!(words.starts_with("second.out") && words.contains("(not here)") && words.lines().count() == 1, "{words}");
    assert!(!context.path("artifacts").exists(), "to look makes none");
}

#[test]
fn du_counts_by_stage_and_what_is_shared_once() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'head -c 5000 /dev/zero > "$out"' } }
  second: { stage: command, from: first, with: { run: 'cat "$in" > "$out"; exit 0' } }
  third: { stage: command, from: first, with: { run: 'head -c 7000 /dev/zero > "$out"' } }
"#,
    );
    context.run(&[]).ran_just(&["first", "second", "third"]);
    let reported = context.reported(&["store", "du", "--json"]);
    let of = |name: &str| {
        let stages = reported["usage"]["stages"].as_array().unwrap().clone();
        stages.into_iter().find(|stage| stage["stage"] == name).unwrap()
    };
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!((number(&of("first")["shared_bytes"]), number(&of("second")["shared_bytes"])), (5000, 5000));
    assert!(number(&of("third")["own_bytes"]) >= 7000);
    let content: u64 = context
        .inventory("artifacts/objects")
        .into_iter()
        .filter(|(path, _)| path.is_file())
        .map(|(_, (_, bytes))| bytes)
        .sum();
    assert_eq!(number(&reported["usage"]["content_bytes"]), content);
    let own: u64 = ["first", "second", "third"].iter().map(|name| number(&of(name)["own_bytes"])).sum();
    assert_eq!(own + 5000, content);
    assert_eq!(context.cwm(&["store", "du", "fourth"]).code, 2);
    assert!(!context.cwm(&["store", "du", "third"]).stdout.contains("second"));
}

/// A remark in a script: people know that its result stays, and cwm does not.
#[test]
fn accept_previous_keeps_the_result_of_a_command_whose_script_changed() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, deps: [first.sh], outputs: { numbers: file, more: folder }, with: { run: 'sh first.sh' } }
  second: { stage: command, from: first.numbers, with: { run: 'cat "$in" > "$out"; date +%N >> "$out"' } }
"#,
    );
    let script = "date +%N > \"$out_numbers\"; mkdir -p \"$out_more\"; date > \"$out_more/x\"\n";
    context.write("first.sh", script);
    let none = context.cwm(&["accept", "first", "--previous"]);
    assert!(none.code == 2 && none.stderr.contains("has no previous result"), "{}", none.stderr);
    context.run(&[]).ran_just(&["first", "second"]);
    let has = context.cwm(&["accept", "first", "--previous"]);
    assert!(has.code == 2 && has.stderr.contains("first has a result: "), "{}", has.stderr);
    let second = context.output("second");

    context.write("first.sh", &format!("# A remark.\n{script}"));
    let refused = context.cwm(&["accept", "first"]).stderr;
    assert!(refused.contains("`cwm accept first --previous`"), "{refused}");
    assert_eq!(context.cwm(&["accept", "first.more", "--previous"]).code, 2);
    assert_eq!(context.cwm(&["accept", "first", "--files", "x", "--previous"]).code, 2);
    let taken = context.cwm(&["accept", "first", "--previous"]);
    assert_eq!(taken.code, 0, "{}", taken.stderr);
    let status = context.cwm(&["status"]).stdout;
    assert!(status.contains("not computed: recorded from the result ") && !status.contains("/objects/"), "{status}");
    context.run(&[]).ran_just(&[]);
    assert_eq!(context.output("second"), second);
    context.is_clean();

    // What is not there cannot be taken.
    context.write("first.sh", &format!("# Another.\n{script}"));
    std::fs::remove_dir_all(context.path("artifacts/objects")).expect("objects");
    let gone = context.cwm(&["accept", "first", "--previous"]);
    assert!(gone.code == 2 && gone.stderr.contains("missing from the store"), "{}", gone.stderr);
}

#[test]
fn accept_previous_keeps_the_results_of_all_cells_of_a_matrix_or_none() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  model: { stage: command, matrix: { seed: [0, 1, 2] }, with: { run: 'date +%N > "$out"', seed: $seed } }
"#,
    );
    context.run(&[]).ran_just(&["model[seed=0]", "model[seed=1]", "model[seed=2]"]);
    let before = context.output("model[seed=1]");
    context.edit("pipeline.yaml", "'date", "'  date");
    context.edit("pipeline.yaml", "[0, 1, 2]", "[0, 1, 2, 3]");
    let none = context.cwm(&["accept", "model", "--previous"]);
    assert!(none.code == 2 && none.stderr.contains("model[seed=3] has no previous result"), "{}", none.stderr);
    assert_eq!(context.cwm(&["show", "--path", "model[seed=0]"]).code, 2, "nothing was recorded");
    // What has a result keeps it.
    context.run(&["model[seed=3]"]).ran_just(&["model[seed=3]"]);
    let kept = context.cwm(&["accept", "model", "--previous"]);
    assert!(kept.code == 0 && kept.stderr == "recorded the previous results of 3 cells of model\n", "{}", kept.stderr);
    context.run(&[]).ran_just(&[]);
    assert_eq!(context.output("model[seed=1]"), before);
    let has = context.cwm(&["accept", "model", "--previous"]);
    assert!(has.code == 2 && has.stderr.contains("model[seed=0] has a result: "), "{}", has.stderr);
    let lock = context.cwm(&["accept", "model", "--previous", "./old.lock"]);
    assert!(lock.code == 2 && lock.stderr.contains("`--previous` takes no lock file"), "{}", lock.stderr);
    context.is_clean();
}

#[test]
fn hints_of_accept_name_each_command_and_each_source_once() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, outputs: { a: file, b: file }, with: { run: 'echo 1 > "$out_a"; echo 2 > "$out_b"' } }
  model:
    stage: command
    from: { a: first.a, b: first.b }
    matrix: { seed: [0, 1] }
    with: { run: 'cat "$in_a" "$in_b" > "$out"', seed: $seed }
"#,
    );
    let early = context.cwm(&["accept", "model[seed=0]", "--files", "pipeline.yaml"]);
    assert!(early.code == 2 && early.stderr.ends_with("hint: `cwm run first` first\n"), "{}", early.stderr);
    context.run(&[]).ran_just(&["first", "model[seed=0]", "model[seed=1]"]);
    context.edit("pipeline.yaml", "'cat", "'  cat");
    let both = context.cwm(&["accept", "--probed", "model"]);
    assert_eq!(both.code, 10, "{}", both.stderr);
    assert_eq!(both.stdout.matches("not accepted: model[seed=").count(), 2, "{}", both.stdout);
    assert!(!both.stdout.contains("--previous"), "{}", both.stdout);
    assert_eq!(both.stderr, "hint: `cwm accept model --previous` keeps its previous results\n");
    let one = context.cwm(&["accept", "model[seed=1]"]);
    let hint = "; nothing was accepted\nhint: `cwm accept 'model[seed=1]' --previous` keeps its previous results\n";
    assert!(one.code == 2 && one.stderr.ends_with(hint), "{}", one.stderr);
}

#[test]
fn accept_files_makes_files_a_result_and_every_command_reports_it() {
    let context = Context::with(CHAIN);
    context.write("given.txt", "1\n2\n3\n");
    let early = context.cwm(&["accept", "second", "--files", "given.txt"]);
    assert_eq!(early.code, 2);
    assert!(
        early.stderr.contains("the key of second is not known") && early.stderr.contains("`cwm run first`"),
        "{}",
        early.stderr
    );
    context.run(&["first"]).ran_just(&["first"]);
    for wrong in [
        &["accept", "second", "--files", "none.txt"][..],
        &["accept", "second", "--files", "out=given.txt", "out=given.txt"],
        &["accept", "second", "--files", "other=given.txt"],
        &["accept", "second", "--files", "artifacts"],
    ] {
        assert_ne!(context.cwm(wrong).code, 0, "{wrong:?}");
    }
    for (wrong, message) in [
        (&["first", "second", "--files", "given.txt"][..], "one stage gets the result, and 2 are named"),
        (&["--files", "given.txt"], "hint: `cwm accept STAGE --files FILE`"),
        (&["second.zz", "--files", "given.txt"], "stage `second` has no output `zz`"),
        (&["second", "--files", "zz=given.txt"], "there is no file zz=given.txt"),
    ] {
        let ran = context.cwm(&[&["accept"][..], wrong].concat());
        assert!(ran.code == 2 && ran.stderr.contains(message), "{wrong:?}: {}", ran.stderr);
    }
    let absent = context.cwm(&["accept", "second", "--files", "none.txt"]);
    assert!(absent.code == 2 && absent.stderr.contains("there is no file none.txt"), "{}", absent.stderr);
    assert_eq!(context.reported(&["accept", "second", "--files", "given.txt", "--json"])["new"], true);
    context.write("given.txt", "changed afterwards");
    assert_eq!(context.output("second"), "1\n2\n3\n");
    for command in ["why", "status", "show"] {
        let ran = context.cwm(if command == "status" { &["status"] } else { &[][..] });
        let ran = if command == "status" { ran } else { context.cwm(&[command, "second"]) };
        assert!(ran.stdout.contains("not computed: recorded from "), "{command}: {}", ran.stdout);
    }
    let run = context.run(&[]);
    run.ran_just(&["third"]);
    assert!(run.raw.stdout.contains("not computed: recorded from "), "{}", run.raw.stdout);
    assert_eq!(context.output("third").trim(), "3");
    context.is_clean();

    // What is recorded is replaced only when asked for, and stays recorded.
    let refused = context.cwm(&["accept", "third", "--files", "given.txt"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("third has a result: ")
            && refused.stderr.contains("hint: `cwm accept third --files given.txt --replace` records your files"),
        "{}",
        refused.stderr
    );
    context.write("mine.txt", "30\n");
    assert_eq!(context.cwm(&["accept", "third", "--files", "mine.txt", "--replace"]).code, 0);
    context.run(&[]).ran_just(&[]);
    assert_eq!(context.output("third"), "30\n");
    assert_eq!(context.reported(&["store", "ls", "third", "--all", "--json"]).as_array().unwrap().len(), 2);
    // It cannot be made again, so only `--sources` lets it go.
    context.edit("pipeline.yaml", "seq 1 1000", "seq 1 2000");
    context.run(&[]).ran_just(&["first", "second", "third"]);
    context.cwm(&["store", "gc", "--delete"]);
    let states = |context: &Context| -> Vec<String> {
        let rows = context.reported(&["store", "ls", "second", "--all", "--json"]);
        rows.as_array().unwrap().iter().map(|row| row["state"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(states(&context), ["present", "present"]);
    context.cwm(&["store", "gc", "--delete", "--sources"]);
    assert_eq!(states(&context), ["collected", "present"]);
    context.is_clean();
}

#[test]
fn an_accepted_result_that_is_computed_again_counts_as_computed() {
    let context = chain();
    context.edit("pipeline.yaml", "wc -l < \"$in\"", "wc  -l < \"$in\"");
    let accepted = context.cwm(&["accept", "third", "--previous"]);
    assert_eq!(accepted.code, 0, "{}", accepted.stderr);
    let is_computed = || {
        let shown = ["show", "why"].map(|command| context.cwm(&[command, "third"]));
        assert!(shown.iter().all(|ran| ran.code == 0 && ran.stdout.contains("third")), "{}", shown[0].stderr);
        shown.map(|ran| !ran.stdout.contains("not computed: recorded from "))
    };
    assert_eq!(is_computed(), [false, false]);
    context.run(&["--force", "third"]).ran_just(&["third"]);
    assert_eq!(is_computed(), [true, true]);
    context.run(&[]).ran_just(&[]);
    context.is_clean();
}

#[test]
fn modified_objects_are_not_listed_as_present() {
    let context = chain();
    let object = fs::canonicalize(context.cwm(&["show", "--path", "second"]).stdout.trim()).expect("an object");
    let mut bytes = fs::read(&object).expect("its bytes");
    bytes[0] ^= 1;
    fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).expect("writable");
    fs::write(&object, bytes).expect("changed");
    assert_eq!(context.reported(&["store", "ls", "second", "--json"])[0]["state"], "changed");
    assert!(context.cwm(&["store", "ls"]).stdout.contains("(changed)"));
}
