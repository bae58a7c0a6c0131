//! The word that a model expects most at each place of a game.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt32Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt8Array, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use cwm_table::Row;
use serde::{Deserialize, Serialize};

/// The prediction of a model after a word of a game. Rows are sorted by game and token.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legality {
    /// The game, by its place in the dataset, from 0.
    pub game: u32,
    /// The place of the token, from 0.
    pub token: u32,
    /// Moves that are complete at it.
    pub ply: u32,
    /// The phase of the word that was just read, 0 to 5.
    pub phase: u8,
    /// True if the likeliest word is the one that follows.
    pub right: bool,
    /// True if the likeliest word continues a legal move; none where the game is over.
    pub legal: Option<bool>,
    /// True if the likeliest word is legal by the rule of the authors' program.
    pub loose: Option<bool>,
    /// Probability of all words that continue a legal move; none where the game is over.
    pub mass: Option<f64>,
    /// -ln of the probability of the word that follows, in nats.
    pub loss: f64,
}

/// Facts about all rows of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LegalityDescription {
    /// Family and size of the model, such as `gpt d64/l4`.
    pub model: String,
    /// Games that were scored.
    pub games: u64,
    /// Games that were left out, by the reason.
    pub dropped: std::collections::BTreeMap<String, u64>,
    /// Games that have the same moves as a training game; none if the training games were not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
    /// Words after which games were cut; none if they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Precision of the matrix products.
    pub precision: String,
}

impl Row for Legality {
    type Description = LegalityDescription;

    const FORMAT: &'static str = "a legality";
    const KEY: &'static str = "cwm.legality";

    fn schema() -> SchemaRef {
        let number = |name| Field::new(name, DataType::UInt32, false);
        let flag = |name, may_lack| Field::new(name, DataType::Boolean, may_lack);
        Arc::new(Schema::new(vec![
            number("game"),
            number("token"),
            number("ply"),
            Field::new("phase", DataType::UInt8, false),
            flag("right", false),
            flag("legal", true),
            flag("loose", true),
            Field::new("mass", DataType::Float64, true),
            Field::new("loss", DataType::Float64, false),
        ]))
    }

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        let numbers = |of: fn(&Self) -> u32| Arc::new(UInt32Array::from_iter_values(rows.iter().map(of)));
        let flags = |of: fn(&Self) -> Option<bool>| Arc::new(rows.iter().map(of).collect::<BooleanArray>());
        vec![
            numbers(|row| row.game),
            numbers(|row| row.token),
            numbers(|row| row.ply),
            Arc::new(UInt8Array::from_iter_values(rows.iter().map(|row| row.phase))),
            flags(|row| Some(row.right)),
            flags(|row| row.legal),
            flags(|row| row.loose),
            Arc::new(rows.iter().map(|row| row.mass).collect::<Float64Array>()),
            Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.loss))),
        ]
    }

    fn rows(batch: &RecordBatch, _before: u64) -> Result<Vec<Self>, String> {
        let numbers = |column: usize| batch.column(column).as_primitive::<UInt32Type>();
        let flags = |column: usize| batch.column(column).as_boolean();
        let (game, token, ply) = (numbers(0), numbers(1), numbers(2));
        let (phase, loss) =
            (batch.column(3).as_primitive::<UInt8Type>(), batch.column(8).as_primitive::<Float64Type>());
        let (right, legal, loose) = (flags(4), flags(5), flags(6));
        let mass = batch.column(7).as_primitive::<Float64Type>();
        let row = |row: usize| Legality {
            game: game.value(row),
            token: token.value(row),
            ply: ply.value(row),
            phase: phase.value(row),
            right: right.value(row),
            legal: legal.is_valid(row).then(|| legal.value(row)),
            loose: loose.is_valid(row).then(|| loose.value(row)),
            mass: mass.is_valid(row).then(|| mass.value(row)),
            loss: loss.value(row),
        };
        Ok((0..batch.num_rows()).map(row).collect())
    }
}
