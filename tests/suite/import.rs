//! The records of the paper's own program, from a file or a folder to a dataset.

use std::path::Path;

use crate::context::Context;

const PIPELINE: &str = "
cwm: 1
vars: { from: records }
stages:
  corpus: { stage: import, with: { source: $from } }
  split: { stage: split, from: corpus, with: { buckets: 2, validation: 1 } }
  tokens: { stage: tokenize, from: split }
";

/// Two records of python-chess.
fn records() -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("stages/import/tests/records.jsonl");
    std::fs::read_to_string(file).expect("the records").lines().map(|line| format!("{line}\n")).collect()
}

#[test]
fn imported_records_pass_the_pipeline_and_rerun_when_the_folder_changes() {
    let context = Context::with(PIPELINE);
    let records = records();
    context.write_old("records/chess_000000.jsonl", &records[0]);
    context.run(&[]).ran_just(&["corpus", "split", "tokens"]);
    context.run(&[]).ran_just(&[]);
    context.write_old("records/notes.txt", "not a record");
    context.run(&[]).ran_just(&[]);
    context.write_old("records/chess_000001.jsonl", &records[1]);
    context.run(&[]).ran_just(&["corpus", "split", "tokens"]);
    let counts: serde_json::Value = serde_json::from_str(&context.output("corpus.counts")).expect("JSON");
    assert_eq!((&counts["stage"], &counts["read"], &counts["kept"]), (&"import".into(), &2.into(), &2.into()));
    let shown = context.cwm(&["show", "corpus.games"]).stdout;
    assert!(shown.contains("  game 0      cwm_0123456789abcdef01234567, ?, 0-1, 4 plies\n"), "{shown}");
    assert!(shown.contains("1. f3 e5 2. g4 Qh4#\n"), "{shown}");

    // The same bytes in one file are another list of files, and the same games.
    context.write_old("all.jsonl", &records.concat());
    let one = context.run(&["--set", "from=all.jsonl"]);
    one.ran_just(&["corpus"]);
}

#[test]
fn a_record_that_differs_fails_the_stage_with_its_place() {
    let context = Context::with(PIPELINE);
    let changed = records()[1].replacen("\"steps\": 19", "\"steps\": 20", 1);
    context.write_old("records/chess_000000.jsonl", &(records()[0].clone() + &changed));
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 1);
    let reason = &run.failed["corpus"];
    assert!(
        reason.ends_with("chess_000000.jsonl, line 2 (\"cwm_random_00007\"): `steps` is 20, and its moves give 19"),
        "{reason}"
    );
}

#[test]
fn a_folder_without_records_and_a_missing_one_are_reported() {
    let context = Context::with(PIPELINE);
    let missing = context.cwm(&["run"]);
    assert_eq!(missing.code, 3, "{}", missing.stderr);
    assert!(missing.stderr.contains("cannot read") && missing.stderr.contains("records"), "{}", missing.stderr);
    context.write("records/notes.txt", "not a record");
    let empty = context.cwm(&["run"]);
    assert_ne!(empty.code, 0);
    assert!(empty.stderr.contains("holds no file whose name ends in .jsonl"), "{}", empty.stderr);
}
