//! Turns choices into columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt16Array, UInt32Array, UInt64Array};

use crate::{Choice, Correctness};

/// The columns of these rows, in the order of the schema.
pub fn columns(rows: &[Choice]) -> Vec<ArrayRef> {
    let flags =
        |of: &dyn Fn(&Choice) -> Option<bool>| -> ArrayRef { Arc::new(rows.iter().map(of).collect::<BooleanArray>()) };
    let numbers =
        |of: &dyn Fn(&Choice) -> Option<f64>| -> ArrayRef { Arc::new(rows.iter().map(of).collect::<Float64Array>()) };
    let forced = |of: fn(&Correctness) -> bool| flags(&|row| row.forced.as_ref().map(of));
    vec![
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.record))),
        Arc::new(UInt64Array::from_iter(rows.iter().map(|row| row.game))),
        Arc::new(UInt32Array::from_iter(rows.iter().map(|row| row.t))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.fen))),
        Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.legal_moves))),
        Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.best))),
        flags(&|row| row.seen),
        numbers(&|row| row.loss),
        Arc::new(UInt16Array::from_iter(rows.iter().map(|row| row.tokens))),
        Arc::new(StringArray::from_iter(rows.iter().map(|row| row.forced_text.as_ref()))),
        forced(|correctness| correctness.valid),
        forced(|correctness| correctness.legal),
        forced(|correctness| correctness.best),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.text))),
        flags(&|row| Some(row.free.valid)),
        flags(&|row| Some(row.free.legal)),
        flags(&|row| Some(row.free.best)),
        flags(&|row| row.mask_best),
        numbers(&|row| row.mask_loss),
    ]
}
