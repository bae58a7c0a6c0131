//! From columns to evaluations.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};

use crate::{Evaluation, Line, Score};

/// The rows of a batch whose columns were checked; the error is the first without a line or with one without a move.
pub fn rows(batch: &RecordBatch, before: u64) -> Result<Vec<Evaluation>, String> {
    let record = batch.column(0).as_primitive::<UInt64Type>();
    let game = batch.column(1).as_primitive::<UInt64Type>();
    let id = batch.column(2).as_string::<i32>();
    let t = batch.column(3).as_primitive::<UInt32Type>();
    let fen = batch.column(4).as_string::<i32>();
    let lines = batch.column(5).as_list::<i32>();
    let row = |row: usize| {
        let evaluation = Evaluation {
            record: record.value(row),
            game: game.is_valid(row).then(|| game.value(row)),
            id: id.value(row).to_owned(),
            t: t.is_valid(row).then(|| t.value(row)),
            fen: fen.value(row).to_owned(),
            lines: lines_of(lines.value(row).as_ref()),
        };
        if evaluation.is_whole() {
            Ok(evaluation)
        } else {
            Err(format!("row {} has no line, or a line without a move", before + row as u64))
        }
    };
    (0..batch.num_rows()).map(row).collect()
}

fn lines_of(lines: &dyn Array) -> Vec<Line> {
    let lines = lines.as_struct();
    let centipawns = lines.column(0).as_primitive::<Int32Type>();
    let mate = lines.column(1).as_primitive::<Int32Type>();
    let depth = lines.column(2).as_primitive::<UInt32Type>();
    let moves = lines.column(3).as_list::<i32>();
    let line = |line: usize| Line {
        score: if mate.is_valid(line) {
            Some(Score::Mate(mate.value(line)))
        } else {
            centipawns.is_valid(line).then(|| Score::Centipawns(centipawns.value(line)))
        },
        depth: depth.is_valid(line).then(|| depth.value(line)),
        moves: moves.value(line).as_primitive::<UInt16Type>().values().to_vec(),
    };
    (0..lines.len()).map(line).collect()
}
