//! The table of scores: one Parquet file, one row for each position.
//!
//! Columns: `game` and `t` (u32), `right_squares` (u64, bit i = label i right), `right_state` (u16, bit i = label
//! 64+i), `hits_pieces` … `hits_fullmove` (u8, labels right of each kind), `correct` (u8), `exact` (bool), `loss`
//! (f64, mean cross-entropy of the 75 labels; null in all rows where predictions do not have it). Key-value metadata:
//! `cwm.model` and `cwm.dataset`, JSON.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, UInt8Builder, UInt16Builder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use cwm_contract::Failure;
use cwm_encoding::{GROUPS, LABELS};
use cwm_models::heads::labels::PositionScore;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;

use crate::parquet_file;

/// The score of the prediction of one position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Bit i is set if label i is right.
    pub right: u128,
    /// Mean cross-entropy of the 75 labels, where it is known.
    pub loss: Option<f64>,
}

impl Score {
    /// Scores a model's logits.
    pub fn of(position: &PositionScore) -> Self {
        Score { right: position.right, loss: Some(position.loss_sum / LABELS as f64) }
    }

    /// Returns the score in the form that counts are made of, without a loss.
    pub fn position(&self) -> PositionScore {
        PositionScore { right: self.right, loss_sum: 0.0 }
    }
}

/// Writes scores game by game.
pub struct ScoresWriter {
    writer: ArrowWriter<fs_err::File>,
    schema: SchemaRef,
}

impl ScoresWriter {
    /// A new file at `path`, with these descriptions (JSON) of model and dataset.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn create(path: &Path, model: String, dataset: String) -> Result<Self, Failure> {
        let schema = schema();
        let writer = parquet_file::create(path, &schema, [("cwm.model", model), ("cwm.dataset", dataset)])?;
        Ok(ScoresWriter { writer, schema })
    }

    /// Adds the positions of consecutive games, the first of which has the ordinal `first`.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn push(&mut self, first: usize, games: &[Vec<Score>]) -> Result<(), Failure> {
        let rows = games.iter().map(Vec::len).sum();
        let mut columns = Columns::with_capacity(rows);
        for (game, scores) in games.iter().enumerate() {
            for (t, score) in scores.iter().enumerate() {
                columns.push((first + game) as u32, t as u32, score);
            }
        }
        let batch = RecordBatch::try_new(self.schema.clone(), columns.finish())
            .map_err(|error| Failure::internal(error.to_string()))?;
        self.writer.write(&batch).map_err(failure)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn finish(self) -> Result<(), Failure> {
        self.writer.close().map_err(failure)?;
        Ok(())
    }
}

fn failure(error: ParquetError) -> Failure {
    Failure::system(format!("cannot write the scores: {error}"))
}

fn schema() -> SchemaRef {
    let mut fields = vec![
        Field::new("game", DataType::UInt32, false),
        Field::new("t", DataType::UInt32, false),
        Field::new("right_squares", DataType::UInt64, false),
        Field::new("right_state", DataType::UInt16, false),
    ];
    fields.extend(GROUPS.iter().map(|group| Field::new(format!("hits_{}", group.name), DataType::UInt8, false)));
    fields.push(Field::new("correct", DataType::UInt8, false));
    fields.push(Field::new("exact", DataType::Boolean, false));
    fields.push(Field::new("loss", DataType::Float64, true));
    Arc::new(Schema::new(fields))
}

struct Columns {
    game: UInt32Builder,
    t: UInt32Builder,
    right_squares: UInt64Builder,
    right_state: UInt16Builder,
    hits: [UInt8Builder; GROUPS.len()],
    correct: UInt8Builder,
    exact: BooleanBuilder,
    loss: Float64Builder,
}

impl Columns {
    fn with_capacity(rows: usize) -> Self {
        Columns {
            game: UInt32Builder::with_capacity(rows),
            t: UInt32Builder::with_capacity(rows),
            right_squares: UInt64Builder::with_capacity(rows),
            right_state: UInt16Builder::with_capacity(rows),
            hits: std::array::from_fn(|_| UInt8Builder::with_capacity(rows)),
            correct: UInt8Builder::with_capacity(rows),
            exact: BooleanBuilder::with_capacity(rows),
            loss: Float64Builder::with_capacity(rows),
        }
    }

    fn push(&mut self, game: u32, t: u32, score: &Score) {
        let position = score.position();
        self.game.append_value(game);
        self.t.append_value(t);
        self.right_squares.append_value(score.right as u64);
        self.right_state.append_value((score.right >> 64) as u16);
        for (column, hits) in self.hits.iter_mut().zip(position.hits()) {
            column.append_value(hits);
        }
        self.correct.append_value(position.correct() as u8);
        self.exact.append_value(position.is_exact());
        self.loss.append_option(score.loss);
    }

    fn finish(mut self) -> Vec<ArrayRef> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.game.finish()),
            Arc::new(self.t.finish()),
            Arc::new(self.right_squares.finish()),
            Arc::new(self.right_state.finish()),
        ];
        columns.extend(self.hits.iter_mut().map(|hits| Arc::new(hits.finish()) as ArrayRef));
        columns.push(Arc::new(self.correct.finish()));
        columns.push(Arc::new(self.exact.finish()));
        columns.push(Arc::new(self.loss.finish()));
        columns
    }
}
