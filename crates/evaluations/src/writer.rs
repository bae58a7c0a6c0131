//! Writes a file of evaluations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Int32Array, ListArray, RecordBatch, StringArray, StructArray, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use cwm_contract::Failure;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::schema::{SOURCE, line_field, line_fields, move_field, schema};
use crate::{Evaluation, Line, Score, Source};

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 17;

/// Rows that are kept until they are written together.
const BATCH_ROWS: usize = 1 << 13;

/// Writes evaluations in the order in which they come.
pub struct EvaluationsWriter {
    path: PathBuf,
    writer: ArrowWriter<fs_err::File>,
    batch: Vec<Evaluation>,
}

impl EvaluationsWriter {
    /// A new file at `path`.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn create(path: &Path, source: &Source) -> Result<Self, Failure> {
        let source = serde_json::to_string(source).map_err(|error| Failure::internal(error.to_string()))?;
        // The library's own version there would change the bytes with every update of it.
        let properties = WriterProperties::builder()
            .set_created_by("cwm".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_key_value_metadata(Some(vec![KeyValue::new(SOURCE.to_owned(), source)]))
            .build();
        let writer = ArrowWriter::try_new(fs_err::File::create(path)?, schema(), Some(properties));
        let writer = writer.map_err(|error| failure(path, &error))?;
        Ok(EvaluationsWriter { path: path.to_owned(), writer, batch: Vec::with_capacity(BATCH_ROWS) })
    }

    /// Adds a position.
    ///
    /// # Errors
    /// The disk refuses.
    ///
    /// # Panics
    /// It has no line, or a line without a move: a mistake of the caller's.
    pub fn push(&mut self, evaluation: Evaluation) -> Result<(), Failure> {
        let is_whole = !evaluation.lines.is_empty() && evaluation.lines.iter().all(|line| !line.moves.is_empty());
        assert!(is_whole, "an evaluation has lines, and a line has moves");
        self.batch.push(evaluation);
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

fn columns(rows: &[Evaluation]) -> Vec<ArrayRef> {
    vec![
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.record))),
        Arc::new(UInt64Array::from_iter(rows.iter().map(|row| row.game))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.id))),
        Arc::new(UInt32Array::from_iter(rows.iter().map(|row| row.t))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.fen))),
        Arc::new(lines(rows)),
    ]
}

fn lines(rows: &[Evaluation]) -> ListArray {
    let all: Vec<&Line> = rows.iter().flat_map(|row| &row.lines).collect();
    let moves = ListArray::new(
        move_field(),
        OffsetBuffer::from_lengths(all.iter().map(|line| line.moves.len())),
        Arc::new(UInt16Array::from_iter_values(all.iter().flat_map(|line| line.moves.iter().copied()))),
        None,
    );
    let centipawns = |line: &&Line| match line.score {
        Some(Score::Centipawns(value)) => Some(value),
        Some(Score::Mate(_)) | None => None,
    };
    let mate = |line: &&Line| match line.score {
        Some(Score::Mate(value)) => Some(value),
        Some(Score::Centipawns(_)) | None => None,
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter(all.iter().map(centipawns))),
        Arc::new(Int32Array::from_iter(all.iter().map(mate))),
        Arc::new(UInt32Array::from_iter(all.iter().map(|line| line.depth))),
        Arc::new(moves),
    ];
    ListArray::new(
        line_field(),
        OffsetBuffer::from_lengths(rows.iter().map(|row| row.lines.len())),
        Arc::new(StructArray::new(line_fields(), columns, None)),
        None,
    )
}
