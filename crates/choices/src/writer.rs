//! Writes a file of choices.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array,
};
use cwm_contract::Failure;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::schema::{CHOOSER, schema};
use crate::{Choice, Chooser, Correctness};

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 17;

/// Rows that are kept until they are written together.
const BATCH_ROWS: usize = 1 << 13;

/// Writes choices in the order in which they come.
pub struct ChoicesWriter {
    path: PathBuf,
    writer: ArrowWriter<fs_err::File>,
    batch: Vec<Choice>,
}

impl ChoicesWriter {
    /// A new file at `path`.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn create(path: &Path, chooser: &Chooser) -> Result<Self, Failure> {
        let chooser = serde_json::to_string(chooser).map_err(|error| Failure::internal(error.to_string()))?;
        // The library's own version there would change the bytes with every update of it.
        let properties = WriterProperties::builder()
            .set_created_by("cwm".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_key_value_metadata(Some(vec![KeyValue::new(CHOOSER.to_owned(), chooser)]))
            .build();
        let writer = ArrowWriter::try_new(fs_err::File::create(path)?, schema(), Some(properties));
        let writer = writer.map_err(|error| failure(path, &error))?;
        Ok(ChoicesWriter { path: path.to_owned(), writer, batch: Vec::with_capacity(BATCH_ROWS) })
    }

    /// Adds a position.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn push(&mut self, choice: Choice) -> Result<(), Failure> {
        self.batch.push(choice);
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

fn columns(rows: &[Choice]) -> Vec<ArrayRef> {
    let flags =
        |of: &dyn Fn(&Choice) -> Option<bool>| -> ArrayRef { Arc::new(rows.iter().map(of).collect::<BooleanArray>()) };
    let numbers =
        |of: &dyn Fn(&Choice) -> Option<f64>| -> ArrayRef { Arc::new(rows.iter().map(of).collect::<Float64Array>()) };
    let forced = |of: fn(&Correctness) -> bool| flags(&|row| row.forced.as_ref().map(of));
    vec![
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.record))),
        Arc::new(UInt64Array::from_iter(rows.iter().map(|row| row.game))),
        Arc::new(UInt32Array::from_iter(rows.iter().map(|row| row.t))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.fen))),
        Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.legal_moves))),
        Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.best))),
        flags(&|row| row.seen),
        numbers(&|row| row.loss),
        Arc::new(UInt16Array::from_iter(rows.iter().map(|row| row.tokens))),
        Arc::new(StringArray::from_iter(rows.iter().map(|row| row.forced_text.as_ref()))),
        forced(|correctness| correctness.valid),
        forced(|correctness| correctness.legal),
        forced(|correctness| correctness.best),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.text))),
        flags(&|row| Some(row.free.valid)),
        flags(&|row| Some(row.free.legal)),
        flags(&|row| Some(row.free.best)),
        flags(&|row| row.mask_best),
        numbers(&|row| row.mask_loss),
    ]
}
