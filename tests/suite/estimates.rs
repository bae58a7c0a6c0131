//! What a dry run says that a run will take: by earlier runs of the same kind, or nothing.

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
    assert!(plain.contains("what that takes cannot be told: no earlier run of those kinds for 2 cells"), "{plain}");

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
