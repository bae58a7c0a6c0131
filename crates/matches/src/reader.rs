//! Reads a file of matches.

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use cwm_contract::Failure;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::schema::{PLAYERS, schema};
use crate::{End, Game, Players};

/// A file of matches, game by game.
pub struct Matches {
    path: PathBuf,
    players: Players,
    total: u64,
    batches: ParquetRecordBatchReader,
    rows: std::vec::IntoIter<Game>,
}

impl Matches {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, or it is no file of matches.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = fs_err::File::open(path)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.into_file());
        let builder = builder.map_err(|error| not_one(path, error))?;
        let metadata = builder.metadata().file_metadata();
        let total = u64::try_from(metadata.num_rows()).map_err(|error| not_one(path, error))?;
        let pairs = metadata.key_value_metadata().into_iter().flatten();
        let players = pairs.into_iter().find(|pair| pair.key == PLAYERS).and_then(|pair| pair.value.as_deref());
        let players = players.ok_or_else(|| not_one(path, format!("its metadata lack `{PLAYERS}`")))?;
        let players = serde_json::from_str(players).map_err(|error| not_one(path, format!("`{PLAYERS}`: {error}")))?;
        let expected = schema();
        if builder.schema().fields() != expected.fields() {
            let names = |schema: &arrow_schema::Schema| {
                schema.fields().iter().map(|field| format!("{field}")).collect::<Vec<_>>().join("; ")
            };
            let (found, expected) = (names(builder.schema()), names(&expected));
            return Err(not_one(path, format!("its columns are {found}, not {expected}")));
        }
        let batches = builder.build().map_err(|error| not_one(path, error))?;
        Ok(Matches { path: path.to_owned(), players, total, batches, rows: Vec::new().into_iter() })
    }

    /// Who played.
    pub fn players(&self) -> &Players {
        &self.players
    }

    /// Number of games in the file.
    pub fn total(&self) -> u64 {
        self.total
    }
}

impl Iterator for Matches {
    type Item = Result<Game, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(Ok(row));
            }
            let batch = match self.batches.next()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(not_one(&self.path, error))),
            };
            match rows(&batch) {
                Ok(rows) => self.rows = rows.into_iter(),
                Err(what) => return Some(Err(not_one(&self.path, what))),
            }
        }
    }
}

fn not_one(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::input(format!("{} is not a matches file: {what}", path.display()))
}

/// The rows of a batch whose columns were checked; the error names the first with an unknown end.
fn rows(batch: &RecordBatch) -> Result<Vec<Game>, String> {
    let game = batch.column(0).as_primitive::<UInt64Type>();
    let pair = batch.column(1).as_primitive::<UInt64Type>();
    let opening = batch.column(2).as_string::<i32>();
    let white = batch.column(3).as_string::<i32>();
    let black = batch.column(4).as_string::<i32>();
    let first_white = batch.column(5).as_boolean();
    let result = batch.column(6).as_string::<i32>();
    let score = batch.column(7).as_primitive::<Float64Type>();
    let plies = batch.column(8).as_primitive::<UInt32Type>();
    let end = batch.column(9).as_string::<i32>();
    let illegal_attempts = batch.column(10).as_primitive::<UInt32Type>();
    let level = batch.column(11).as_primitive::<UInt8Type>();
    let moves = batch.column(12).as_list::<i32>();
    let row = |row: usize| {
        let number = game.value(row);
        let word = end.value(row);
        Ok(Game {
            game: number,
            pair: pair.value(row),
            opening: opening.value(row).to_owned(),
            white: white.value(row).to_owned(),
            black: black.value(row).to_owned(),
            first_white: first_white.value(row),
            result: result.value(row).to_owned(),
            score: score.value(row),
            plies: plies.value(row),
            end: End::from_word(word).ok_or_else(|| format!("game {number} has the end `{word}`, which is unknown"))?,
            illegal_attempts: illegal_attempts.value(row),
            level: level.is_valid(row).then(|| level.value(row)),
            moves: moves.value(row).as_primitive::<UInt16Type>().values().to_vec(),
        })
    };
    (0..batch.num_rows()).map(row).collect()
}
