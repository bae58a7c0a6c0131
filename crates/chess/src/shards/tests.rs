use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

type Row = (u64, String, String, Vec<u16>);

fn write(folder: &Path, rows: &[Row], shard_games: u64) {
    let mut games = GamesWriter::create(&folder.join("games"), shard_games).unwrap();
    let mut dataset = DatasetWriter::create(&folder.join("dataset"), shard_games).unwrap();
    for (index, id, site, numbers) in rows {
        let (index, result) = (*index, if index % 2 == 0 { "1-0" } else { "1/2-1/2" });
        games.push(GameRow { index, id, site, result, moves: &numbers[1..], labels: None }).unwrap();
        dataset.push(DatasetRow { index, id, tokens: numbers, result, labels: None }).unwrap();
    }
    games.finish().unwrap();
    dataset.finish().unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_is_written_is_read_back_from_any_place(
        rows in proptest::collection::vec(
            (any::<u64>(), "\\PC{0,12}", "\\PC{0,30}", proptest::collection::vec(any::<u16>(), 1..60)), 0..40),
        shard_games in 1..12u64,
    ) {
        let folder = tempdir().unwrap();
        write(folder.path(), &rows, shard_games);
        let games = Games::open(&folder.path().join("games")).unwrap();
        let dataset = Dataset::open(&folder.path().join("dataset")).unwrap();
        let shards = rows.len().div_ceil(shard_games as usize).max(1);
        prop_assert_eq!(names(&folder.path().join("games")).len(), shards);
        prop_assert_eq!(names(&folder.path().join("dataset")).len(), shards);
        prop_assert_eq!((games.len(), dataset.len()), (rows.len(), rows.len()));
        prop_assert_eq!(dataset.positions(), rows.iter().map(|row| row.3.len() as u64).sum::<u64>());
        for (at, (index, id, site, numbers)) in rows.iter().enumerate().rev() {
            let game = games.get(at).unwrap();
            prop_assert_eq!((game.index, game.id, game.site, game.moves), (*index, &id[..], &site[..], &numbers[1..]));
            let row = dataset.get(at).unwrap();
            prop_assert_eq!((row.index, row.id, row.tokens, row.result), (*index, &id[..], &numbers[..], game.result));
        }
        prop_assert!(games.get(rows.len()).is_none() && dataset.get(rows.len()).is_none());
        prop_assert_eq!(games.iter().count(), rows.len());
        prop_assert_eq!(dataset.iter().map(|row| row.tokens.len() as u64).sum::<u64>(), dataset.positions());
    }
}

fn one_game(folder: &Path) {
    write(folder, &[(0, "cwm_0".into(), "here".into(), vec![20480, 1, 2])], SHARD_GAMES);
}

#[test]
fn a_folder_without_its_first_or_a_middle_file_is_refused() {
    let folder = tempdir().unwrap();
    let error = Dataset::open(folder.path()).unwrap_err();
    assert!(error.to_string().ends_with("holds no dataset-00000.arrow"), "{error}");
    let rows: Vec<Row> = (0..9).map(|index| (index, String::new(), String::new(), vec![1, 2])).collect();
    write(folder.path(), &rows, 3);
    fs::remove_file(folder.path().join("games/games-00001.arrow")).unwrap();
    let error = Games::open(&folder.path().join("games")).unwrap_err();
    assert!(error.to_string().ends_with("holds no games-00001.arrow"), "{error}");
}

#[test]
fn another_format_a_newer_version_and_damage_are_told_in_words() {
    let folder = tempdir().unwrap();
    one_game(folder.path());
    let games = folder.path().join("games/games-00000.arrow");
    let bytes = fs::read(folder.path().join("dataset/dataset-00000.arrow")).unwrap();
    let read_as_games = |bytes: &[u8]| {
        fs::write(&games, bytes).unwrap();
        Games::open(&folder.path().join("games")).unwrap_err().to_string()
    };
    assert!(read_as_games(&bytes).ends_with("is not a games file: it says that it is a dataset file"));
    assert!(read_as_games(b"PK").ends_with("is not a games file: it is too short"));
    assert!(read_as_games(&bytes[..bytes.len() - 1]).contains("is not a games file"));

    let newer = files::ShardFormat { name: "games", version: 3, fields: Vec::new(), labelled: false };
    let folder = folder.path().join("newer");
    files::ShardFiles::create(newer, &folder, 1).unwrap().finish().unwrap();
    let error = Games::open(&folder).unwrap_err().to_string();
    assert!(error.ends_with("is of version 3 of the games format, and this cwm reads up to version 2"), "{error}");
}

#[test]
fn a_flipped_byte_never_panics() {
    let folder = tempdir().unwrap();
    one_game(folder.path());
    let dataset = folder.path().join("dataset/dataset-00000.arrow");
    let bytes = fs::read(&dataset).unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        fs::write(&dataset, damaged).unwrap();
        if let Ok(opened) = Dataset::open(&folder.path().join("dataset")) {
            assert!(opened.iter().count() <= 16_384);
        }
    }
}

#[test]
fn equal_games_give_equal_bytes() {
    let folders = [tempdir().unwrap(), tempdir().unwrap()];
    let [first, second] = folders.each_ref().map(|folder| {
        one_game(folder.path());
        fs::read(folder.path().join("games/games-00000.arrow")).unwrap()
    });
    assert_eq!(first, second);
}

#[test]
fn labels_are_kept_where_there_are_any_and_must_fit_their_game() {
    let folder = tempdir().unwrap();
    let labels: Vec<u8> = (0..225u8).collect();
    let mut games = GamesWriter::create(&folder.path().join("games"), 2).unwrap().labelled(true);
    let mut dataset = DatasetWriter::create(&folder.path().join("dataset"), 2).unwrap().labelled(true);
    for (index, labels) in [(0, None), (1, Some(&labels[..])), (2, None)] {
        games.push(GameRow { index, id: "cwm", site: "", result: "*", moves: &[1, 2], labels }).unwrap();
        dataset.push(DatasetRow { index, id: "cwm", tokens: &[20480, 1, 2], result: "*", labels }).unwrap();
    }
    let short = GameRow { index: 3, id: "cwm", site: "", result: "*", moves: &[1, 2, 3], labels: Some(&labels) };
    let error = games.push(short).unwrap_err().to_string();
    assert!(error.starts_with("game 3 of ") && error.ends_with(" carries 225 bytes of labels, not 300"), "{error}");
    games.finish().unwrap();
    dataset.finish().unwrap();
    let games = Games::open(&folder.path().join("games")).unwrap();
    let dataset = Dataset::open(&folder.path().join("dataset")).unwrap();
    assert!(games.labelled() && dataset.labelled());
    let expected = [None, Some(&labels[..]), None];
    assert!(games.iter().map(|game| game.labels).eq(expected));
    assert!(dataset.iter().map(|game| game.labels).eq(expected));

    let mut plain = GamesWriter::create(&folder.path().join("plain"), 2).unwrap();
    let error = plain.push(GameRow { moves: &[1, 2], ..short }).unwrap_err().to_string();
    assert!(error.ends_with(" carries 225 bytes of labels, not 0"), "{error}");
}
