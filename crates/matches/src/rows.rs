//! Turns columns into games.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};

use crate::{End, Game};

/// The rows of a batch whose columns were checked; the error names the first with an unknown end.
pub fn rows(batch: &RecordBatch) -> Result<Vec<Game>, String> {
    let game = batch.column(0).as_primitive::<UInt64Type>();
    let pair = batch.column(1).as_primitive::<UInt64Type>();
    let opening = batch.column(2).as_string::<i32>();
    let white = batch.column(3).as_string::<i32>();
    let black = batch.column(4).as_string::<i32>();
    let first_white = batch.column(5).as_boolean();
    let result = batch.column(6).as_string::<i32>();
    let score = batch.column(7).as_primitive::<Float64Type>();
    let plies = batch.column(8).as_primitive::<UInt32Type>();
    let end = batch.column(9).as_string::<i32>();
    let illegal_attempts = batch.column(10).as_primitive::<UInt32Type>();
    let level = batch.column(11).as_primitive::<UInt8Type>();
    let moves = batch.column(12).as_list::<i32>();
    let row = |row: usize| {
        let number = game.value(row);
        let word = end.value(row);
        Ok(Game {
            game: number,
            pair: pair.value(row),
            opening: opening.value(row).to_owned(),
            white: white.value(row).to_owned(),
            black: black.value(row).to_owned(),
            first_white: first_white.value(row),
            result: result.value(row).to_owned(),
            score: score.value(row),
            plies: plies.value(row),
            end: End::from_word(word).ok_or_else(|| format!("game {number} has the end `{word}`, which is unknown"))?,
            illegal_attempts: illegal_attempts.value(row),
            level: level.is_valid(row).then(|| level.value(row)),
            moves: moves.value(row).as_primitive::<UInt16Type>().values().to_vec(),
        })
    };
    (0..batch.num_rows()).map(row).collect()
}
