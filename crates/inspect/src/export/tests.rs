//! Exports, read back.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_ipc::reader::{FileReader, StreamReader};
use cwm_chess::{DatasetRow, DatasetWriter};
use cwm_encoding::{EnPassant, LABELS, PlainMove, START, classes, replay_into};
use shakmaty::{Chess, Position};
use tempfile::tempdir;

use super::*;

/// Games of the first legal moves counted from `seed`, of different lengths.
fn games(count: usize) -> Vec<Vec<u16>> {
    let game = |seed: usize| {
        let mut position = Chess::default();
        let mut tokens = vec![START];
        for ply in 0..seed % 37 {
            let moves = position.legal_moves();
            let Some(&played) = moves.get((seed * 31 + ply * 17) % moves.len().max(1)) else { break };
            tokens.push(PlainMove::from(played).token());
            position.play_unchecked(played);
        }
        tokens
    };
    (0..count).map(game).collect()
}

fn write(folder: &Path, games: &[Vec<u16>]) {
    let mut writer = DatasetWriter::create(folder, 1_000_000).unwrap();
    for (index, tokens) in (0..).zip(games) {
        let id = format!("cwm_{index}");
        writer.push(DatasetRow { index, id: &id, tokens, result: "1-0", labels: None }).unwrap();
    }
    writer.finish().unwrap();
}

fn stream(folder: &Path, options: ExportOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    export_as(&Format::DATASET, folder, &options, ExportTarget::Stream(&mut bytes)).unwrap();
    bytes
}

fn check(batches: impl Iterator<Item = RecordBatch>, games: &[Vec<u16>]) {
    let mut expected = (0_u64..).zip(games);
    for batch in batches {
        let column = |name: &str| batch.column_by_name(name).unwrap();
        for row in 0..batch.num_rows() {
            let (index, tokens) = expected.next().unwrap();
            assert_eq!(column("index").as_primitive::<UInt64Type>().value(row), index);
            assert_eq!(column("id").as_string::<i32>().value(row), format!("cwm_{index}"));
            assert_eq!(column("result").as_string::<i32>().value(row), "1-0");
            assert_eq!(column("plies").as_primitive::<UInt32Type>().value(row) as usize, tokens.len() - 1);
            let found = column("tokens").as_list::<i32>().value(row);
            assert_eq!(found.as_primitive::<UInt16Type>().values(), &tokens[..]);
            if let Some(labels) = batch.column_by_name("labels") {
                let mut replayed = vec![0; tokens.len() * LABELS];
                replay_into(tokens, EnPassant::Always, &mut replayed).unwrap();
                let positions = labels.as_list::<i32>().value(row);
                let positions = positions.as_fixed_size_list();
                assert_eq!(positions.value_length(), 75);
                let first = positions.value_offset(0) as usize;
                let values = positions.values().as_primitive::<UInt8Type>().values();
                assert_eq!(&values[first..first + replayed.len()], &replayed[..]);
            }
        }
    }
    assert!(expected.next().is_none());
}

