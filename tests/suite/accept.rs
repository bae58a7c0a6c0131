//! A change of code that changes no result: what stays, what is refused, and on which evidence.
//!
//! The code of this binary cannot change here. So results are made to be those of other code instead: their records get
//! another fingerprint, and with it another key.

use std::collections::BTreeMap;
use std::fs;

use cwm_core::{Components, Digest, Key};
use serde_json::Value;

use crate::context::{Context, Ran};

const DATA: &str = r#"
cwm: 1
stages:
  games: { stage: play, with: { policy: uniform, games: 40 } }
  corpus: { stage: parse, from: { pgn: games }, with: { ids: site, min_fullmoves: 1 } }
  split: { stage: split, from: corpus, with: { buckets: 10, validation: 5 } }
  half: { stage: split, from: corpus, with: { buckets: 2, validation: 1 } }
"#;

fn made() -> Context {
    let context = Context::with(DATA);
    context.run(&[]).ran_just(&["games", "corpus", "split", "half"]);
    context
}

/// Makes the recorded result of a cell one of other code, after `change` had its way with the record.
fn age(context: &Context, label: &str, change: impl Fn(&mut Value)) {
    let lock = context.read("pipeline.lock");
    let line = lock.lines().find(|line| line.starts_with(&format!("\"{label}\":"))).expect("a line of the lock file");
    let line: BTreeMap<String, Value> = serde_json::from_str(&format!("{{{line}}}")).expect("JSON");
    let key = line[label]["key"].as_str().expect("a key").to_owned();
    let folder = context.path(&format!("artifacts/actions/{}/{key}", &key[..2]));
    let file = fs::read_dir(&folder).expect("a folder").next().expect("a record").expect("an entry").path();
    let mut record: Value = serde_json::from_slice(&fs::read(&file).expect("a record")).expect("JSON");
    for name in ["base", "crate cwm-split", "crate cwm-chess"] {
        if let Some(digest) = record["components"]["code"].get_mut(name) {
            *digest = digest.as_str().expect("a digest").chars().rev().collect::<String>().into();
        }
    }
    change(&mut record);
    let components: Components = serde_json::from_value(record["components"].clone()).expect("components");
    let older: Key = components.key();
    record["key"] = older.to_string().into();
    let bytes = format!("{record}\n");
    let to = context.path(&format!("artifacts/actions/{}/{older}", &older.to_string()[..2]));
    fs::create_dir_all(&to).expect("a folder");
    fs::write(to.join(format!("0001-{}.json", Digest::of(bytes.as_bytes()))), bytes).expect("a record");
    fs::remove_dir_all(&folder).expect("the record of today's code goes");
    context.write("pipeline.lock", &lock.replace(&key, &older.to_string()));
}

fn accept(context: &Context, words: &[&str]) -> Ran {
    context.cwm(&[&["accept"], words].concat())
}

