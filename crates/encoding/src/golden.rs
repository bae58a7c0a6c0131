//! The games that the paper's own code turned into tokens and labels, for tests.

use std::fs::File;
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt16Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// One game of `golden/games.parquet`.
pub struct GoldenGame {
    /// The place of the game.
    pub site: String,
    /// START and its moves.
    pub tokens: Vec<u16>,
    /// `[tokens, 75]`.
    pub labels: Vec<u8>,
}

/// All of them; `None`, said on the way, where the shared folder is absent.
pub fn games() -> Option<Vec<GoldenGame>> {
    let shared = std::env::var_os("CWM_SHARED").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../shared")
    });
    let path = shared.join("golden/games.parquet");
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    let mut games = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let sites = batch.column_by_name("site").unwrap().as_string::<i32>();
        let tokens = batch.column_by_name("tokens").unwrap().as_list::<i32>();
        let labels = batch.column_by_name("labels").unwrap().as_binary::<i32>();
        for row in 0..batch.num_rows() {
            games.push(GoldenGame {
                site: sites.value(row).to_owned(),
                tokens: tokens.value(row).as_primitive::<UInt16Type>().values().to_vec(),
                labels: labels.value(row).to_vec(),
            });
        }
    }
    Some(games)
}
