//! Reads a file of choices.

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrowPrimitiveType, BooleanArray, PrimitiveArray, RecordBatch};
use cwm_contract::Failure;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::schema::{CHOOSER, schema};
use crate::{Choice, Chooser, Correctness};

/// A file of choices, row by row.
pub struct Choices {
    path: PathBuf,
    chooser: Chooser,
    total: u64,
    batches: ParquetRecordBatchReader,
    rows: std::vec::IntoIter<Choice>,
}

impl Choices {
    /// Opens the file at `path`, which the stage `choose` wrote.
    ///
    /// # Errors
    /// It cannot be read, or it is no file of choices.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = fs_err::File::open(path)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.into_file());
        let builder = builder.map_err(|error| not_one(path, error))?;
        let metadata = builder.metadata().file_metadata();
        let total = u64::try_from(metadata.num_rows()).map_err(|error| not_one(path, error))?;
        let pairs = metadata.key_value_metadata().into_iter().flatten();
        let chooser = pairs.into_iter().find(|pair| pair.key == CHOOSER).and_then(|pair| pair.value.as_deref());
        let chooser = chooser.ok_or_else(|| {
            not_one(path, format!("its metadata lack `{CHOOSER}`"))
                .hint("choices of another program first go through the stage `choose`, which compares them with the best moves")
        })?;
        let chooser = serde_json::from_str(chooser).map_err(|error| not_one(path, format!("`{CHOOSER}`: {error}")))?;
        let expected = schema();
        if builder.schema().fields() != expected.fields() {
            let names = |schema: &arrow_schema::Schema| {
                schema.fields().iter().map(|field| format!("{field}")).collect::<Vec<_>>().join("; ")
            };
            let (found, expected) = (names(builder.schema()), names(&expected));
            return Err(not_one(path, format!("its columns are {found}, not {expected}")));
        }
        let batches = builder.build().map_err(|error| not_one(path, error))?;
        Ok(Choices { path: path.to_owned(), chooser, total, batches, rows: Vec::new().into_iter() })
    }

    /// Who chose.
    pub fn chooser(&self) -> &Chooser {
        &self.chooser
    }

    /// Number of positions in the file.
    pub fn total(&self) -> u64 {
        self.total
    }
}

impl Iterator for Choices {
    type Item = Result<Choice, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(Ok(row));
            }
            match self.batches.next()? {
                Ok(batch) => self.rows = rows(&batch).into_iter(),
                Err(error) => return Some(Err(not_one(&self.path, error))),
            }
        }
    }
}

fn not_one(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::input(format!("{} is not a choices file: {what}", path.display()))
}

/// The rows of a batch whose columns were checked.
fn rows(batch: &RecordBatch) -> Vec<Choice> {
    let (record, game) = (batch.column(0).as_primitive::<UInt64Type>(), batch.column(1).as_primitive::<UInt64Type>());
    let (t, fen) = (batch.column(2).as_primitive::<UInt32Type>(), batch.column(3).as_string::<i32>());
    let shorts = |column: usize| batch.column(column).as_primitive::<UInt16Type>();
    let flags = |column: usize| batch.column(column).as_boolean();
    let numbers = |column: usize| batch.column(column).as_primitive::<Float64Type>();
    let (forced_text, text) = (batch.column(9).as_string::<i32>(), batch.column(13).as_string::<i32>());
    let correctness = |first: usize, row: usize| {
        let [valid, legal, best] = [0, 1, 2].map(|next| flag(flags(first + next), row));
        Some(Correctness { valid: valid?, legal: legal?, best: best? })
    };
    let row = |row: usize| Choice {
        record: record.value(row),
        game: number(game, row),
        t: number(t, row),
        fen: fen.value(row).to_owned(),
        legal_moves: shorts(4).value(row),
        best: shorts(5).value(row),
        seen: flag(flags(6), row),
        loss: number(numbers(7), row),
        tokens: number(shorts(8), row),
        forced_text: forced_text.is_valid(row).then(|| forced_text.value(row).to_owned()),
        forced: correctness(10, row),
        text: text.value(row).to_owned(),
        free: correctness(14, row).unwrap_or_default(),
        mask_best: flag(flags(17), row),
        mask_loss: number(numbers(18), row),
    };
    (0..batch.num_rows()).map(row).collect()
}

fn number<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    column.is_valid(row).then(|| column.value(row))
}

fn flag(column: &BooleanArray, row: usize) -> Option<bool> {
    column.is_valid(row).then(|| column.value(row))
}
