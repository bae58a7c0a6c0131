use std::path::Path;

use cwm_contract::testing::{self, Trial, shared};
use cwm_contract::{Value, Values};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, Evaluations, Score, UNKNOWN_MOVES};
use proptest::prelude::*;
use tempfile::tempdir;

use crate::Bag;
use crate::probe::{file, record, valued};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

const GOLDEN: &str = "systems/board-vs-moves-golden";

fn trial(folder: &Path, bag: &Path) -> Trial {
    Trial::new(folder.join("work")).input("bag", bag)
}

fn rows(path: &Path) -> Vec<Evaluation> {
    Evaluations::open(path).unwrap().collect::<Result<_, _>>().unwrap()
}

fn text(packed: u16) -> String {
    PlainMove::from_packed(packed).unwrap().to_string()
}

#[test]
fn a_golden_file_has_the_golden_records() {
    let Some(golden) = shared(GOLDEN) else { return };
    let folder = tempdir().unwrap();
    let outcome = trial(folder.path(), &golden.join("small.bag")).run(&Bag).unwrap();
    let found: Vec<String> = rows(&outcome.outputs["evaluations"])
        .iter()
        .map(|row| format!("{},{},{}", row.record, row.fen, text(row.best())))
        .collect();
    let expected = std::fs::read_to_string(golden.join("small.bag.csv")).unwrap();
    let expected: Vec<&str> = expected.lines().skip(1).collect();
    assert!(expected.len() > 300);
    assert_eq!(found, expected);
}

#[test]
fn each_damaged_golden_file_is_an_error_in_words() {
    let Some(golden) = shared(GOLDEN) else { return };
    for (name, words) in [
        ("bad-empty.bag", "it is empty"),
        ("bad-short.bag", "it has fewer than 8 bytes"),
        ("bad-cut.bag", "may be cut"),
        ("bad-index.bag", "beyond"),
        ("bad-order.bag", "the list of ends is out of order at record 9"),
        ("bad-utf8.bag", "is not UTF-8"),
        ("bad-varint.bag", "its FEN would have"),
        ("bad-fen.bag", "not a FEN"),
        ("bad-move.bag", "is not legal"),
        ("bad-notation.bag", "is not a move in UCI"),
    ] {
        let folder = tempdir().unwrap();
        let outcome = trial(folder.path(), &golden.join(name)).run(&Bag);
        let failure = outcome.err().unwrap_or_else(|| panic!("{name} was accepted"));
        assert!(failure.message.contains(words), "{name}: {}", failure.message);
        assert!(failure.hint.is_some(), "{name}");
    }
}

#[test]
fn a_promotion_in_upper_case_is_not_uci() {
    let fen = "1n5k/P7/8/8/8/8/7p/K5N1 w - - 0 1";
    assert!(crate::record::read(&record(fen, "a7a8q"), false).is_ok());
    assert_eq!(crate::record::read(&record(fen, "a7a8Q"), false).unwrap_err().0.name(), "notation");
}

#[test]
fn castling_rights_as_in_chess960_are_faulty_even_where_they_mean_the_same() {
    let fen = START.replace("KQkq", "HAha");
    let (reason, words) = crate::record::read(&record(&fen, "e2e4"), false).unwrap_err();
    assert_eq!(reason.name(), "fen");
    assert!(words.ends_with("its castling rights are written as in Chess960"), "{words}");
}

#[test]
fn a_faulty_text_is_shown_in_part() {
    let (_, words) = crate::record::read(&record(&"é".repeat(60), "e2e4"), false).unwrap_err();
    assert!(words.contains("éé\": not a FEN"), "{words}");
    let mut long = vec![0x90, 0x4e];
    long.extend("é".repeat(5_000).bytes());
    let (_, words) = crate::record::read(&long, false).unwrap_err();
    assert!(words.contains("éé\" and so on: not a FEN") && words.chars().count() < 300, "{words}");
}

#[test]
fn a_damaged_list_of_ends_is_an_error_even_if_faulty_records_are_dropped() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("bag");
    let bytes = file(&[record(START, "e2e4"), record(START, "d2d4"), record(START, "g1f3")]);
    let first = bytes.len() - 3 * 8;
    for (end, words) in [
        (u64::MAX, "the end of record 1 lies beyond all records"),
        (130, "the list of ends is out of order at record 2"),
    ] {
        let mut damaged = bytes.clone();
        damaged[first..first + 8].copy_from_slice(&end.to_le_bytes());
        std::fs::write(&path, damaged).unwrap();
        let failure = trial(folder.path(), &path).with("on_error", Value::Text("drop".into())).run(&Bag).err().unwrap();
        assert!(failure.message.ends_with(words), "{}", failure.message);
    }
}

