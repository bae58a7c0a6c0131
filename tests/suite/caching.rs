//! The stages that run again, and those that do not: keys, early cutoff, external files, matrices.

use crate::context::Context;

/// source -> first (ignores `tuning`) -> second -> third; `second` has a parameter of its own.
const CHAIN: &str = r#"
cwm: 1
vars: { greeting: hello }
stages:
  first:
    stage: command
    from: { text: { file: input.txt } }
    with: { run: 'tr a-z A-Z < "$in" > "$out"', tuning: 1 }
  second:
    stage: command
    from: first
    with: { run: 'cat "$in" > "$out"; echo "$greeting $scale" >> "$out"', greeting: $greeting, scale: 0.001 }
  third:
    stage: command
    from: second
    with: { run: 'wc -l < "$in" > "$out"' }
"#;

fn chain() -> Context {
    let context = Context::with(CHAIN);
    context.write_old("input.txt", "one\ntwo\n");
    context.run(&[]).ran_just(&["first", "second", "third"]);
    context
}

#[test]
fn nothing_changed_runs_nothing_and_writes_nothing() {
    let context = chain();
    // The first run may note the file's digest late, because the file was young to the store.
    context.run(&[]).ran_just(&[]);
    let before = (context.inventory("artifacts"), context.read("pipeline.lock"));
    let run = context.run(&[]);
    run.ran_just(&[]);
    assert_eq!(run.cached.len(), 3);
    assert!(before == (context.inventory("artifacts"), context.read("pipeline.lock")), "a no-op run wrote something");
}

#[test]
fn a_changed_parameter_runs_what_depends_on_it_and_put_back_runs_nothing() {
    let context = chain();
    context.edit("pipeline.yaml", "scale: 0.001", "scale: 0.002");
    let run = context.run(&[]);
    // `third` counts lines: the same number comes out, so it runs once for the new content and no more.
    run.ran_just(&["second", "third"]);
    assert_eq!(run.causes["second"], "parameter `scale` changed: 0.001 -> 0.002 (line 12)");
    assert!(run.causes["third"].contains("from second"), "{:?}", run.causes);
    context.edit("pipeline.yaml", "scale: 0.002", "scale: 0.001");
    context.run(&[]).ran_just(&[]);
}

#[test]
fn equal_bytes_stop_a_change() {
    let context = chain();
    context.edit("pipeline.yaml", "tuning: 1", "tuning: 2");
    context.run(&[]).ran_just(&["first"]);
}

#[test]
fn a_number_is_what_it_is_worth_and_a_large_integer_is_exact() {
    let context = chain();
    context.edit("pipeline.yaml", "scale: 0.001", "scale: 1e-3");
    context.run(&[]).ran_just(&[]);
    context.edit("pipeline.yaml", "tuning: 1", "tuning: 9007199254740992");
    context.run(&[]).ran_just(&["first"]);
    context.edit("pipeline.yaml", "tuning: 9007199254740992", "tuning: 9007199254740993");
    context.run(&[]).ran_just(&["first"]);
}

#[test]
fn comments_order_and_names_of_vars_in_the_yaml_do_not_matter() {
    let context = chain();
    context.edit("pipeline.yaml", "cwm: 1\n", "# a comment\ncwm: 1   # another\n\n");
    context.edit("pipeline.yaml", "greeting: $greeting, scale: 0.001", "scale: 0.001, greeting: hello");
    context.edit("pipeline.yaml", "vars: { greeting: hello }\n", "");
    context.run(&[]).ran_just(&[]);
}

#[test]
fn a_touched_file_runs_nothing_and_a_changed_one_runs_what_reads_it() {
    let context = chain();
    context.write_old("input.txt", "one\ntwo\n");
    context.run(&[]).ran_just(&[]);
    context.write_old("input.txt", "one\nTwo\n");
    // Upper-cased, it is the same.
    context.run(&[]).ran_just(&["first"]);
    context.write_old("input.txt", "one\ntwo\nthree\n");
    context.run(&[]).ran_just(&["first", "second", "third"]);
}

