//! Commands that a run must not execute, and files that it must not write. Commands are counted by the files that they write
//! outside the store, not by the output of `cwm`.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::context::Context;

/// A chain with a script and two parameters in the middle (`hidden` is not written), a fan and a join. Every command tells
/// `executed`, outside, that it ran.
fn graph() -> Context {
    let context = Context::new();
    let executed = context.path("executed").display().to_string();
    let tell = |name: &str| format!("echo {name} >> {executed}");
    let cat = |name: &str, from: &str, read: &str| {
        let run = format!("cat {read} > \"$out\"; echo {name} >> \"$out\"; {}", tell(name));
        format!("  {name}: {{ stage: command, {from}with: {{ run: '{run}' }} }}\n")
    };
    let middle = format!("sh work.sh \"$shown\" < \"$in\" > \"$out\"; {}", tell("middle"));
    let mut text = String::from("cwm: 1\nstages:\n");
    text += &cat("first", "", "/dev/null");
    text += &format!(
        "  middle: {{ stage: command, from: first, deps: [work.sh], with: {{ run: '{middle}', shown: 1, hidden: 1 }} }}\n"
    );
    let fan = ["a", "b", "c", "d"];
    fan.iter().for_each(|name| text += &cat(name, "from: middle, ", "\"$in\""));
    text += &cat("join", &format!("from: {{ parts: [{}] }}, ", fan.join(", ")), "\"$in_parts\"/*");
    context.write("pipeline.yaml", &text);
    context.write_old("work.sh", "cat; echo \"$1\"\n");
    assert_eq!(executed_by_a_run(&context), 7);
    context
}

/// Returns the number of commands that a run executes.
fn executed_by_a_run(context: &Context) -> usize {
    let count = || std::fs::read_to_string(context.path("executed")).map_or(0, |reported| reported.lines().count());
    let before = count();
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    count() - before
}

/// Everything in the store, with what the file system says of it. The times of locks' folders and files are part of it.
fn everything(context: &Context) -> BTreeMap<PathBuf, (u64, i128, i128, u64)> {
    let time = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    let mut found: BTreeMap<_, _> = BTreeMap::new();
    for path in context.inventory("artifacts").into_keys().chain([context.path("artifacts")]) {
        let stat = std::fs::symlink_metadata(&path).expect("metadata");
        let times = (time(stat.mtime(), stat.mtime_nsec()), time(stat.ctime(), stat.ctime_nsec()));
        found.insert(path, (stat.ino(), times.0, times.1, stat.size()));
    }
    found
}

/// Lets the digest of the script be remembered, which is the one thing that a run writes when nothing changed.
fn settle(context: &Context) {
    std::thread::sleep(std::time::Duration::from_millis(2_050));
    assert_eq!(executed_by_a_run(context), 0);
}

#[test]
fn nothing_changed_executes_nothing_and_touches_nothing_in_the_store_or_beside_it() {
    let context = graph();
    settle(&context);
    let lock = || std::fs::metadata(context.path("pipeline.lock")).map(|found| (found.ino(), found.ctime_nsec())).ok();
    let before = (everything(&context), lock());
    assert_eq!(executed_by_a_run(&context), 0);
    assert!(before == (everything(&context), lock()), "a run with nothing to do wrote something");
}

#[test]
fn a_parameter_that_changes_nothing_executes_its_stage_alone() {
    let context = graph();
    context.edit("pipeline.yaml", "hidden: 1", "hidden: 2");
    assert_eq!(executed_by_a_run(&context), 1);
}

#[test]
fn a_parameter_put_back_executes_nothing_and_writes_nothing_into_the_store() {
    let context = graph();
    let lock = context.read("pipeline.lock");
    context.edit("pipeline.yaml", "shown: 1", "shown: 2");
    assert_eq!(executed_by_a_run(&context), 6);
    assert_ne!(context.read("pipeline.lock"), lock);
    settle(&context);
    let before = everything(&context);
    context.edit("pipeline.yaml", "shown: 2", "shown: 1");
    assert_eq!(executed_by_a_run(&context), 0);
    assert!(before == everything(&context), "a run that found all results wrote into the store");
    assert_eq!(context.read("pipeline.lock"), lock, "the lock file says again what it said");
}

#[test]
fn a_comment_in_a_script_executes_the_stage_that_uses_it_alone() {
    let context = graph();
    context.write("work.sh", "# a comment\ncat; echo \"$1\"\n");
    assert_eq!(executed_by_a_run(&context), 1);
}

#[test]
fn many_cached_cells_are_counted_and_listed_when_asked_for() {
    let labels: Vec<String> = (1..=30).map(|label| label.to_string()).collect();
    // They differ in what they ask of the machine alone, so that one result does for all.
    let context = Context::with(&format!(
        "cwm: 1\nstages:\n  s: {{ stage: command, matrix: {{ x: [{}] }}, with: {{ run: 'echo > \"$out\"' }}, needs: \
         {{ memory: \"${{x}}MB\" }} }}\n",
        labels.join(", ")
    ));
    context.run(&[]).ran_just(&["s[x=1]"]);
    let reported = context.cwm(&["run"]).stderr;
    let lines: Vec<&str> = reported.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("  cached   s (30 cells)  ("), "{reported}");
    assert_eq!(lines[1], "ran 0, cached 30, failed 0, skipped 0");
    let listed = context.cwm(&["run", "-v"]).stderr;
    assert_eq!(listed.lines().filter(|line| line.starts_with("  cached   s[x=")).count(), 30, "{listed}");
}