#[test]
fn faulty_records_are_dropped_if_asked_and_listed() {
    let folder = tempdir().unwrap();
    let bag = folder.path().join("bag");
    let records = [record(START, "e2e4"), record(START, "e2e5"), record("?", "e2e4"), record(START, "d2d4")];
    std::fs::write(&bag, file(&records)).unwrap();
    let failure = trial(folder.path(), &bag).run(&Bag).err().unwrap();
    assert!(
        failure.message.ends_with(&format!("bag, record 2: e2e5 is not legal in {START:?}")),
        "{}",
        failure.message
    );
    let outcome = trial(folder.path(), &bag).with("on_error", Value::Text("drop".into())).run(&Bag).unwrap();
    let found: Vec<_> =
        rows(&outcome.outputs["evaluations"]).iter().map(|row| (row.record, text(row.best()))).collect();
    assert_eq!(found, [(0, "e2e4".to_owned()), (3, "d2d4".to_owned())]);
    let counts = std::fs::read_to_string(&outcome.outputs["counts"]).unwrap();
    assert_eq!(
        counts,
        "{\"dropped\":{\"fen\":1,\"illegal_move\":1,\"length\":0,\"not_utf8\":0,\"notation\":0},\"kept\":2,\"read\":4,\
         \"stage\":\"bag\"}\n"
    );
    let faults = std::fs::read_to_string(&outcome.outputs["faults"]).unwrap();
    assert_eq!(faults.lines().count(), 2);
    assert!(faults.starts_with("{\"detail\":\"e2e5 is"), "{faults}");
    assert!(faults.contains("\"file\":1,\"reason\":\"illegal_move\",\"record\":2}\n"), "{faults}");
}

#[test]
fn a_limit_stops_and_cores_change_nothing() {
    let folder = tempdir().unwrap();
    let bag = folder.path().join("bag");
    let records: Vec<_> = ["e2e4", "d2d4", "g1f3", "b1c3", "a2a3"].map(|best| record(START, best)).to_vec();
    std::fs::write(&bag, file(&records)).unwrap();
    let bytes = [1, 2].map(|cores| {
        let outcome = trial(folder.path(), &bag).cores(cores).with("limit", Value::Int(3)).run(&Bag).unwrap();
        assert_eq!(rows(&outcome.outputs["evaluations"]).len(), 3);
        std::fs::read(&outcome.outputs["evaluations"]).unwrap()
    });
    assert_eq!(bytes[0], bytes[1]);
}

#[test]
fn a_compressed_file_is_refused_by_its_name() {
    let folder = tempdir().unwrap();
    let bag = folder.path().join("bag");
    std::fs::write(&bag, file(&[vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0]])).unwrap();
    let failure = trial(folder.path(), &bag).run(&Bag).err().unwrap();
    assert!(failure.message.contains(".bagz"), "{}", failure.message);
}

#[test]
fn the_probe_has_records_and_faults_and_the_same_comes_twice() {
    let folder = tempdir().unwrap();
    let probe = || testing::probe(&Bag, Values::new(), folder.path()).unwrap().unwrap();
    let probed = probe();
    assert_eq!(probed["run/faults"].iter().filter(|&&byte| byte == b'\n').count(), 6);
    std::fs::remove_dir_all(folder.path()).unwrap();
    std::fs::create_dir_all(folder.path()).unwrap();
    assert!(probe() == probed);
}