#[test]
fn a_change_of_the_same_size_within_the_same_second_is_seen() {
    let context = Context::with(CHAIN);
    for text in ["aaaa\n", "bbbb\n", "cccc\n"] {
        context.write("input.txt", text);
        let run = context.run(&[]);
        assert!(run.ran.contains("first"), "{text:?} was taken for the one before");
        assert!(context.output("first").eq_ignore_ascii_case(text));
    }
}

#[test]
fn a_moved_folder_runs_nothing() {
    let context = chain();
    let moved = Context::new();
    let status = std::process::Command::new("cp").arg("-a").arg(context.path(".")).arg(moved.path("there")).status();
    assert!(status.expect("cp").success());
    let run = crate::context::Run::read(moved.cwm(&["run", "there/pipeline.yaml", "--json"]));
    run.ran_just(&[]);
}

#[test]
fn set_overrides_a_variable_and_leaves_the_lock_file_alone() {
    let context = chain();
    let lock = context.read("pipeline.lock");
    context.run(&["--set", "greeting=good day"]).ran_just(&["second", "third"]);
    assert!(context.output("second").contains("hello"), "without --set, the old result stands");
    assert_eq!(context.read("pipeline.lock"), lock);
}

#[test]
fn a_dependency_of_a_command_is_an_input() {
    let context = Context::with(
        "cwm: 1\nstages:\n  only: { stage: command, with: { run: 'sh part/script.sh > \"$out\"' }, deps: [part/*.sh] }\n",
    );
    context.write_old("part/script.sh", "echo one # a comment\n");
    context.run(&[]).ran_just(&["only"]);
    context.run(&[]).ran_just(&[]);
    context.write_old("part/script.sh", "echo two\n");
    context.run(&[]).ran_just(&["only"]);
    assert_eq!(context.output("only"), "two\n");
}

const MATRIX: &str = r#"
cwm: 1
stages:
  make:
    stage: command
    matrix: { size: [1, 2], colour: { r: red, b: blue } }
    with: { run: 'echo "$size $colour" > "$out"', size: $size, colour: $colour }
  measure:
    stage: command
    each: make
    from: make
    with: { run: 'wc -c < "$in" > "$out"; echo "$unit" >> "$out"', unit: bytes }
  gather:
    stage: command
    from: { parts: measure }
    with: { run: 'for part in "$in"/*; do echo "$(basename "$part"): $(head -1 "$part")"; done > "$out"' }
"#;

#[test]
fn a_new_matrix_value_runs_its_own_cells_and_what_gathers_them() {
    let context = Context::with(MATRIX);
    assert_eq!(context.run(&[]).ran.len(), 9);
    assert_eq!(context.output("gather").lines().count(), 4);
    assert!(context.output("gather").contains("measure[size=2,colour=b]: 7"), "{}", context.output("gather"));
    context.edit("pipeline.yaml", "[1, 2]", "[1, 2, 30]");
    context.run(&[]).ran_just(&[
        "make[size=30,colour=b]",
        "make[size=30,colour=r]",
        "measure[size=30,colour=b]",
        "measure[size=30,colour=r]",
        "gather",
    ]);
    context.edit("pipeline.yaml", "[1, 2, 30]", "[2, 30]");
    context.run(&[]).ran_just(&["gather"]);
}

#[test]
fn a_stage_or_one_cell_can_be_asked_for() {
    let context = Context::with(MATRIX);
    context.run(&["measure[size=1,colour=r]"]).ran_just(&["make[size=1,colour=r]", "measure[size=1,colour=r]"]);
    let lock = context.read("pipeline.lock");
    assert_eq!(lock.matches("make[").count(), 1, "a partial run writes its own lines only:\n{lock}");
    assert_eq!(context.run(&["measure[size=1]"]).ran.len(), 2);
    assert_eq!(context.run(&["make"]).ran.len(), 2);
}

