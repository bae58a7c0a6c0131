//! The predictions that are kept (docs/formats.md, `predictions`): one row a position, sorted by game and step.
//!
//! Columns: `id` (utf8), `t` (u32), `labels` (75 u8) and `loss` (f64, as in the scores). Key-value metadata: `cwm.model`, JSON.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt8Builder, UInt32Builder};
use arrow_array::{ArrayRef, FixedSizeListArray, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use cwm_chess::Dataset;
use cwm_contract::Failure;
use cwm_encoding::{EnPassant, LABELS};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;

use crate::boards::WrongLabels;
use crate::parquet_file;

/// Writes predictions game by game.
pub struct PredictionsWriter<'a> {
    writer: ArrowWriter<fs_err::File>,
    schema: SchemaRef,
    dataset: &'a Dataset,
    en_passant: EnPassant,
}

impl<'a> PredictionsWriter<'a> {
    /// A new file at `path` for games of `dataset`, whose labels are set by the rule `en_passant`; `model` is the
    /// description of the model in JSON.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn create(path: &Path, dataset: &'a Dataset, en_passant: EnPassant, model: String) -> Result<Self, Failure> {
        let schema = schema();
        let writer = parquet_file::create(path, &schema, [("cwm.model", model)])?;
        Ok(PredictionsWriter { writer, schema, dataset, en_passant })
    }

    /// Adds the game with the place `game` in the dataset: the wrong labels and the loss of each of its positions.
    ///
    /// # Errors
    /// A label has no prediction, the dataset is damaged, or an operation on the disk fails.
    pub fn push(&mut self, game: usize, wrong: &[WrongLabels], losses: &[f64]) -> Result<(), Failure> {
        let Some(found) = self.dataset.get(game)? else { return Ok(()) };
        let id = found.row().id;
        let mut labels = vec![0; wrong.len() * LABELS];
        self.dataset.labels_into(game, self.en_passant, &mut labels).map_err(|error| error.failure("games"))?;
        for (t, (labels, wrong)) in labels.chunks_exact_mut(LABELS).zip(wrong).enumerate() {
            for &(label, class) in wrong {
                labels[usize::from(label)] = class.ok_or_else(|| no_class(game, id, t, label))?;
            }
        }
        let (mut ids, mut plies, mut bytes) = (StringBuilder::new(), UInt32Builder::new(), UInt8Builder::new());
        for t in 0..wrong.len() {
            ids.append_value(id);
            plies.append_value(t as u32);
        }
        bytes.append_slice(&labels);
        let mut loss = Float64Builder::new();
        loss.append_slice(losses);
        let list = FixedSizeListArray::try_new(class(), LABELS as i32, Arc::new(bytes.finish()), None);
        let list = list.map_err(|error| Failure::internal(error.to_string()))?;
        let columns: Vec<ArrayRef> =
            vec![Arc::new(ids.finish()), Arc::new(plies.finish()), Arc::new(list), Arc::new(loss.finish())];
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        let batch = batch.map_err(|error| Failure::internal(error.to_string()))?;
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

/// The failure of a label without a class: a row of the format has one for each label, and one of its logits is NaN.
fn no_class(game: usize, id: &str, t: usize, label: u8) -> Failure {
    let place = format!("game {game} ({id}), t {t}");
    Failure::input(format!("{place}: the model predicts no class for label {label}, since one of its logits is NaN"))
        .hint("without `keep_predictions` the label is counted as wrong")
}

fn failure(error: ParquetError) -> Failure {
    Failure::system(format!("cannot write the predictions: {error}"))
}

fn class() -> FieldRef {
    Arc::new(Field::new("item", DataType::UInt8, false))
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Utf8, false),
        Field::new("t", DataType::UInt32, false),
        Field::new("labels", DataType::FixedSizeList(class(), LABELS as i32), false),
        Field::new("loss", DataType::Float64, false),
    ]))
}
