//! Writes a file.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use cwm_contract::Failure;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::Row;

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 17;

/// Rows that are kept until they are written together.
const BATCH_ROWS: usize = 1 << 13;

/// Bytes of texts that are kept until they are written together, far below what one column can hold.
const BATCH_TEXT: usize = 1 << 26;

/// Writes rows in the order in which they come.
pub struct TableWriter<R: Row> {
    path: PathBuf,
    writer: ArrowWriter<fs_err::File>,
    batch: Vec<R>,
    /// Bytes of texts in the batch.
    text: usize,
}

impl<R: Row> TableWriter<R> {
    /// A new file at `path`.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn create(path: &Path, description: &R::Description) -> Result<Self, Failure> {
        let description = serde_json::to_string(description).map_err(|error| Failure::internal(error.to_string()))?;
        // The library's own version there would change the bytes with every update of it.
        let mut properties = WriterProperties::builder()
            .set_created_by("cwm".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_key_value_metadata(Some(vec![KeyValue::new(R::KEY.to_owned(), description)]));
        // The least and the largest text of a page help no query of ours, and took a quarter of the time of writing positions.
        for field in R::schema().fields().iter().filter(|field| *field.data_type() == DataType::Utf8) {
            let path = ColumnPath::from(field.name().as_str());
            properties = properties.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
        let writer = ArrowWriter::try_new(fs_err::File::create(path)?, R::schema(), Some(properties.build()));
        let writer = writer.map_err(|error| failure(path, &error))?;
        Ok(TableWriter { path: path.to_owned(), writer, batch: Vec::with_capacity(BATCH_ROWS), text: 0 })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn push(&mut self, row: R) -> Result<(), Failure> {
        self.text += row.text_bytes();
        self.batch.push(row);
        if self.batch.len() == BATCH_ROWS || self.text >= BATCH_TEXT { self.flush() } else { Ok(()) }
    }

    /// Writes what is left and ends the file.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        self.writer.close().map_err(|error| failure(&self.path, &error))?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let batch = RecordBatch::try_new(R::schema(), R::columns(&self.batch));
        let batch = batch.map_err(|error| Failure::internal(error.to_string()))?;
        self.batch.clear();
        self.text = 0;
        self.writer.write(&batch).map_err(|error| failure(&self.path, &error))
    }
}

fn failure(path: &Path, error: &ParquetError) -> Failure {
    Failure::system(format!("cannot write {}: {error}", path.display()))
}