#[test]
fn every_position_has_its_labels_in_files_and_in_a_stream() {
    let folder = tempdir().unwrap();
    let games = games(5_000);
    write(&folder.path().join("dataset"), &games);
    for (labels, limit) in [(true, None), (true, Some(7)), (false, None), (false, Some(4_999)), (true, Some(0))] {
        let options = ExportOptions { labels, limit, cores: 2 };
        let expected = &games[..limit.unwrap_or(5_000) as usize];
        let bytes = stream(&folder.path().join("dataset"), options);
        let reader = StreamReader::try_new(&bytes[..], None).unwrap();
        let name = if labels { "labelled" } else { "dataset" };
        assert_eq!(reader.schema().metadata()["cwm.format"], name);
        assert_eq!(reader.schema().column_with_name("labels").is_some(), labels);
        check(reader.map(Result::unwrap), expected);

        let files = folder.path().join(format!("{labels}-{limit:?}"));
        std::fs::create_dir(&files).unwrap();
        export_as(&Format::DATASET, &folder.path().join("dataset"), &options, ExportTarget::Folder(&files)).unwrap();
        let file = std::fs::File::open(files.join(format!("{name}-00000.arrow"))).unwrap();
        check(FileReader::try_new(file, None).unwrap().map(Result::unwrap), expected);
        assert_eq!(std::fs::read_dir(&files).unwrap().count(), 1);
    }
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_cores() {
    let folder = tempdir().unwrap();
    write(&folder.path().join("dataset"), &games(9_000));
    let bytes = [1, 2, 5]
        .map(|cores| stream(&folder.path().join("dataset"), ExportOptions { labels: true, limit: None, cores }));
    assert!(
        StreamReader::try_new(&bytes[0][..], None).unwrap().count() > 2,
        "there are several batches to keep in order"
    );
    assert!(bytes[0] == bytes[1] && bytes[0] == bytes[2]);
}

#[test]
fn what_is_no_game_is_reported_with_its_place_and_other_formats_are_refused() {
    let folder = tempdir().unwrap();
    let mut games = games(4);
    games[2] = vec![START, 3980, 3980];
    write(folder.path(), &games);
    let options = ExportOptions { labels: true, limit: None, cores: 2 };
    let failure =
        export_as(&Format::DATASET, folder.path(), &options, ExportTarget::Stream(&mut Vec::new())).unwrap_err();
    assert!(failure.message.starts_with("game 2 (cwm_2) of "), "{failure}");
    assert!(failure.message.ends_with(": token 3980 (e2e4) at ply 2 is not a legal move"), "{failure}");
    let failure =
        export_as(&Format::GAMES, folder.path(), &options, ExportTarget::Stream(&mut Vec::new())).unwrap_err();
    assert_eq!(failure.message, "what has format `games` cannot be exported with labels; only a `dataset` can");
    assert!(failure.hint.is_some());
}

#[test]
fn labels_that_games_carry_go_out_as_they_are() {
    let folder = tempdir().unwrap();
    let mut writer = DatasetWriter::create(&folder.path().join("dataset"), 9).unwrap().labelled(true);
    let carried: Vec<u8> = (0..3 * LABELS).map(|at| ((at * at + at / LABELS) % classes(at % LABELS)) as u8).collect();
    // A null move, which no replay takes; then a game that is replayed.
    for (index, tokens, labels) in [(0, [START, 0, 3980], Some(&carried[..])), (1, [START, 3980, 16820], None)] {
        writer.push(DatasetRow { index, id: "x", tokens: &tokens, result: "*", labels }).unwrap();
    }
    writer.finish().unwrap();
    let bytes = stream(&folder.path().join("dataset"), ExportOptions { labels: true, limit: None, cores: 2 });
    let batch = StreamReader::try_new(&bytes[..], None).unwrap().next().unwrap().unwrap();
    let positions = batch.column_by_name("labels").unwrap().as_list::<i32>().values().clone();
    let labels = positions.as_fixed_size_list().values().as_primitive::<UInt8Type>().values().to_vec();
    let mut replayed = vec![0; 3 * LABELS];
    replay_into(&[START, 3980, 16820], EnPassant::Always, &mut replayed).unwrap();
    assert_eq!((&labels[..3 * LABELS], &labels[3 * LABELS..]), (&carried[..], &replayed[..]));

    let bytes = stream(&folder.path().join("dataset"), ExportOptions { labels: false, limit: None, cores: 1 });
    let batch = StreamReader::try_new(&bytes[..], None).unwrap().next().unwrap().unwrap();
    let stored = batch.column_by_name("labels").unwrap().as_binary::<i32>().clone();
    assert_eq!(stored.iter().collect::<Vec<_>>(), [Some(&carried[..]), None]);
}

#[test]
fn the_first_games_are_a_dataset_again() {
    let folder = tempdir().unwrap();
    let games = games(200);
    write(&folder.path().join("dataset"), &games);
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let options = ExportOptions { labels: false, limit: Some(90), cores: 2 };
    export_as(&Format::DATASET, &folder.path().join("dataset"), &options, ExportTarget::Folder(&out)).unwrap();
    let again = Dataset::open(&out).unwrap();
    let tokens = again.iter().map(|game| game.unwrap().row().tokens.to_vec());
    assert_eq!(tokens.collect::<Vec<_>>(), games[..90]);
}