#[test]
fn action_values_become_a_row_a_position() {
    const ENDGAME: &str = "8/8/8/8/8/1k6/8/3K4 w - - 0 1";
    let folder = tempdir().unwrap();
    let bag = folder.path().join("bag");
    let moves = [("d1e2", 0.5), ("d1c1", 0.0), ("d1d2", 1.0), ("d1e1", 1.0 / (1.0 + (0.003_682_08f64 * 130.0).exp()))];
    let mut records: Vec<Vec<u8>> = moves[..2].iter().map(|(uci, win)| valued(ENDGAME, uci, *win)).collect();
    records.push(valued(START, "e2e4", 0.6));
    records.extend(moves[2..].iter().map(|(uci, win)| valued(ENDGAME, uci, *win)));
    std::fs::write(&bag, file(&records)).unwrap();
    let run = |cores| {
        let trial = trial(folder.path(), &bag).with("records", Value::Text("action_value".into())).cores(cores);
        trial.run(&Bag).unwrap()
    };
    let outcome = run(1);
    let found = rows(&outcome.outputs["evaluations"]);
    assert_eq!(found.iter().map(|row| (row.record, row.fen.as_str())).collect::<Vec<_>>(), [(0, ENDGAME), (2, START)]);
    let lines: Vec<_> = found[0].lines.iter().map(|line| (text(line.moves[0]), line.score.unwrap())).collect();
    let expected = [
        ("d1d2", Score::Mate(UNKNOWN_MOVES)),
        ("d1e2", Score::Centipawns(0)),
        ("d1e1", Score::Centipawns(-130)),
        ("d1c1", Score::Mate(-UNKNOWN_MOVES)),
    ];
    assert_eq!(lines, expected.map(|(uci, score)| (uci.to_owned(), score)));
    let counts = std::fs::read_to_string(&outcome.outputs["counts"]).unwrap();
    // The initial position has one move of twenty.
    assert!(counts.contains("\"incomplete\":1,\"kept\":5,\"positions\":2,\"read\":5"), "{counts}");
    let bytes = |outcome: &testing::Outcome| std::fs::read(&outcome.outputs["evaluations"]).unwrap();
    assert_eq!(bytes(&outcome), bytes(&run(2)));
}

#[test]
fn faulty_action_values_are_named() {
    let fault = |record: Vec<u8>| {
        let (reason, words) = crate::record::read(&record, true).unwrap_err();
        (reason.name(), words)
    };
    let is = |name: &'static str, words: &str| (name, words.to_owned());
    assert_eq!(fault(valued(START, "e2e4", 1.5)), is("win_probability", "1.5 is not a number from 0 to 1"));
    assert_eq!(fault(valued(START, "e2e4", f64::NAN)), is("win_probability", "NaN is not a number from 0 to 1"));
    assert_eq!(fault(valued(START, "e2e5", 0.5)).0, "illegal_move");
    let mut cut = valued(START, "e2e4", 0.5);
    cut.pop();
    assert_eq!(fault(cut), is("length", "its win probability has 7 bytes, not 8"));
    // A record of a best move.
    assert_eq!(fault(record(START, "e2e4")).0, "length");
    let folder = tempdir().unwrap();
    let bag = folder.path().join("bag");
    std::fs::write(&bag, file(&[valued(START, "e2e4", 0.5), valued(START, "e2e4", 0.6)])).unwrap();
    let trial = trial(folder.path(), &bag).with("records", Value::Text("action_value".into()));
    let message = trial.run(&Bag).err().unwrap().message;
    assert!(
        message.ends_with(&format!("bag, record 2: an earlier record has a value of this move in {START:?}")),
        "{message}"
    );
}

#[test]
fn the_probe_of_action_values_has_every_reason_and_sorts_moves() {
    let folder = tempdir().unwrap();
    let values = Values::from([("records".to_owned(), Value::Text("action_value".into()))]);
    let probed = testing::probe(&Bag, values, folder.path()).unwrap().unwrap();
    let faults = String::from_utf8(probed["run/faults"].clone()).unwrap();
    for reason in ["fen", "illegal_move", "length", "notation", "win_probability", "repeated"] {
        assert!(faults.contains(&format!("\"reason\":\"{reason}\"")), "{reason}: {faults}");
    }
    let path = folder.path().join("evaluations");
    std::fs::write(&path, &probed["run/evaluations"]).unwrap();
    let moves: Vec<String> = rows(&path)[0].lines.iter().map(|line| text(line.moves[0])).collect();
    assert_eq!(moves, ["d2d4", "g1f3", "e2e4"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), count in 0u8..4) {
        let folder = tempdir().unwrap();
        let bag = folder.path().join("bag");
        let mut all = bytes.clone();
        for entry in 0..u64::from(count) {
            all.extend((bytes.len() as u64 / 4 * entry).to_le_bytes());
        }
        std::fs::write(&bag, all).unwrap();
        for records in ["best_move", "action_value"] {
            let trial = trial(folder.path(), &bag).with("records", Value::Text(records.into()));
            let _ = trial.with("on_error", Value::Text("drop".into())).run(&Bag);
        }
    }
}