#[test]
fn one_job_and_two_jobs_give_the_same_results() {
    let (one, two) = (Context::with(MATRIX), Context::with(MATRIX));
    one.run(&["--jobs", "1"]);
    two.run(&["--jobs", "2"]);
    assert_eq!(one.read("pipeline.lock"), two.read("pipeline.lock"));
}

#[test]
fn force_runs_again_and_reports_equal_results() {
    let context = chain();
    let ran = context.cwm(&["run", "--force", "second"]);
    assert!(ran.stderr.contains("the same result as before"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("ran 1, cached 2, failed 0, skipped 0\n"), "{}", ran.stderr);
}

#[test]
fn force_prints_the_time_of_this_run_and_not_that_of_an_equal_record() {
    let context = chain();
    let run = context.run(&["--force", "second"]);
    run.ran_just(&["second"]);
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    let finished = run.raw.stdout.lines().map(read).find(|event| event["event"] == "finished").expect("the event");
    let shown = read(&context.cwm(&["show", "second", "--json"]).stdout);
    // The record is still that of the first run, and no two runs take equal fractions of a second.
    let recorded = &shown[0]["run_info"]["wall_seconds"];
    assert!(recorded.is_number() && finished["seconds"].is_number(), "{shown}\n{finished}");
    assert_ne!(finished["seconds"], *recorded);
}

#[test]
fn a_declared_variable_of_the_environment_is_an_input_and_no_other_is_seen() {
    let context = Context::with(
        "cwm: 1\nstages:\n  only: { stage: command, with: { run: 'echo \"${TOLD-}${UNTOLD-}\" > \"$out\"' }, env: [TOLD] }\n",
    );
    let run = |told: &str| {
        let output = context.command(&["run", "--json"]).env("TOLD", told).env("UNTOLD", told).output();
        crate::context::Run::read(crate::context::finish(output.expect("cwm starts")))
    };
    run("a").ran_just(&["only"]);
    run("a").ran_just(&[]);
    run("b").ran_just(&["only"]);
    let lock = context.read("pipeline.lock");
    assert!(!lock.contains("told"), "{lock}");
    let path = context.command(&["show", "--path", "only"]).env("TOLD", "b").output().expect("cwm starts");
    let path = String::from_utf8_lossy(&path.stdout).trim().to_owned();
    assert_eq!(std::fs::read_to_string(path).expect("the output"), "b\n");
}

#[test]
fn exported_results_are_rebuilt_when_their_content_is_gone() {
    let context = Context::with(
        "cwm: 1\nstages:\n  a: { stage: command, with: { run: 'echo 1 > \"$out\"' } }\n  \
         b: { stage: command, from: a, with: { run: 'wc -l < \"$in\" > \"$out\"' } }\nexport: { a: copied }\n",
    );
    context.run(&[]).ran_just(&["a", "b"]);
    std::fs::remove_file(context.cwm(&["show", "--path", "a"]).stdout.trim()).expect("its content");
    std::fs::remove_dir_all(context.path("copied")).expect("the copy");
    let planned = context.cwm(&["run", "--dry-run"]);
    assert!(planned.stderr.contains("would run  a\n"), "{}", planned.stderr);
    context.run(&[]).ran_just(&["a"]);
    assert_eq!(context.read("copied/out"), "1\n");
}

#[test]
fn a_pipeline_named_from_below_its_folder_exports_as_from_within() {
    let context = Context::with(
        "cwm: 1\nstages:\n  a: { stage: command, with: { run: 'echo 1 > \"$out\"' } }\nexport: { a: copied }\n",
    );
    std::fs::create_dir(context.path("below")).expect("a folder");
    let ran = context.cwm(&["run", "below/../pipeline.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(context.read("copied/out"), "1\n");
}
