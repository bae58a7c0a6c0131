//! The format `edits` (docs/formats.md): one row an edit.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt32Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt8Array, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use cwm_table::Row;
use serde::{Deserialize, Serialize};

/// An edit, and what the model expects after it; or a case without an edit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditRow {
    /// The game, by its place in the dataset.
    pub game: u32,
    /// Plies of the prefix.
    pub ply: u32,
    /// The square, a1 = 0.
    pub square: u8,
    /// The class of the piece on it, in `.PNBRQKpnbrqk`.
    pub piece: u8,
    /// The edited site; none without an edit.
    pub layer: Option<u8>,
    /// `none`, `random`, `patch`, `probe`, `sae_probe` or `cd_probe`.
    pub intervention: String,
    /// None without an edit.
    pub eta: Option<f64>,
    /// The likeliest word, for models of moves.
    pub argmax: Option<u8>,
    /// True if it is the same without an edit.
    pub same_argmax: Option<bool>,
    /// Probability of the words that begin a legal move on the original board.
    pub mass_original: Option<f64>,
    /// Probability of the words that begin a legal move on the board without the piece (the target).
    pub mass_target: Option<f64>,
    /// Probability of the words that begin a legal move on the board six plies later.
    pub mass_future: Option<f64>,
    /// Probability of the words that begin a legal move on both the original board and the target.
    pub mass_both: Option<f64>,
    /// Words that begin a legal move on the target.
    pub target_moves: Option<u8>,
    /// The number of labels, of 75, that are the target's, for models that answer with boards.
    pub right_target: Option<u8>,
    /// The number that are the original board's.
    pub right_original: Option<u8>,
    /// The number that are right among the labels in which both boards are equal.
    pub right_others: Option<u8>,
    /// The number of these labels.
    pub others: Option<u8>,
    /// True if the square is read as empty.
    pub square_empty: Option<bool>,
}

/// The description of all edits of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EditDescription {
    /// Family and size.
    pub model: String,
    /// `moves` or `state`.
    pub task: String,
    /// The edited layers.
    pub layers: Vec<usize>,
    /// Seed of the random vectors.
    pub seed: u64,
    /// Number of cases.
    pub cases: u64,
    /// Cases whose target board has no legal move.
    pub targets_without_moves: u64,
    /// The number of cases, games and edits that were dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
}

impl Row for EditRow {
    type Description = EditDescription;

    const FORMAT: &'static str = "an edits";
    const KEY: &'static str = "cwm.edits";

    fn schema() -> SchemaRef {
        let column = |name, kind, optional| Field::new(name, kind, optional);
        Arc::new(Schema::new(vec![
            column("game", DataType::UInt32, false),
            column("ply", DataType::UInt32, false),
            column("square", DataType::UInt8, false),
            column("piece", DataType::UInt8, false),
            column("layer", DataType::UInt8, true),
            column("intervention", DataType::Utf8, false),
            column("eta", DataType::Float64, true),
            column("argmax", DataType::UInt8, true),
            column("same_argmax", DataType::Boolean, true),
            column("mass_original", DataType::Float64, true),
            column("mass_target", DataType::Float64, true),
            column("mass_future", DataType::Float64, true),
            column("mass_both", DataType::Float64, true),
            column("target_moves", DataType::UInt8, true),
            column("right_target", DataType::UInt8, true),
            column("right_original", DataType::UInt8, true),
            column("right_others", DataType::UInt8, true),
            column("others", DataType::UInt8, true),
            column("square_empty", DataType::Boolean, true),
        ]))
    }

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        let small = |of: fn(&Self) -> Option<u8>| -> ArrayRef { Arc::new(rows.iter().map(of).collect::<UInt8Array>()) };
        let number =
            |of: fn(&Self) -> Option<f64>| -> ArrayRef { Arc::new(rows.iter().map(of).collect::<Float64Array>()) };
        let flag =
            |of: fn(&Self) -> Option<bool>| -> ArrayRef { Arc::new(rows.iter().map(of).collect::<BooleanArray>()) };
        let counted =
            |of: fn(&Self) -> u32| -> ArrayRef { Arc::new(UInt32Array::from_iter_values(rows.iter().map(of))) };
        vec![
            counted(|row| row.game),
            counted(|row| row.ply),
            small(|row| Some(row.square)),
            small(|row| Some(row.piece)),
            small(|row| row.layer),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.intervention))),
            number(|row| row.eta),
            small(|row| row.argmax),
            flag(|row| row.same_argmax),
            number(|row| row.mass_original),
            number(|row| row.mass_target),
            number(|row| row.mass_future),
            number(|row| row.mass_both),
            small(|row| row.target_moves),
            small(|row| row.right_target),
            small(|row| row.right_original),
            small(|row| row.right_others),
            small(|row| row.others),
            flag(|row| row.square_empty),
        ]
    }

    fn rows(batch: &RecordBatch, _before: u64) -> Result<Vec<Self>, String> {
        let counted = |column: usize, row| batch.column(column).as_primitive::<UInt32Type>().value(row);
        let small = |column: usize, row| {
            let values = batch.column(column).as_primitive::<UInt8Type>();
            values.is_valid(row).then(|| values.value(row))
        };
        let number = |column: usize, row| {
            let values = batch.column(column).as_primitive::<Float64Type>();
            values.is_valid(row).then(|| values.value(row))
        };
        let flag = |column: usize, row| {
            let values = batch.column(column).as_boolean();
            values.is_valid(row).then(|| values.value(row))
        };
        let row = |row| EditRow {
            game: counted(0, row),
            ply: counted(1, row),
            square: small(2, row).unwrap_or_default(),
            piece: small(3, row).unwrap_or_default(),
            layer: small(4, row),
            intervention: batch.column(5).as_string::<i32>().value(row).to_owned(),
            eta: number(6, row),
            argmax: small(7, row),
            same_argmax: flag(8, row),
            mass_original: number(9, row),
            mass_target: number(10, row),
            mass_future: number(11, row),
            mass_both: number(12, row),
            target_moves: small(13, row),
            right_target: small(14, row),
            right_original: small(15, row),
            right_others: small(16, row),
            others: small(17, row),
            square_empty: flag(18, row),
        };
        Ok((0..batch.num_rows()).map(row).collect())
    }
}
