//! The authors' numbers and games, for tests.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt16Type;
use cwm_contract::testing::shared;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

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

/// The first 200 games of the authors' generator for seed 0; none, with a note, if they are not there.
pub fn random_games() -> Option<Vec<RandomGame>> {
    let file = std::fs::File::open(shared("golden/random-uniform-seed0.parquet")?).unwrap();
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