#[test]
fn accepted_changes_hold_until_they_are_undone() {
    let context = made();
    age(&context, "split", |_| {});
    age(&context, "half", |_| {});
    let why = context.cwm(&["why", "split"]).stdout;
    assert!(why.contains("code changed: crate cwm-chess, crate cwm-split\n"), "{why}");

    let accepted = accept(&context, &["split", "-m", "a \"comment\""]);
    assert_eq!(accepted.code, 0, "{}", accepted.stderr);
    assert!(accepted.stdout.contains("crate cwm-chess, crate cwm-split\n"), "{}", accepted.stdout);
    assert!(accepted.stdout.contains("2 results stay: split, half\n"), "all of the same code: {}", accepted.stdout);
    let file = context.read("accepted.lock");
    assert!(
        file.contains(r#""why":"a \"comment\"""#) && file.lines().any(|line| line.starts_with("\"split ")),
        "{file}"
    );

    let lock = context.read("pipeline.lock");
    assert!(context.cwm(&["status"]).stdout.contains(", of older code, accepted"));
    assert!(context.cwm(&["why", "half"]).stdout.contains(", of older code, accepted\n"));
    let run = context.run(&[]);
    run.ran_just(&[]);
    assert!(run.raw.stdout.contains("of older code, accepted"), "{}", run.raw.stdout);
    assert_eq!(context.read("pipeline.lock"), lock, "the results are recorded where they were");
    assert!(accept(&context, &["--list"]).stdout.contains("a \"comment\""));
    let nothing = accept(&context, &["split"]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("there is nothing to accept: split is up to date"), "{}", nothing.stderr);

    let undone = accept(&context, &["--undo", "half"]);
    assert!(undone.code == 0 && undone.stdout.starts_with("taken back: split "), "{}{}", undone.stdout, undone.stderr);
    context.run(&[]).ran_just(&["split", "half"]);
    assert_eq!(accept(&context, &["--undo", "half"]).code, 2);
    let which = accept(&context, &["--undo"]);
    assert!(which.code == 2 && which.stderr.contains("`cwm accept --undo STAGE` takes it back"), "{}", which.stderr);
}

#[test]
fn dependents_are_accepted_after_their_inputs() {
    let context = made();
    for label in ["split", "corpus"] {
        age(&context, label, |_| {});
    }
    let waits = accept(&context, &["split"]);
    assert!(waits.code == 2 && waits.stderr.contains("it depends on corpus, which would run"), "{}", waits.stderr);
    assert!(waits.stderr.contains("`cwm accept corpus split`"), "{}", waits.stderr);
    assert!(!context.path("accepted.lock").exists());
    assert_eq!(accept(&context, &["corpus", "split"]).code, 0);
    context.run(&[]).ran_just(&[]);
}

#[test]
fn more_than_code_is_refused() {
    let context = made();
    age(&context, "split", |_| {});
    context.edit("pipeline.yaml", "buckets: 10", "buckets: 11");
    let both = accept(&context, &["split"]);
    assert_eq!(both.code, 2);
    assert!(
        both.stderr.contains("not only its code changed: parameter `buckets` changed: 10 -> 11"),
        "{}",
        both.stderr
    );
    context.write("pipeline.lock", "cwm-lock: 1\n");
    let never = accept(&context, &["split"]);
    assert!(
        never.code == 2 && never.stderr.contains("it never ran, so there is no result to keep: `cwm run split`"),
        "{}",
        never.stderr
    );
    assert_eq!(accept(&context, &[]).code, 2);
    assert!(!context.path("accepted.lock").exists());
}

#[test]
fn probes_allow_what_is_the_same_and_nothing_else() {
    let context = made();
    age(&context, "split", |_| {});
    let why = context.cwm(&["why", "split"]).stdout;
    assert!(why.contains("its probe has the same output with the current code: `cwm accept --probed split`"), "{why}");
    let accepted = accept(&context, &["--probed"]);
    assert_eq!(accepted.code, 0, "{}{}", accepted.stdout, accepted.stderr);
    assert!(accepted.stdout.contains(", by probes\n"), "{}", accepted.stdout);
    context.run(&[]).ran_just(&[]);

    // One result of the same code whose probe differs keeps all from being taken over.
    let context = made();
    age(&context, "split", |_| {});
    age(&context, "half", |record| {
        let other = Digest::of(b"other").to_string();
        record["probe"]["run/counts"] = other.into();
    });
    let why = context.cwm(&["why", "half"]).stdout;
    assert!(why.contains("its probe has another output with the current code: run/counts\n"), "{why}");
    let refused = accept(&context, &["--probed"]);
    assert_eq!(refused.code, 10, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stdout.contains("not accepted: half: its probe has another output"), "{}", refused.stdout);
    assert!(
        refused.stdout.contains("not accepted: split: the change of code is also that of half"),
        "{}",
        refused.stdout
    );
    assert!(!context.path("accepted.lock").exists());

    // As an older cwm recorded it.
    let context = made();
    age(&context, "split", |record| _ = record.as_object_mut().expect("a record").remove("probe"));
    assert!(context.cwm(&["why", "split"]).stdout.contains("this result has no probe"));
    assert_eq!(accept(&context, &["--probed", "split"]).code, 10);
}
