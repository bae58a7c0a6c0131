//! From PGN to labels, through all data stages, against the paper's own code.

mod authors;

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt16Type;
use cwm_chess::{Dataset, GameRow, GamesWriter};
use cwm_contract::Value;
use cwm_contract::testing::{Trial, shared};
use cwm_encoding::{EnPassant, LABELS, replay_into};
use cwm_parse::Parse;
use cwm_split::Split;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::tempdir;

use crate::Tokenize;

struct GoldenGame {
    id: String,
    split: String,
    result: String,
    tokens: Vec<u16>,
    labels: Vec<u8>,
}

fn golden() -> Option<HashMap<String, GoldenGame>> {
    let file = File::open(shared("golden/games.parquet")?).unwrap();
    let mut games = HashMap::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let text = |name: &str, row| batch.column_by_name(name).unwrap().as_string::<i32>().value(row).to_owned();
        for row in 0..batch.num_rows() {
            let tokens = batch.column_by_name("tokens").unwrap().as_list::<i32>().value(row);
            let game = GoldenGame {
                id: text("id", row),
                split: text("split", row),
                result: text("result", row),
                tokens: tokens.as_primitive::<UInt16Type>().values().to_vec(),
                labels: batch.column_by_name("labels").unwrap().as_binary::<i32>().value(row).to_vec(),
            };
            games.insert(game.id.clone(), game);
        }
    }
    Some(games)
}

#[test]
fn pgn_becomes_the_paper_s_labels_on_every_ply() {
    let (Some(golden), Some(sample)) = (golden(), shared("data/lichess-sample.pgn.zst")) else { return };
    assert_eq!(golden.len(), 500);
    let folder = tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "cwm-test-key").unwrap();
    let parsed = Trial::new(folder.path().join("parse"))
        .input("pgn", sample)
        .with("id_key_file", Value::Text(key.display().to_string()))
        .run(&Parse)
        .unwrap();
    let split = Trial::new(folder.path().join("split")).input("games", &parsed.outputs["games"]).run(&Split).unwrap();
    let written = Trial::new(folder.path().join("tokenize"))
        .input("train", &split.outputs["train"])
        .input("validation", &split.outputs["validation"])
        .run(&Tokenize)
        .unwrap();
    assert!(!written.outputs.contains_key("dataset"));
    let mut found = 0;
    let mut games = 0;
    for set in ["train", "validation"] {
        let dataset = Dataset::open(&written.outputs[set]).unwrap();
        if set == "train" {
            let plies = dataset.positions() - dataset.len() as u64;
            let size = std::fs::metadata(written.outputs[set].join("dataset-00000.arrow")).unwrap().len();
            let beyond = (size - 2 * plies) as f64 / dataset.len() as f64;
            assert!(beyond < 30.0, "2 bytes a ply and {beyond} a game");
        }
        games += dataset.len();
        for row in dataset.iter() {
            let row = row.unwrap();
            let row = row.row();
            let Some(expected) = golden.get(row.id) else { continue };
            found += 1;
            assert_eq!(
                (set, row.result, row.tokens),
                (&expected.split[..], &expected.result[..], &expected.tokens[..])
            );
            let mut labels = vec![0; row.tokens.len() * LABELS];
            replay_into(row.tokens, EnPassant::Always, &mut labels).unwrap();
            assert!(labels == expected.labels, "{}", row.id);
        }
        let indices: Vec<u64> = dataset.iter().map(|row| row.unwrap().row().index).collect();
        assert!(indices.is_sorted());
    }
    assert_eq!((found, games), (500, 14_100));
}

fn two_games(folder: &Path, first: &[u16]) {
    let mut writer = GamesWriter::create(folder, 1).unwrap();
    writer.push(GameRow { index: 3, id: "cwm_3", site: "", result: "1-0", moves: first, labels: None }).unwrap();
    writer
        .push(GameRow { index: 8, id: "cwm_8", site: "", result: "*", moves: &[12 | 28 << 6], labels: None })
        .unwrap();
    writer.finish().unwrap();
}

