//! Estimates that a dry run prints for a run: by earlier runs of the same kind, or none.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::context::{Context, Ran};

const GAMES: &str = "
cwm: 1
vars: { games: 10, policy: uniform }
stages:
  games: { stage: play, with: { policy: $policy, games: $games } }
  copy: { stage: command, from: games.pgn, with: { run: 'cat \"$in\" \"$in\" > \"$out\"' } }
";

/// Events of a run or dry run, by their name and label.
fn events(ran: &Ran) -> BTreeMap<(String, String), Value> {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let event = |line: &str| {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let text = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
        ((text("event"), text("label")), event)
    };
    ran.stdout.lines().map(event).collect()
}

#[test]
fn estimates_scale_what_was_measured_and_are_silent_about_the_rest() {
    if !cfg!(feature = "play") {
        println!("skipped: built without the stage `play`");
        return;
    }
    let context = Context::with(GAMES);
    let at = |events: &BTreeMap<(String, String), Value>, name: &str, label: &str| {
        events.get(&(name.to_owned(), label.to_owned())).unwrap_or_else(|| panic!("{name} {label}: {events:?}")).clone()
    };
    let dry = |more: &[&str]| events(&context.cwm(&[&["run", "--dry-run", "--json"], more].concat()));

    let first = dry(&[]);
    assert!(at(&first, "would_run", "games")["estimate"].is_null());
    assert_eq!(at(&first, "dry_summary", "")["total"]["unknown"], 2);
    let plain = context.cwm(&["run", "--dry-run", "--output", "plain"]).stderr;
    assert!(plain.contains("\ntime, memory and disk unknown for 2 cells: no earlier run of the kind, or "), "{plain}");
    assert!(plain.contains("\namount of work: games (policy uniform, games 10)\n"), "{plain}");

    let ran = events(&context.cwm(&["run", "--json"]));
    let doubled = dry(&["--set", "games=20"]);
    let mut disk = 0;
    for label in ["games", "copy"] {
        let (made, estimate) = (at(&ran, "finished", label), at(&doubled, "would_run", label)["estimate"].clone());
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
        assert!((number(&estimate["seconds"]) - 2.0 * number(&made["seconds"])).abs() < 1e-9, "{made} {estimate}");
        let bytes = 2 * made["bytes"].as_u64().expect("bytes");
        // Of each output a byte at most is lost to rounding.
        assert!((bytes - 2..=bytes).contains(&estimate["disk_bytes"].as_u64().expect("bytes")), "{made} {estimate}");
        assert_eq!(estimate["runs"], 1);
        disk += estimate["disk_bytes"].as_u64().expect("bytes");
    }
    let total = at(&doubled, "dry_summary", "")["total"].clone();
    assert_eq!((&total["estimated"], &total["unknown"], &total["disk_bytes"]), (&2.into(), &0.into(), &disk.into()));
    assert!(total["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{total}");
    let plain = context.cwm(&["run", "--dry-run", "--output", "plain", "--set", "games=20"]).stderr;
    assert!(
        plain.contains(" of disk, by 1 earlier run of its kind\n") && plain.contains(" on this machine, "),
        "{plain}"
    );

    // Games of another policy are no measure, and so the size of what is copied is not known either.
    let other = dry(&["--set", "policy=long"]);
    assert!(at(&other, "would_run", "games")["estimate"].is_null());
    assert!(at(&other, "would_run", "copy")["estimate"].is_null());
    // What is cached costs nothing.
    let cached = at(&dry(&[]), "dry_summary", "")["total"].clone();
    assert_eq!((&cached["estimated"], &cached["unknown"]), (&0.into(), &0.into()));
}

/// The estimate of a cell in a dry run.
fn estimate_of(context: &Context, label: &str, more: &[&str]) -> Value {
    let reported = events(&context.cwm(&[&["run", "--dry-run", "--json"], more].concat()));
    let reported = reported.get(&("would_run".to_owned(), label.to_owned()));
    reported.unwrap_or_else(|| panic!("{label} would not run"))["estimate"].clone()
}

/// A finished run that copies `a.txt`, and the copy twice; `b.txt` is larger.
fn copied_texts() -> Context {
    let context = Context::with(
        "cwm: 1\nvars: { text: a.txt }\nstages:\n  copy: { stage: command, from: { text: { file: $text } }, \
         with: { run: 'cat \"$in\" > \"$out\"' } }\n  again: { stage: command, from: copy, with: { run: 'cat \"$in\" \"$in\" > \"$out\"' } }\n",
    );
    context.write_old("a.txt", &"a".repeat(1_000));
    context.write_old("b.txt", &"b".repeat(3_000));
    context.run(&[]).ran_just(&["copy", "again"]);
    context
}

#[test]
fn what_is_made_of_files_from_outside_is_a_measure_too() {
    let context = copied_texts();
    for (label, bytes) in [("copy", 3_000), ("again", 6_000)] {
        let estimate = estimate_of(&context, label, &["--set", "text=b.txt"]);
        assert_eq!((&estimate["disk_bytes"], &estimate["runs"]), (&bytes.into(), &1.into()), "{label}");
    }
}

#[test]
fn a_run_takes_at_least_as_long_as_cells_that_wait_for_each_other() {
    let context = copied_texts();
    // On eight cores, of which each cell takes one.
    let seconds = |target: &str| {
        let arguments = ["run", "--dry-run", "--json", "-j", "8", "--set", "text=b.txt", target];
        let planned = events(&context.cwm(&arguments));
        let estimates = planned.iter().filter(|((event, _), _)| event == "would_run");
        let cells: f64 = estimates.map(|(_, event)| event["estimate"]["seconds"].as_f64().expect("seconds")).sum();
        let summary = &planned[&("dry_summary".to_owned(), String::new())];
        (cells, summary["total"]["seconds"].as_f64().expect("seconds"))
    };
    for target in ["copy", "again"] {
        let (cells, total) = seconds(target);
        assert!(cells > 0.0 && (total - cells).abs() < 1e-9, "{target}: {cells} {total}");
    }
}

#[test]
fn memory_and_disk_of_a_training_do_not_grow_with_its_steps() {
    if !cfg!(all(feature = "play", feature = "parse", feature = "tokenize", feature = "train")) {
        println!("skipped: built without the stages of a training");
        return;
    }
    let context = Context::with(
        "cwm: 1\nvars: { steps: 4, size: d16/l1, games: 6 }\nstages:\n  games: { stage: play, with: { policy: uniform, games: $games } }\n  \
         corpus: { stage: parse, from: games, with: { ids: site } }\n  tokens: { stage: tokenize, from: corpus }\n  \
         model: { stage: train, from: tokens, with: { steps: $steps, size: $size, batch_size: 2 } }\n",
    );
    context.run(&[]);
    let number = |estimate: &Value, name: &str| estimate[name].as_f64().unwrap_or_else(|| panic!("{name}: {estimate}"));
    let once = estimate_of(&context, "model", &["--set", "steps=5"]);
    let often = estimate_of(&context, "model", &["--set", "steps=400"]);
    assert!(number(&often, "seconds") > 50.0 * number(&once, "seconds"), "{once} {often}");
    assert_eq!(often["memory_bytes"], once["memory_bytes"]);
    assert!(number(&often, "disk_bytes") < 1.1 * number(&once, "disk_bytes"), "{once} {often}");
    // A checkpoint of d16/l1 has 1.5 MB, one of d128/l1 12.5 MB; what else a run holds is the same.
    let large = estimate_of(&context, "model", &["--set", "steps=4", "--set", "size=d128/l1"]);
    assert!((12e6..14e6).contains(&number(&large, "disk_bytes")), "{large}");
    let more = number(&large, "memory_bytes") - number(&once, "memory_bytes");
    assert!((50e6..200e6).contains(&more), "{once} {large}");
    // How many games there will be has no say, for `steps` are given.
    let other = estimate_of(&context, "model", &["--set", "steps=5", "--set", "games=7"]);
    assert_eq!(other["memory_bytes"], once["memory_bytes"]);
}

#[test]
fn a_dry_run_without_earlier_runs_lists_known_amounts_and_a_cell_to_measure() {
    if !cfg!(all(feature = "download", feature = "play", feature = "parse", feature = "tokenize", feature = "train")) {
        println!("skipped: built without the stages of a benchmark");
        return;
    }
    let context = Context::with(
        "cwm: 1\nstages:\n  month: { stage: download, with: { month: 2013-01, month_bytes: 3MB } }\n  \
         games: { stage: play, matrix: { policy: [uniform, long] }, with: { policy: $policy, games: 6 } }\n  \
         corpus: { stage: parse, from: month }\n  tokens: { stage: tokenize, from: corpus }\n  \
         model: { stage: train, matrix: { seed: [0, 1] }, from: tokens, with: { seed: $seed, size: d16/l1 } }\n",
    );
    let planned = context.cwm(&["run", "--dry-run", "--output", "plain"]);
    let expected = "\
time, memory and disk unknown for 7 cells: no earlier run of the kind, or an input whose size is not known yet
amount of work: month (month 2013-01, 3.0 MB), 2 cells of games (games 6 each)
hint: `cwm run 'model[seed=0]'` computes one cell of model, from which others like it are estimated
would run 3, may run 4, cached 0, would fail 0
";
    assert!(planned.stderr.ends_with(expected), "{}", planned.stderr);
}

#[test]
fn unknown_estimates_lead() {
    let context = Context::with(
        r#"
cwm: 1
vars: { text: a.txt }
stages:
  copy: { stage: command, from: { text: { file: $text } }, with: { run: 'cat "$in" > "$out"' } }
  model: { stage: command, matrix: { seed: [0, 1, 2] }, from: copy, with: { run: 'cat "$in" > "$out"; echo "$seed" >> "$out"', seed: $seed } }
"#,
    );
    context.write_old("a.txt", &"a".repeat(1_000));
    context.write_old("b.txt", &"b".repeat(3_000));
    context.run(&["copy"]).ran_just(&["copy"]);
    let summary = |more: &[&str]| {
        let planned = context.cwm(&[&["run", "--dry-run"], more].concat()).stderr;
        planned.lines().rev().nth(1).expect("a summary").to_owned()
    };
    let why = "no earlier run of the kind, or an input whose size is not known yet";
    let planned = summary(&["--set", "text=b.txt"]);
    let unknown = "time, memory and disk unknown for 3 cells";
    assert!(planned.starts_with(&format!("{unknown} ({why}); for 1 other cell about ")), "{planned}");
    assert_eq!(summary(&[]), format!("{unknown}: {why}"));
    // One cell is a measure for the others.
    context.run(&["model[seed=0]"]);
    assert!(summary(&["--set", "text=b.txt"]).starts_with("about "), "{}", summary(&["--set", "text=b.txt"]));
}
