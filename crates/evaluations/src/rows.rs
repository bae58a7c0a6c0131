//! Turns columns into evaluations.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, Int32Array, ListArray, RecordBatch, UInt32Array};

use crate::{Evaluation, Line, Score};

/// The rows of a batch whose columns were checked; the error is the first without a line or with one without a move.
pub fn rows(batch: &RecordBatch, before: u64) -> Result<Vec<Evaluation>, String> {
    let record = batch.column(0).as_primitive::<UInt64Type>();
    let game = batch.column(1).as_primitive::<UInt64Type>();
    let id = batch.column(2).as_string::<i32>();
    let t = batch.column(3).as_primitive::<UInt32Type>();
    let fen = batch.column(4).as_string::<i32>();
    let lines = batch.column(5).as_list::<i32>();
    let all = Lines::of(lines.values().as_ref());
    let row = |row: usize| {
        let evaluation = Evaluation {
            record: record.value(row),
            game: game.is_valid(row).then(|| game.value(row)),
            id: id.value(row).to_owned(),
            t: t.is_valid(row).then(|| t.value(row)),
            fen: fen.value(row).to_owned(),
            lines: places(lines, row).map(|line| all.line(line)).collect(),
        };
        if evaluation.is_whole() {
            Ok(evaluation)
        } else {
            Err(format!("row {} has no line, or a line without a move", before + row as u64))
        }
    };
    (0..batch.num_rows()).map(row).collect()
}

/// The range of the items of a row of a list.
fn places(list: &ListArray, row: usize) -> Range<usize> {
    let offsets = list.value_offsets();
    offsets[row] as usize..offsets[row + 1] as usize
}

/// The lines of all rows.
struct Lines<'a> {
    centipawns: &'a Int32Array,
    mate: &'a Int32Array,
    depth: &'a UInt32Array,
    moves: &'a ListArray,
    all_moves: &'a [u16],
}

impl<'a> Lines<'a> {
    fn of(lines: &'a dyn Array) -> Self {
        let lines = lines.as_struct();
        let moves = lines.column(3).as_list::<i32>();
        Lines {
            centipawns: lines.column(0).as_primitive::<Int32Type>(),
            mate: lines.column(1).as_primitive::<Int32Type>(),
            depth: lines.column(2).as_primitive::<UInt32Type>(),
            moves,
            all_moves: moves.values().as_primitive::<UInt16Type>().values(),
        }
    }

    fn line(&self, line: usize) -> Line {
        let Lines { centipawns, mate, depth, .. } = self;
        Line {
            score: if mate.is_valid(line) {
                Some(Score::Mate(mate.value(line)))
            } else {
                centipawns.is_valid(line).then(|| Score::Centipawns(centipawns.value(line)))
            },
            depth: depth.is_valid(line).then(|| depth.value(line)),
            moves: self.all_moves[places(self.moves, line)].to_vec(),
        }
    }
}
