//! Games that the paper's own program labelled, written by its schema and read back.

use std::fmt::Write as _;
use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt16Type;
use cwm_contract::testing::shared;
use cwm_encoding::{LABELS, PlainMove};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::tempdir;

use super::{games, import_text};

struct GoldenGame {
    id: String,
    result: String,
    tokens: Vec<u16>,
    labels: Vec<u8>,
}

/// The rows of a file of the golden data; `None`, with a printed line, where it is absent.
fn golden(name: &str) -> Option<Vec<GoldenGame>> {
    let file = File::open(shared(&format!("golden/{name}"))?).unwrap();
    let mut games = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let text = |name: &str, row| batch.column_by_name(name).unwrap().as_string::<i32>().value(row).to_owned();
        for row in 0..batch.num_rows() {
            let tokens = batch.column_by_name("tokens").unwrap().as_list::<i32>().value(row);
            games.push(GoldenGame {
                id: text("id", row),
                result: text("result", row),
                tokens: tokens.as_primitive::<UInt16Type>().values().to_vec(),
                labels: batch.column_by_name("labels").unwrap().as_binary::<i32>().value(row).to_vec(),
            });
        }
    }
    Some(games)
}

/// A line by the schema.
fn line(game: &GoldenGame) -> String {
    let states: Vec<&[u8]> = game.labels.chunks(LABELS).collect();
    let (steps, plies) = (game.tokens.len(), game.tokens.len() - 1);
    let mut line = String::new();
    let _ = writeln!(
        line,
        "{{\"example_id\": {:?}, \"moves\": {:?}, \"states\": {states:?}, \"steps\": {steps}, \"plies\": {plies}, \
         \"fullmoves\": {}, \"result\": {:?}, \"spec\": {{\"state_len\": 75}}}}",
        game.id,
        game.tokens,
        plies.div_ceil(2),
        game.result,
    );
    line
}

#[test]
fn golden_games_come_through_with_every_state_checked() {
    for (name, count) in [("games.parquet", 500), ("random-uniform-seed0.parquet", 200)] {
        let Some(expected) = golden(name) else { return };
        assert_eq!(expected.len(), count);
        let text: String = expected.iter().map(line).collect();
        let folder = tempdir().unwrap();
        let outcome = import_text(folder.path(), text.as_bytes(), &[]).unwrap();
        let found = games(&outcome);
        assert_eq!(found.len(), count);
        for (game, (id, _, result, moves)) in expected.iter().zip(found) {
            let tokens = moves.iter().map(|&packed| PlainMove::from_packed(packed).unwrap().token());
            assert!(tokens.eq(game.tokens[1..].iter().copied()), "{id}");
            assert_eq!((&id, &result), (&game.id, &game.result));
        }
    }
}
