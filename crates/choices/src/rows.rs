//! Turns columns into choices.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrowPrimitiveType, BooleanArray, PrimitiveArray, RecordBatch};

use crate::{Choice, Correctness};

/// The rows of a batch whose columns were checked.
pub fn rows(batch: &RecordBatch) -> Vec<Choice> {
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
