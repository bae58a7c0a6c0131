//! Reads the answers of any program: columns in any order and of any type that fits, further columns passed over.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow_cast::cast;
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, Field, Schema};
use cwm_contract::Failure;
use cwm_table::Row;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::{Answer, PlayerSettings};

/// The columns that a file must have.
const NEEDED: [&str; 2] = ["task_id", "response"];

/// Rows that are read at once: few, since texts may be long.
const BATCH_ROWS: usize = 1 << 7;

/// A file of answers, row by row.
pub struct AnswersReader {
    path: PathBuf,
    run: Option<PlayerSettings>,
    batches: ParquetRecordBatchReader,
    rows: std::vec::IntoIter<Answer>,
    /// Rows before the next batch.
    read: usize,
}

impl AnswersReader {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, is no Parquet file, lacks a column or has one of another type, or has unreadable metadata.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = fs_err::File::open(path)?.into_file();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)
            .map_err(|error| wrong(path, format!("are no readable Parquet file: {error}")))?;
        check_columns(path, builder.schema())?;
        let pairs = builder.metadata().file_metadata().key_value_metadata().into_iter().flatten();
        let description = pairs.into_iter().find(|pair| pair.key == Answer::KEY).and_then(|pair| pair.value.as_deref());
        let run = description
            .map(serde_json::from_str)
            .transpose()
            .map_err(|error| wrong(path, format!("have unreadable metadata `{}`: {error}", Answer::KEY)))?;
        let batches = builder
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|error| wrong(path, format!("cannot be read: {error}")))?;
        Ok(AnswersReader { path: path.to_owned(), run, batches, rows: Vec::new().into_iter(), read: 0 })
    }

    /// The run that answered; none if the file has no `cwm.run`.
    pub fn run(&self) -> Option<&PlayerSettings> {
        self.run.as_ref()
    }

    /// The run that answered, with the name `label` where the file has no `cwm.run`, or one without a name: a stage
    /// does not have its own label.
    pub fn run_or(&self, label: &str) -> PlayerSettings {
        let mut run = self.run.clone().unwrap_or_default();
        if run.name.is_empty() {
            label.clone_into(&mut run.name);
        }
        run
    }

    fn rows_of(&self, batch: &RecordBatch) -> Result<Vec<Answer>, Failure> {
        let schema = Answer::schema();
        let columns = schema.fields().iter().map(|field| self.column(batch, field));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let batch = RecordBatch::try_new(schema, columns).map_err(|error| wrong(&self.path, error.to_string()))?;
        Answer::rows(&batch, self.read as u64).map_err(|error| wrong(&self.path, error))
    }

    /// The values of a column of ours.
    fn column(&self, batch: &RecordBatch, field: &Arc<Field>) -> Result<ArrayRef, Failure> {
        let name = field.name();
        let given = batch.column_by_name(name).filter(|column| *column.data_type() != DataType::Null);
        let Some(column) = given else {
            return Ok(new_null_array(field.data_type(), batch.num_rows()));
        };
        let values = cast(column, field.data_type());
        let values = values.map_err(|error| wrong(&self.path, format!("have another column `{name}`: {error}")))?;
        let row = |row: usize| self.read + row;
        if let Some(at) = (0..column.len()).find(|&at| column.is_null(at) && !field.is_nullable()) {
            return Err(wrong(&self.path, format!("have no `{name}` in row {}", row(at))));
        }
        // A value beyond the type has become null; so have numbers that are none, which some programs write for null.
        let is_nan = |at| array_value_to_string(column, at).is_ok_and(|text| text == "NaN");
        let lost = (0..column.len()).find(|&at| column.is_valid(at) && values.is_null(at) && !is_nan(at));
        match lost {
            Some(at) => {
                let value = array_value_to_string(column, at).unwrap_or_default();
                Err(wrong(&self.path, format!("have the `{name}` {value} in row {}, which cannot be", row(at))))
            }
            None => Ok(values),
        }
    }
}

impl Iterator for AnswersReader {
    type Item = Result<Answer, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(Ok(row));
            }
            let batch = match self.batches.next()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(wrong(&self.path, format!("cannot be read: {error}")))),
            };
            match self.rows_of(&batch) {
                Ok(rows) => self.rows = rows.into_iter(),
                Err(failure) => return Some(Err(failure)),
            }
            self.read += batch.num_rows();
        }
    }
}

/// Checks that the required columns exist, and that columns of our names have types that fit.
fn check_columns(path: &Path, found: &Schema) -> Result<(), Failure> {
    let hint = "docs/formats.md, `answers`, lists the columns; `task_id` and `response` must be there";
    for field in Answer::schema().fields() {
        let name = field.name();
        let Ok(other) = found.field_with_name(name) else {
            if NEEDED.contains(&name.as_str()) {
                let there: Vec<_> = found.fields().iter().map(|field| format!("`{}`", field.name())).collect();
                return Err(wrong(path, format!("have no column `{name}`, only {}", there.join(", "))).hint(hint));
            }
            continue;
        };
        let kind = other.data_type();
        let (fits, wanted) = match field.data_type() {
            DataType::Utf8 => (is_text(kind), "text".to_owned()),
            DataType::UInt64 => (kind.is_integer() || kind.is_floating(), "whole numbers".to_owned()),
            DataType::Float64 => (kind.is_numeric(), "numbers".to_owned()),
            own => (kind == own, own.to_string()),
        };
        // A column of nulls alone has a type of its own.
        if !fits && (*kind != DataType::Null || NEEDED.contains(&name.as_str())) {
            let found = if kind.is_nested() { "lists or records".to_owned() } else { kind.to_string() };
            return Err(wrong(path, format!("have a column `{name}` of {found}, not of {wanted}")).hint(hint));
        }
    }
    Ok(())
}

/// Returns true if it is text, or a dictionary of text, such as pandas writes for categories.
fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        kind => matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    }
}

fn wrong(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::input(format!("the answers ({}) {what}", path.display()))
}
