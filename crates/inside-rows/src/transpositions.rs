//! Sequences of moves that end in the same position.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use cwm_table::Row;
use serde::{Deserialize, Serialize};

/// A sequence of moves: a member of a class. Rows are sorted by class, game and ply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transposition {
    /// Number of the class, from 0 in the order of the keys.
    pub class: u32,
    /// The key that the members share: the first field of a FEN (`same: placement`), or the first four, with an
    /// en passant square only where a capture is legal (`same: position`).
    pub key: String,
    /// The game whose first moves are the sequence, by its place in the dataset, from 0.
    pub game: u32,
    /// Moves of the sequence.
    pub ply: u32,
}

/// Facts about all rows of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranspositionsDescription {
    /// `position` or `placement`.
    pub same: String,
    /// `prefixes` or `ends`.
    pub sequences: String,
    /// Moves of a prefix, at least and at most; none of whole games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plies: Option<[u32; 2]>,
    /// Members of a class that are written, at most.
    pub members: u64,
    /// Seed of the draw of classes.
    pub seed: u64,
    /// Games whose sequences were compared.
    pub games: u64,
    /// Different sequences.
    pub different: u64,
    /// Classes of at least two sequences, written or not.
    pub classes: u64,
    /// The number of positions, by the number of different sequences that end in them.
    pub sizes: BTreeMap<u64, u64>,
}

impl Row for Transposition {
    type Description = TranspositionsDescription;

    const FORMAT: &'static str = "a transpositions";
    const KEY: &'static str = "cwm.transpositions";

    fn schema() -> SchemaRef {
        let number = |name| Field::new(name, DataType::UInt32, false);
        let key = Field::new("key", DataType::Utf8, false);
        Arc::new(Schema::new(vec![number("class"), key, number("game"), number("ply")]))
    }

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        let numbers = |of: fn(&Self) -> u32| Arc::new(UInt32Array::from_iter_values(rows.iter().map(of)));
        vec![
            numbers(|row| row.class),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.key))),
            numbers(|row| row.game),
            numbers(|row| row.ply),
        ]
    }

    fn rows(batch: &RecordBatch, _before: u64) -> Result<Vec<Self>, String> {
        let numbers = |column: usize| batch.column(column).as_primitive::<UInt32Type>();
        let (class, key, game, ply) = (numbers(0), batch.column(1).as_string::<i32>(), numbers(2), numbers(3));
        let row = |row: usize| Transposition {
            class: class.value(row),
            key: key.value(row).to_owned(),
            game: game.value(row),
            ply: ply.value(row),
        };
        Ok((0..batch.num_rows()).map(row).collect())
    }
}
