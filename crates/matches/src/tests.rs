use std::path::Path;

use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

fn players() -> Players {
    Players {
        first: Participant {
            kind: "model".into(),
            arm: Some("board/none".into()),
            size: Some("d64/l2".into()),
            seed: Some(3),
            ..Participant::default()
        },
        second: Participant { kind: "level:0-19".into(), ..Participant::default() },
        legality: Some("attempts".into()),
        repetition: Some("allow".into()),
        engine: Some(EngineName { name: "Stockfish 15.1".into(), digest: "00ff".into() }),
    }
}

fn write(path: &Path, games: &[Game]) {
    let mut writer = MatchesWriter::create(path, &players()).unwrap();
    games.iter().for_each(|game| writer.push(game.clone()).unwrap());
    writer.finish().unwrap();
}

fn game() -> impl Strategy<Value = Game> {
    let numbers = (any::<u64>(), any::<u64>(), any::<u32>(), any::<u32>(), any::<Option<u8>>());
    let words = ("[a-z_0-9]{0,9}", "[a-z:0-9]{1,9}", "[a-z:0-9]{1,9}");
    let outcome = prop::sample::select(vec![("1-0", 1.0), ("0-1", 0.0), ("1/2-1/2", 0.5)]);
    let moves = proptest::collection::vec(any::<u16>(), 0..9);
    (numbers, words, any::<bool>(), outcome, prop::sample::select(End::ALL.to_vec()), moves).prop_map(
        |((game, pair, plies, illegal_attempts, level), (opening, white, black), first_white, outcome, end, moves)| {
            let (result, score) = (outcome.0.to_owned(), outcome.1);
            Game {
                game,
                pair,
                opening,
                white,
                black,
                first_white,
                result,
                score,
                plies,
                end,
                illegal_attempts,
                level,
                moves,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_was_written_is_read_and_equal_rows_are_equal_bytes(games in proptest::collection::vec(game(), 0..20)) {
        let folder = tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| write(path, &games));
        let matches = Matches::open(&paths[0]).unwrap();
        prop_assert_eq!(matches.description(), &players());
        prop_assert_eq!(matches.total(), games.len() as u64);
        prop_assert_eq!(matches.collect::<Result<Vec<_>, _>>().unwrap(), games);
        prop_assert_eq!(std::fs::read(&paths[0]).unwrap(), std::fs::read(&paths[1]).unwrap());
    }
}

#[test]
fn ends_have_one_word_each_in_files_and_in_json() {
    for end in End::ALL {
        assert_eq!(End::from_word(end.word()), Some(end));
        assert_eq!(serde_json::to_string(&end).unwrap(), format!("\"{end}\""));
    }
    assert_eq!(End::from_word("resigned"), None);
}

#[test]
fn other_files_are_errors_in_words() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "text").unwrap();
    let message = Matches::open(&path).err().unwrap().message;
    assert!(message.contains("file is not a matches file: "), "{message}");
    assert!(Matches::open(&folder.path().join("absent")).is_err());
}
