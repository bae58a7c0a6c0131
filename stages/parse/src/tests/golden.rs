//! Games that the paper's own code keeps.

use std::fs::File;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt16Type, UInt32Type};
use cwm_contract::testing::shared;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// One row of `golden/kept.parquet`.
#[derive(Clone, Debug)]
pub struct GoldenGame {
    pub file: String,
    pub site: String,
    pub kept: bool,
    pub reason: String,
    pub plies: usize,
    pub id: String,
    pub result: String,
    /// The bucket of a kept game.
    pub bucket: Option<u64>,
    pub split: String,
}

/// All rows in order; none, with a note, if they are not there.
pub fn kept() -> Option<Vec<GoldenGame>> {
    let file = File::open(shared("golden/kept.parquet")?).unwrap();
    let mut games = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let text = |name: &str, row: usize| {
            let column = batch.column_by_name(name).unwrap().as_string::<i32>();
            if column.is_null(row) { String::new() } else { column.value(row).to_owned() }
        };
        let plies = batch.column_by_name("plies").unwrap().as_primitive::<UInt32Type>();
        let buckets = batch.column_by_name("bucket").unwrap().as_primitive::<UInt16Type>();
        for row in 0..batch.num_rows() {
            games.push(GoldenGame {
                file: text("file", row),
                site: text("site", row),
                kept: batch.column_by_name("kept").unwrap().as_boolean().value(row),
                reason: text("reason", row),
                plies: plies.value(row) as usize,
                id: text("id", row),
                result: text("result", row),
                bucket: buckets.is_valid(row).then(|| buckets.value(row).into()),
                split: text("split", row),
            });
        }
    }
    Some(games)
}

/// One row of `golden/awkward.parquet`.
#[derive(Clone, Debug)]
pub struct AwkwardGame {
    pub file: String,
    pub site: String,
    pub kept: bool,
    pub reason: String,
    pub plies: usize,
    pub id: String,
    pub result: String,
    pub tokens: Vec<u16>,
    /// 75 bytes for each position.
    pub labels: Vec<u8>,
}

/// All rows in order; none, with a note, if they are not there.
pub fn awkward() -> Option<Vec<AwkwardGame>> {
    let file = File::open(shared("golden/awkward.parquet")?).unwrap();
    let mut games = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let text = |name: &str, row: usize| column(name).as_string::<i32>().value(row).to_owned();
        for row in 0..batch.num_rows() {
            games.push(AwkwardGame {
                file: text("file", row),
                site: text("site", row),
                kept: column("kept").as_boolean().value(row),
                reason: text("reason", row),
                plies: column("plies").as_primitive::<UInt32Type>().value(row) as usize,
                id: text("id", row),
                result: text("result", row),
                tokens: column("tokens").as_list::<i32>().value(row).as_primitive::<UInt16Type>().values().to_vec(),
                labels: column("labels").as_binary::<i32>().value(row).to_vec(),
            });
        }
    }
    Some(games)
}
