//! Faulty records and their consequences.

use cwm_contract::{Event, FailureKind, Value};
use proptest::prelude::*;
use tempfile::tempdir;

use super::{RECORDS, counts, games, import, import_text, path};

fn failure(text: &[u8], parameters: &[(&str, Value)]) -> String {
    let folder = tempdir().unwrap();
    let failure = import_text(folder.path(), text, parameters).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Input);
    assert!(failure.hint.is_some(), "{failure}");
    failure.message.strip_prefix(&format!("{}/", folder.path().display())).unwrap_or(&failure.message).to_owned()
}

#[test]
fn every_fault_names_file_line_and_game() {
    let [first, second] = RECORDS.lines().collect::<Vec<_>>()[..] else { panic!("two records") };
    let after = |wrong: String| failure(format!("{first}\n\n{wrong}\n").as_bytes(), &[]);
    let place = "chess_000000.jsonl, line 3";
    // The white king's right, in the initial state.
    let changed = second.replacen("0, 1, 1, 1, 1, 0,", "0, 0, 1, 1, 1, 0,", 1);
    assert_eq!(
        after(changed),
        format!("{place} (\"cwm_random_00007\"): at ply 0 label 65 (castling) is 0, and its moves give 1")
    );
    assert_eq!(
        after(second.replace("\"plies\": 18", "\"plies\": 17")),
        format!("{place} (\"cwm_random_00007\"): `plies` is 17, and its moves give 18")
    );
    assert_eq!(
        after("{\"example_id\": 1}".into()),
        format!("{place}: invalid type: integer `1`, expected a string, at byte 16 of the line")
    );
    assert!(after(second[..second.len() / 2].into()).starts_with(&format!("{place}: EOF while parsing ")));
    assert!(after("\u{1f}{}".into()).starts_with(&format!("{place}: it is not a JSON object")));
    assert_eq!(
        after(second.replace("cwm_random_00007", "cwm_0123456789abcdef01234567")),
        format!("{place} (\"cwm_0123456789abcdef01234567\"): an earlier record has the same id")
    );
    assert_eq!(after(second.replace("cwm_random_00007", "")), format!("{place}: `example_id` is empty"));
    assert!(
        after(second.replace("\"moves\": [20480, 3980", "\"moves\": [20480, 3981"))
            .ends_with("token 3981 (e2e4q) at ply 1 is not a legal move")
    );
    assert!(
        after(first.replace("\"moves\": [20480,", "\"moves\": [99999,"))
            .contains("invalid value: integer `99999`, expected u16")
    );
    assert_eq!(after("x".repeat((16 << 20) + 1)), format!("{place}: it is longer than 16 MiB"));
    let unchecked = [("check", Value::Bool(false))];
    let illegal = failure(second.replace("[20480, 3980", "[20480, 3985").as_bytes(), &unchecked);
    assert!(illegal.ends_with("token 3985 (e2f4) at ply 1 is not a legal move"), "moves are checked always: {illegal}");
}

#[test]
fn faulty_records_may_be_dropped_and_are_counted_and_named() {
    let [first, second] = RECORDS.lines().collect::<Vec<_>>()[..] else { panic!("two records") };
    let wrong = "{}\n".repeat(30);
    let text = format!("{first}\n{}\n{wrong}{first}\n{second}", second.replace("\"steps\": 19", "\"steps\": 20"));
    let folder = tempdir().unwrap();
    let outcome = import_text(folder.path(), text.as_bytes(), &[("on_error", Value::Text("drop".into()))]).unwrap();
    assert_eq!(games(&outcome).len(), 2);
    let counts = counts(&outcome);
    assert_eq!((&counts["read"], &counts["kept"]), (&34.into(), &2.into()));
    let dropped = &counts["dropped"];
    assert_eq!(
        (&dropped["unreadable"], &dropped["differs"], &dropped["duplicate_id"]),
        (&30.into(), &1.into(), &1.into())
    );
    let named = |event: &&Event| matches!(event, Event::Log(line) if line.contains("chess_000000.jsonl, line "));
    assert_eq!(outcome.events.iter().filter(named).count(), 20);
    let more = "dropped 12 more, all of which the output `faults` names";
    assert!(outcome.events.contains(&Event::Log(more.into())));
    let faults = std::fs::read_to_string(&outcome.outputs["faults"]).unwrap();
    assert_eq!(faults.lines().count(), 32);
    for fault in faults.lines() {
        let fault: serde_json::Value = serde_json::from_str(fault).unwrap();
        assert!(dropped[fault["reason"].as_str().unwrap()].as_u64().unwrap() > 0, "{fault}");
        assert!((1..=34).contains(&fault["line"].as_u64().unwrap()) && fault["file"] == 1, "{fault}");
    }
    assert_eq!(outcome.metrics["dropped_unreadable"], 30.0);
}

#[test]
fn sources_that_hold_nothing_and_cut_files_are_reported() {
    let folder = tempdir().unwrap();
    assert!(failure(b"\n \n", &[]).starts_with("there is no record in "));
    let failure = import(folder.path(), Value::List(Vec::new()), &[]).err().unwrap();
    assert_eq!(failure.message, "parameter `source` must name at least one file or folder");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let failure = import(folder.path(), path(&folder.path().join("empty")), &[]).err().unwrap();
    assert!(failure.message.contains("holds no file whose name ends in .jsonl, "), "{failure}");
    let failure = import(folder.path(), path(&folder.path().join("nothing")), &[]).err().unwrap();
    assert!(failure.message.contains("nothing"), "{failure}");
    let mut cut = zstd::encode_all(RECORDS.repeat(9).as_bytes(), 1).unwrap();
    cut.truncate(cut.len() / 2);
    let file = folder.path().join("cut.jsonl");
    std::fs::write(&file, cut).unwrap();
    let failure = import(folder.path(), path(&file), &[]).err().unwrap();
    assert!(failure.message.contains("cut.jsonl"), "{failure}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn mutated_records_never_panic(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..20),
        check in any::<bool>(),
    ) {
        let mut bytes = RECORDS.as_bytes().to_vec();
        for (place, byte, kind) in edits {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"\n{}[]\",:0-e.\\\xef"[usize::from(byte) % 14]),
                _ => bytes[at] ^= 1 << (byte % 8),
            }
        }
        let folder = tempdir().unwrap();
        let parameters = [("on_error", Value::Text("drop".into())), ("check", Value::Bool(check))];
        match import_text(folder.path(), &bytes, &parameters) {
            Ok(outcome) => prop_assert_eq!(games(&outcome).len() as u64, counts(&outcome)["kept"].as_u64().unwrap()),
            Err(failure) => prop_assert_eq!(failure.kind, FailureKind::Input),
        }
    }
}
