//! Reads a file.

use std::path::{Path, PathBuf};

use cwm_contract::Failure;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::Row;
use crate::difference::difference;

/// A file, row by row.
pub struct TableReader<R: Row> {
    path: PathBuf,
    description: R::Description,
    total: u64,
    batches: ParquetRecordBatchReader,
    rows: std::vec::IntoIter<R>,
    /// Rows before the next batch.
    read: u64,
}

impl<R: Row> TableReader<R> {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, or it is of another format.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = fs_err::File::open(path)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.into_file());
        let builder = builder.map_err(|error| wrong_format::<R>(path, error))?;
        let metadata = builder.metadata().file_metadata();
        let total = u64::try_from(metadata.num_rows()).map_err(|error| wrong_format::<R>(path, error))?;
        let pairs = metadata.key_value_metadata().into_iter().flatten();
        let description = pairs.into_iter().find(|pair| pair.key == R::KEY).and_then(|pair| pair.value.as_deref());
        let description = description.ok_or_else(|| {
            let failure = wrong_format::<R>(path, format!("its metadata lack `{}`", R::KEY));
            R::HINT.into_iter().fold(failure, Failure::hint)
        })?;
        let description = serde_json::from_str(description)
            .map_err(|error| wrong_format::<R>(path, format!("`{}`: {error}", R::KEY)))?;
        if let Some(what) = difference(builder.schema().fields(), R::schema().fields(), "") {
            return Err(wrong_format::<R>(path, what).hint("docs/formats.md lists the columns"));
        }
        let batches = builder.build().map_err(|error| wrong_format::<R>(path, error))?;
        Ok(TableReader { path: path.to_owned(), description, total, batches, rows: Vec::new().into_iter(), read: 0 })
    }

    /// The description of all rows.
    pub fn description(&self) -> &R::Description {
        &self.description
    }

    /// Number of rows in the file.
    pub fn total(&self) -> u64 {
        self.total
    }
}

impl<R: Row> Iterator for TableReader<R> {
    type Item = Result<R, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(Ok(row));
            }
            let batch = match self.batches.next()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(wrong_format::<R>(&self.path, error))),
            };
            match R::rows(&batch, self.read) {
                Ok(rows) => self.rows = rows.into_iter(),
                Err(what) => return Some(Err(wrong_format::<R>(&self.path, what))),
            }
            self.read += batch.num_rows() as u64;
        }
    }
}

fn wrong_format<R: Row>(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::input(format!("{} is not {} file: {what}", path.display(), R::FORMAT))
}