#[test]
fn one_set_becomes_one_dataset_and_is_counted() {
    let folder = tempdir().unwrap();
    // e2e4, e7e5; then e7e8=Q as a pattern only: what is legal is not this stage's affair.
    two_games(&folder.path().join("games"), &[12 | 28 << 6, 52 | 36 << 6, 52 | 60 << 6 | 1 << 12]);
    let written =
        Trial::new(folder.path().join("work")).input("games", folder.path().join("games")).run(&Tokenize).unwrap();
    let dataset = Dataset::open(&written.outputs["dataset"]).unwrap();
    let e2e4 = (12 * 64 + 28) * 5;
    let first = dataset.get(0).unwrap().unwrap();
    let first = first.row();
    assert_eq!((first.index, first.id, first.result), (3, "cwm_3", "1-0"));
    assert_eq!(first.tokens, [20480, e2e4, (52 * 64 + 36) * 5, (52 * 64 + 60) * 5 + 1]);
    assert_eq!(dataset.tokens(1).unwrap().unwrap(), [20480, e2e4]);
    let mut moves = [0u8; 2560];
    for token in [e2e4, (52 * 64 + 36) * 5, (52 * 64 + 60) * 5 + 1] {
        moves[usize::from(token) / 8] |= 1 << (token % 8);
    }
    let moves: String = moves.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        std::fs::read_to_string(&written.outputs["counts"]).unwrap(),
        format!(
            "{{\"all\":{{\"games\":2,\"plies\":4,\"positions\":6,\"unique_moves\":3}},\
             \"sets\":{{\"dataset\":{{\"games\":2,\"moves\":\"{moves}\",\"plies\":4,\"positions\":6,\"unique_moves\":3}}}},\
             \"stage\":\"tokenize\"}}\n"
        )
    );
}

#[test]
fn no_input_and_no_move_are_reported() {
    let folder = tempdir().unwrap();
    let failure = Trial::new(folder.path().join("work")).run(&Tokenize).err().unwrap();
    assert_eq!(failure.message, "tokenize has no games to work on");
    two_games(&folder.path().join("games"), &[1, 0x5000]);
    let trial = Trial::new(folder.path().join("work")).input("games", folder.path().join("games"));
    let failure = trial.run(&Tokenize).err().unwrap();
    assert!(failure.message.starts_with("game 0 (cwm_3) of "), "{failure}");
    assert!(failure.message.ends_with(" has no move at ply 2 but 0x5000"), "{failure}");
}

#[test]
fn moves_of_several_sets_are_counted_together_as_well() {
    let folder = tempdir().unwrap();
    two_games(&folder.path().join("train"), &[12 | 28 << 6, 52 | 36 << 6]);
    two_games(&folder.path().join("validation"), &[12 | 28 << 6, 51 | 35 << 6, 6 | 21 << 6]);
    let written = Trial::new(folder.path().join("work"))
        .input("train", folder.path().join("train"))
        .input("validation", folder.path().join("validation"))
        .run(&Tokenize)
        .unwrap();
    let counts: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&written.outputs["counts"]).unwrap()).unwrap();
    let unique = |counts: &serde_json::Value| counts["unique_moves"].as_u64().unwrap();
    assert_eq!((unique(&counts["sets"]["train"]), unique(&counts["sets"]["validation"])), (2, 3));
    // e2e4 is in both.
    assert_eq!(counts["all"].to_string(), r#"{"games":4,"plies":7,"positions":11,"unique_moves":4}"#);
}

#[test]
fn labels_are_passed_on_in_equal_bytes_for_any_cores_and_shards_end_where_they_should() {
    let folder = tempdir().unwrap();
    let games = folder.path().join("games");
    let mut writer = GamesWriter::create(&games, 1_000).unwrap().labelled(true);
    let moves: Vec<u16> = (0..60).map(|ply| ply << 6 | 5).collect();
    let labels = |index: u64| (index % 7 == 3).then(|| vec![index as u8 % 2; LABELS * (1 + index as usize % 60)]);
    for index in 0..2_500 {
        let (id, labels) = (format!("cwm_{index}"), labels(index));
        let (moves, labels) = (&moves[..index as usize % 60], labels.as_deref());
        writer.push(GameRow { index, id: &id, site: "", result: "*", moves, labels }).unwrap();
    }
    writer.finish().unwrap();
    let bytes = [1, 2, 5].map(|cores| {
        let trial = Trial::new(folder.path().join(format!("work{cores}"))).input("games", &games).cores(cores);
        let written = trial.with("shard_games", Value::Int(700)).run(&Tokenize).unwrap().outputs["dataset"].clone();
        let dataset = Dataset::open(&written).unwrap();
        assert_eq!((dataset.len(), dataset.labelled()), (2_500, true));
        for (index, game) in (0..).zip(dataset.iter()) {
            let game = game.unwrap();
            assert_eq!((game.row().index, game.row().labels), (index, labels(index).as_deref()));
        }
        let mut files: Vec<_> = std::fs::read_dir(&written).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        assert_eq!(files.len(), 4);
        files.into_iter().map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>()
    });
    assert!(bytes.iter().all(|found| *found == bytes[0]));
}
