//! The output of commands for many cells in the same state.

use std::process::{Command, Stdio};

use crate::context::{Context, finish};

/// Two stages of many cells each, and one that reads them all.
fn many(cells: usize) -> Context {
    let seeds: Vec<String> = (0..cells).map(|seed| seed.to_string()).collect();
    Context::with(&format!(
        r#"
cwm: 1
vars: {{ n: 1 }}
stages:
  model: {{ stage: command, matrix: {{ seed: [{}] }}, with: {{ run: 'echo "$seed$n" > "$out"', seed: $seed, n: $n }} }}
  scores: {{ stage: command, each: model, from: model, with: {{ run: 'cat "$in" > "$out"' }} }}
  table: {{ stage: command, from: {{ s: scores }}, with: {{ run: 'cat "$in_s"/* > "$out"' }} }}
"#,
        seeds.join(", ")
    ))
}

fn stdout(context: &Context, arguments: &[&str]) -> String {
    let ran = context.cwm(arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout
}

#[test]
fn equal_cells_are_folded_in_why_status_and_dry_runs() {
    let context = many(100);
    let dry = |more: &[&str]| context.cwm(&[&["run", "--dry-run"], more].concat()).stderr;
    let expected = "\
would run  model (100 cells): never ran
may run    scores (100 cells): never ran; depends on model
may run    table
             never ran; depends on scores (100 cells)
time, memory and disk unknown for 201 cells: no earlier run of the kind, or an input whose size is not known yet
would run 100, may run 101, cached 0, would fail 0
";
    assert_eq!(dry(&[]), expected);
    let expected = "\
would run  model (100 cells)   never ran
may run    scores (100 cells)  depends on model; never ran
may run    table               depends on scores (100 cells); never ran
101 may run, 100 would run
";
    assert_eq!(stdout(&context, &["status"]), expected);
    let expected = "\
table: may run, when what it depends on has run
  never ran
  scores (100 cells): may run, when what it depends on has run
    never ran
    model (100 cells): would run
      never ran
";
    assert_eq!(stdout(&context, &["why", "table"]), expected);
    assert_eq!(stdout(&context, &["why", "model"]), "model (100 cells): would run\n  never ran\n");
    assert_eq!(stdout(&context, &["why", "model[seed=7]"]), "model[seed=7]: would run\n  never ran\n");

    // `-v` unfolds them, and JSON is never folded.
    assert_eq!(dry(&["-v"]).matches("\n             never ran\n             depends on model[seed=").count(), 100);
    assert_eq!(stdout(&context, &["status", "--verbose"]).lines().count(), 202);
    assert_eq!(stdout(&context, &["why", "model", "-v"]).matches("]: would run\n  never ran\n").count(), 100);
    let json: serde_json::Value = serde_json::from_str(&stdout(&context, &["status", "--json"])).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(201));
    let events = stdout(&context, &["run", "--dry-run", "--json"]);
    assert_eq!(events.matches(r#""event":"would_run""#).count(), 201);
}

#[test]
fn cells_that_differ_are_shown_apart_and_the_inputs_of_one_are_counted() {
    let context = many(8);
    context.run(&[]);
    context.edit("pipeline.yaml", "6, 7", "6, 7, 8, 9");
    context.edit("pipeline.yaml", "echo \"$seed$n\"", "echo \"$seed$n$n\"");
    context.run(&["model[seed=3]"]);
    let status = stdout(&context, &["status"]);
    let line = |start: &str| status.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{status}"));
    assert!(line("would run  model (7 of 10 cells)").contains("  parameter `run` changed: "), "{status}");
    assert!(line("would run  model (2 of 10 cells)").ends_with("  never ran"), "{status}");
    line("cached     model[seed=3] ");
    line("would run  scores[seed=3] ");
    line("may run    scores (7 of 10 cells) ");
    // All commands count among the cells of the stage, of which `why` without a stage leaves out some.
    let why = stdout(&context, &["why"]);
    for group in ["model (7 of 10 cells): would run\n", "model (2 of 10 cells): would run\n  never ran\n"] {
        assert!(why.contains(group), "{why}");
    }
    let dry = context.cwm(&["run", "--dry-run"]).stderr;
    assert!(dry.contains("would run  model (2 of 10 cells): never ran\n"), "{dry}");
    context.edit("pipeline.yaml", "n: 1 }", "n: 2 }");
    context.run(&["scores"]);
    let why = stdout(&context, &["why", "table"]);
    assert!(why.contains("\n  input `s` (scores) changed: … -> …, from scores (8 of them)\n"), "{why}");
    assert_eq!(why.matches(" is new, from scores[seed=").count(), 2, "few are shown one by one: {why}");
    assert_eq!(stdout(&context, &["why", "table", "-v"]).matches(", from scores[seed=").count(), 10);
    let run = context.cwm(&["run"]).stderr;
    assert!(run.contains("             input `s` (scores) changed: … -> …, from scores (8 of them)\n"), "{run}");
}

#[test]
fn ctrl_c_promises_no_checkpoint_and_names_the_command_that_resumes() {
    let context = many(40);
    context.edit("pipeline.yaml", "echo \"$seed$n\"", "touch \"$HOME/begun\"; sleep 60; echo \"$seed$n\"");
    let mut command = context.command(&["run", "-j", "1", "--set", "n=3", "table"]);
    command.env("HOME", context.path(".")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("cwm starts");
    context.await_file("begun");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let ran = finish(child.wait_with_output().expect("an end"));
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    let kept = "interrupted: finished cells are recorded, and a stage resumes from its last checkpoint, if it wrote one; to resume: cwm run -j 1 --set n=3 table\n";
    assert!(ran.stderr.contains(kept), "{}", ran.stderr);
    assert!(ran.stderr.lines().count() < 12, "skipped cells are counted: {}", ran.stderr);
}
