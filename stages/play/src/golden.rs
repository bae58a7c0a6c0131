//! The authors' numbers and games, for tests.

use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt16Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// A file of the golden data, or a line that says why the test is skipped.
pub fn path(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("CWM_SHARED").map_or_else(
        || PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../shared"),
        PathBuf::from,
    );
    let path = shared.join("golden").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: golden/{name} is not there (CWM_SHARED names the folder that holds golden/)");
    None
}

/// One game of the authors' generator.
pub struct RandomGame {
    /// `cwm_random_00000` and so on.
    pub id: String,
    /// `1-0`, `0-1` or `1/2-1/2`.
    pub result: String,
    /// The rule that ended it, as the golden file names it.
    pub termination: String,
    /// START, then a token a move: (from * 64 + to) * 5 + promotion.
    pub tokens: Vec<u16>,
}

/// The first 200 games of the authors' generator for seed 0.
pub fn random_games() -> Option<Vec<RandomGame>> {
    let file = std::fs::File::open(path("random-uniform-seed0.parquet")?).unwrap();
    let mut games = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let text =
            |name: &str, row: usize| batch.column_by_name(name).unwrap().as_string::<i32>().value(row).to_owned();
        let tokens = batch.column_by_name("tokens").unwrap().as_list::<i32>();
        for row in 0..batch.num_rows() {
            games.push(RandomGame {
                id: text("id", row),
                result: text("result", row),
                termination: text("termination", row),
                tokens: tokens.value(row).as_primitive::<UInt16Type>().values().to_vec(),
            });
        }
    }
    Some(games)
}
