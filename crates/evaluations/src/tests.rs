use std::path::Path;

use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

fn source() -> Source {
    Source {
        made_by: "Stockfish 15.1".to_owned(),
        nodes: Some(1000),
        digest: Some("7f".to_owned()),
        options: [("Use NNUE".to_owned(), "false".to_owned())].into(),
    }
}

fn write(path: &Path, rows: &[Evaluation]) {
    let mut writer = EvaluationsWriter::create(path, &source()).unwrap();
    rows.iter().for_each(|row| writer.push(row.clone()).unwrap());
    writer.finish().unwrap();
}

fn line() -> impl Strategy<Value = Line> {
    let score = prop_oneof![any::<i32>().prop_map(Score::Centipawns), any::<i32>().prop_map(Score::Mate)];
    let moves = proptest::collection::vec(any::<u16>(), 1..4);
    (proptest::option::of(score), any::<Option<u32>>(), moves).prop_map(|(score, depth, moves)| Line {
        score,
        depth,
        moves,
    })
}

fn evaluation() -> impl Strategy<Value = Evaluation> {
    let lines = proptest::collection::vec(line(), 1..4);
    (any::<u64>(), any::<Option<u64>>(), "[a-z]{0,5}", any::<Option<u32>>(), "[a-z/ ]{0,9}", lines)
        .prop_map(|(record, game, id, t, fen, lines)| Evaluation { record, game, id, t, fen, lines })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_was_written_is_read_and_equal_rows_are_equal_bytes(rows in proptest::collection::vec(evaluation(), 0..20)) {
        let folder = tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| write(path, &rows));
        let evaluations = Evaluations::open(&paths[0]).unwrap();
        prop_assert_eq!(evaluations.description(), &source());
        prop_assert_eq!(evaluations.total(), rows.len() as u64);
        prop_assert_eq!(evaluations.collect::<Result<Vec<_>, _>>().unwrap(), rows);
        prop_assert_eq!(std::fs::read(&paths[0]).unwrap(), std::fs::read(&paths[1]).unwrap());
    }
}

#[test]
fn win_probabilities_lead_back_to_their_values() {
    for centipawns in -8_000..=8_000 {
        let score = Score::Centipawns(centipawns);
        assert_eq!(Score::of_win_probability(score.win_probability()), score);
    }
    assert_eq!(Score::of_win_probability(0.5), Score::Centipawns(0));
    for (win, moves) in [(1., UNKNOWN_MOVES), (0., -UNKNOWN_MOVES)] {
        let score = Score::of_win_probability(win);
        assert_eq!((score, score.win_probability()), (Score::Mate(moves), win));
    }
}

#[test]
fn many_rows_go_through_several_batches() {
    let row = |record| Evaluation {
        record,
        game: None,
        id: String::new(),
        t: None,
        fen: format!("fen {record}"),
        lines: vec![Line { score: None, depth: None, moves: vec![record as u16] }],
    };
    let folder = tempdir().unwrap();
    let path = folder.path().join("many");
    let rows: Vec<_> = (0..20_000).map(row).collect();
    write(&path, &rows);
    assert_eq!(Evaluations::open(&path).unwrap().collect::<Result<Vec<_>, _>>().unwrap(), rows);
}

#[test]
fn descriptions_of_the_first_versions_are_read() {
    for text in [r#"{"made_by":"Stockfish 15.1","nodes":1000}"#, r#"{"made_by":"chessbench"}"#] {
        let source: Source = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&source).unwrap(), text);
    }
}

#[test]
fn other_files_are_errors_in_words() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "text").unwrap();
    let message = Evaluations::open(&path).err().unwrap().message;
    assert!(message.contains("file is not an evaluations file: "), "{message}");
    assert!(Evaluations::open(&folder.path().join("absent")).is_err());
}
