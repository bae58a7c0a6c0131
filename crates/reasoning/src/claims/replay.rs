//! The claims of published outputs.

use std::collections::HashMap;
use std::fs::File;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use cwm_contract::testing::shared;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::{ClaimRule, claims};
use crate::golden;

/// The rows of a golden file: each is a batch of one row.
fn rows(name: &str) -> Option<impl Iterator<Item = RecordBatch>> {
    let file = File::open(shared(&format!("systems/reasoning-golden/{name}"))?).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let batches = reader.build().unwrap().map(Result::unwrap);
    Some(batches.flat_map(|batch| (0..batch.num_rows()).map(move |row| batch.slice(row, 1)).collect::<Vec<_>>()))
}

fn text(row: &RecordBatch, column: &str) -> String {
    row.column_by_name(column).unwrap().as_string::<i32>().value(0).to_owned()
}

fn key(row: &RecordBatch) -> [String; 3] {
    ["model", "phase", "item"].map(|column| text(row, column))
}

fn count(row: &RecordBatch, column: &str) -> usize {
    row.column_by_name(column).unwrap().as_primitive::<Int64Type>().value(0) as usize
}

#[test]
fn published_outputs_have_their_claims() {
    let Some(items) = rows("replay-items.parquet") else { return };
    let fens: HashMap<String, String> = items.map(|row| (text(&row, "item"), text(&row, "fen"))).collect();
    let expected = |row: RecordBatch| {
        let columns = ["move_claims", "true_move_claims", "piece_claims", "true_piece_claims"];
        (key(&row), columns.map(|column| count(&row, column)))
    };
    let of_moves = rows("replay-answers.parquet").unwrap().filter(|row| text(row, "item").starts_with("predict"));
    let expected: HashMap<[String; 3], [usize; 4]> = of_moves.map(expected).collect();
    let mut compared = 0;
    for row in rows("replay-texts.parquet").unwrap() {
        let key = key(&row);
        let found = claims(&golden::position(&fens[&key[2]]), &text(&row, "text"), ClaimRule::Position);
        let found = [found.moves.len(), found.true_moves(), found.pieces.len(), found.true_pieces()];
        assert_eq!(found, expected[&key], "{key:?}");
        compared += 1;
    }
    assert_eq!(compared, 120);
}
