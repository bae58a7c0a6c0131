//! Turns games into columns.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, ListArray, StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::OffsetBuffer;

use crate::Game;
use crate::schema::move_field;

/// The columns of these rows, in the order of the schema.
pub fn columns(rows: &[Game]) -> Vec<ArrayRef> {
    let moves = ListArray::new(
        move_field(),
        OffsetBuffer::from_lengths(rows.iter().map(|row| row.moves.len())),
        Arc::new(UInt16Array::from_iter_values(rows.iter().flat_map(|row| row.moves.iter().copied()))),
        None,
    );
    vec![
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.game))),
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.pair))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.opening))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.white))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.black))),
        Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.first_white)))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.result))),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.score))),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.plies))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.end.word()))),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.illegal_attempts))),
        Arc::new(UInt8Array::from_iter(rows.iter().map(|row| row.level))),
        Arc::new(moves),
    ]
}
