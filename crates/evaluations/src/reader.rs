//! Reads a file of evaluations.

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use cwm_contract::Failure;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::schema::{SOURCE, schema};
use crate::{Evaluation, Line, Score, Source};

/// A file of evaluations, row by row.
pub struct Evaluations {
    path: PathBuf,
    source: Source,
    total: u64,
    batches: ParquetRecordBatchReader,
    rows: std::vec::IntoIter<Evaluation>,
    /// Rows before those of the current batch.
    read: u64,
}

impl Evaluations {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, or it is no file of evaluations.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = fs_err::File::open(path)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.into_file());
        let builder = builder.map_err(|error| not_one(path, error))?;
        let metadata = builder.metadata().file_metadata();
        let total = u64::try_from(metadata.num_rows()).map_err(|error| not_one(path, error))?;
        let pairs = metadata.key_value_metadata().into_iter().flatten();
        let source = pairs.into_iter().find(|pair| pair.key == SOURCE).and_then(|pair| pair.value.as_deref());
        let source = source.ok_or_else(|| not_one(path, format!("its metadata lack `{SOURCE}`")))?;
        let source = serde_json::from_str(source).map_err(|error| not_one(path, format!("`{SOURCE}`: {error}")))?;
        let expected = schema();
        if builder.schema().fields() != expected.fields() {
            let names = |schema: &arrow_schema::Schema| {
                schema.fields().iter().map(|field| format!("{field}")).collect::<Vec<_>>().join("; ")
            };
            let (found, expected) = (names(builder.schema()), names(&expected));
            return Err(not_one(path, format!("its columns are {found}, not {expected}")));
        }
        let batches = builder.build().map_err(|error| not_one(path, error))?;
        Ok(Evaluations { path: path.to_owned(), source, total, batches, rows: Vec::new().into_iter(), read: 0 })
    }

    /// What made them.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Number of positions in the file.
    pub fn total(&self) -> u64 {
        self.total
    }
}

impl Iterator for Evaluations {
    type Item = Result<Evaluation, Failure>;

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
                Err(row) => {
                    let row = self.read + row as u64;
                    let what = format!("row {row} has no line, or a line without a move");
                    return Some(Err(not_one(&self.path, what)));
                }
            }
            self.read += batch.num_rows() as u64;
        }
    }
}

fn not_one(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::input(format!("{} is not an evaluations file: {what}", path.display()))
}

/// The rows of a batch whose columns were checked; the error is the first without a line or with one without a move.
fn rows(batch: &RecordBatch) -> Result<Vec<Evaluation>, usize> {
    let record = batch.column(0).as_primitive::<UInt64Type>();
    let game = batch.column(1).as_primitive::<UInt64Type>();
    let id = batch.column(2).as_string::<i32>();
    let t = batch.column(3).as_primitive::<UInt32Type>();
    let fen = batch.column(4).as_string::<i32>();
    let lines = batch.column(5).as_list::<i32>();
    let row = |row: usize| {
        let evaluation = Evaluation {
            record: record.value(row),
            game: game.is_valid(row).then(|| game.value(row)),
            id: id.value(row).to_owned(),
            t: t.is_valid(row).then(|| t.value(row)),
            fen: fen.value(row).to_owned(),
            lines: lines_of(lines.value(row).as_ref()),
        };
        let is_whole = !evaluation.lines.is_empty() && evaluation.lines.iter().all(|line| !line.moves.is_empty());
        if is_whole { Ok(evaluation) } else { Err(row) }
    };
    (0..batch.num_rows()).map(row).collect()
}

fn lines_of(lines: &dyn Array) -> Vec<Line> {
    let lines = lines.as_struct();
    let centipawns = lines.column(0).as_primitive::<Int32Type>();
    let mate = lines.column(1).as_primitive::<Int32Type>();
    let depth = lines.column(2).as_primitive::<UInt32Type>();
    let moves = lines.column(3).as_list::<i32>();
    let line = |line: usize| Line {
        score: if mate.is_valid(line) {
            Some(Score::Mate(mate.value(line)))
        } else {
            centipawns.is_valid(line).then(|| Score::Centipawns(centipawns.value(line)))
        },
        depth: depth.is_valid(line).then(|| depth.value(line)),
        moves: moves.value(line).as_primitive::<UInt16Type>().values().to_vec(),
    };
    (0..lines.len()).map(line).collect()
}
