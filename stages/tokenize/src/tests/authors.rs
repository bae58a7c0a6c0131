//! The awkward files by the authors' rules, through all data stages.

use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt16Type;
use cwm_chess::Dataset;
use cwm_contract::Value;
use cwm_contract::testing::{Trial, shared};
use cwm_encoding::{EnPassant, LABELS, replay_into};
use cwm_parse::Parse;
use cwm_split::Split;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::tempdir;

use crate::Tokenize;

#[derive(Debug, PartialEq)]
struct Game {
    id: String,
    result: String,
    tokens: Vec<u16>,
    labels: Vec<u8>,
}

/// The kept games of all awkward files in order.
fn golden() -> Option<Vec<Game>> {
    let file = File::open(shared("golden/awkward.parquet")?).unwrap();
    let mut games = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        for row in (0..batch.num_rows()).filter(|&row| column("kept").as_boolean().value(row)) {
            games.push(Game {
                id: column("id").as_string::<i32>().value(row).to_owned(),
                result: column("result").as_string::<i32>().value(row).to_owned(),
                tokens: column("tokens").as_list::<i32>().value(row).as_primitive::<UInt16Type>().values().to_vec(),
                labels: column("labels").as_binary::<i32>().value(row).to_vec(),
            });
        }
    }
    Some(games)
}

#[test]
fn datasets_hold_golden_tokens_and_labels_of_games_that_no_standard_replay_reproduces() {
    let (Some(golden), Some(awkward)) = (golden(), shared("data/awkward")) else { return };
    let folder = tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "cwm-test-key").unwrap();
    let mut files: Vec<_> = std::fs::read_dir(awkward).unwrap().map(|file| file.unwrap().path()).collect();
    // One compressed file is cut; the others hold the games of a plain one.
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pgn"));
    files.sort();
    let mut parse = Trial::new(folder.path().join("parse"))
        .with("id_key_file", Value::Text(key.display().to_string()))
        .with("rules", Value::Text("authors".into()));
    for file in &files {
        parse = parse.input("pgn", file);
    }
    let parsed = parse.run(&Parse).unwrap();
    let split = Trial::new(folder.path().join("split")).input("games", &parsed.outputs["games"]);
    let split = split.with("validation", Value::Int(4_000)).run(&Split).unwrap();
    let written = Trial::new(folder.path().join("tokenize"))
        .input("train", &split.outputs["train"])
        .input("validation", &split.outputs["validation"])
        .run(&Tokenize)
        .unwrap();
    let mut found = Vec::new();
    let mut carried = 0;
    for set in ["train", "validation"] {
        let dataset = Dataset::open(&written.outputs[set]).unwrap();
        assert!(dataset.labelled() && dataset.len() > 20);
        for row in dataset.iter() {
            let row = row.unwrap();
            let row = row.row();
            carried += usize::from(row.labels.is_some());
            let labels = row.labels.map(<[u8]>::to_vec).unwrap_or_else(|| {
                let mut labels = vec![0; row.tokens.len() * LABELS];
                replay_into(row.tokens, EnPassant::Always, &mut labels).unwrap();
                labels
            });
            let (id, result) = (row.id.to_owned(), row.result.to_owned());
            found.push((row.index, Game { id, result, tokens: row.tokens.to_vec(), labels }));
        }
    }
    found.sort_by_key(|(index, _)| *index);
    // Behind the three places where the authors' program stops one game each is kept.
    let mut golden = golden.into_iter().peekable();
    let behind = found.iter().filter(|(_, game)| golden.next_if(|expected| expected == game).is_none()).count();
    assert_eq!((behind, golden.next()), (3, None));
    assert_eq!((found.len(), carried), (213, 30));
}
