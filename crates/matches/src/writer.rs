//! Writes a file of matches.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, ListArray, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use cwm_contract::Failure;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::schema::{PLAYERS, move_field, schema};
use crate::{Game, Players};

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 17;

/// Rows that are kept until they are written together.
const BATCH_ROWS: usize = 1 << 13;

/// Writes games in the order in which they come.
pub struct MatchesWriter {
    path: PathBuf,
    writer: ArrowWriter<fs_err::File>,
    batch: Vec<Game>,
}

impl MatchesWriter {
    /// A new file at `path`.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn create(path: &Path, players: &Players) -> Result<Self, Failure> {
        let players = serde_json::to_string(players).map_err(|error| Failure::internal(error.to_string()))?;
        // The library's own version there would change the bytes with every update of it.
        let properties = WriterProperties::builder()
            .set_created_by("cwm".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_key_value_metadata(Some(vec![KeyValue::new(PLAYERS.to_owned(), players)]))
            .build();
        let writer = ArrowWriter::try_new(fs_err::File::create(path)?, schema(), Some(properties));
        let writer = writer.map_err(|error| failure(path, &error))?;
        Ok(MatchesWriter { path: path.to_owned(), writer, batch: Vec::with_capacity(BATCH_ROWS) })
    }

    /// Adds a game.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn push(&mut self, game: Game) -> Result<(), Failure> {
        self.batch.push(game);
        if self.batch.len() == BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    /// Writes what is left and ends the file.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        self.writer.close().map_err(|error| failure(&self.path, &error))?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let batch = RecordBatch::try_new(schema(), columns(&self.batch));
        let batch = batch.map_err(|error| Failure::internal(error.to_string()))?;
        self.batch.clear();
        self.writer.write(&batch).map_err(|error| failure(&self.path, &error))
    }
}

fn failure(path: &Path, error: &ParquetError) -> Failure {
    Failure::system(format!("cannot write {}: {error}", path.display()))
}

fn columns(rows: &[Game]) -> Vec<ArrayRef> {
    let moves = ListArray::new(
        move_field(),
        OffsetBuffer::from_lengths(rows.iter().map(|row| row.moves.len())),
        Arc::new(UInt16Array::from_iter_values(rows.iter().flat_map(|row| row.moves.iter().copied()))),
        None,
    );
    vec![
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.game))),
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.pair))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.opening))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.white))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.black))),
        Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.first_white)))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.result))),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.score))),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.plies))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.end.word()))),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.illegal_attempts))),
        Arc::new(UInt8Array::from_iter(rows.iter().map(|row| row.level))),
        Arc::new(moves),
    ]
}
