//! Turns evaluations into columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, ListArray, StringArray, StructArray, UInt16Array, UInt32Array, UInt64Array};
use arrow_buffer::OffsetBuffer;

use crate::schema::{line_field, line_fields, move_field};
use crate::{Evaluation, Line, Score};

/// The columns of these rows, in the order of the schema.
///
/// # Panics
/// One has no line, or a line without a move: a mistake of the caller's.
pub fn columns(rows: &[Evaluation]) -> Vec<ArrayRef> {
    assert!(rows.iter().all(Evaluation::is_whole), "an evaluation has lines, and a line has moves");
    vec![
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.record))),
        Arc::new(UInt64Array::from_iter(rows.iter().map(|row| row.game))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.id))),
        Arc::new(UInt32Array::from_iter(rows.iter().map(|row| row.t))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.fen))),
        Arc::new(lines(rows)),
    ]
}

fn lines(rows: &[Evaluation]) -> ListArray {
    let all: Vec<&Line> = rows.iter().flat_map(|row| &row.lines).collect();
    let moves = ListArray::new(
        move_field(),
        OffsetBuffer::from_lengths(all.iter().map(|line| line.moves.len())),
        Arc::new(UInt16Array::from_iter_values(all.iter().flat_map(|line| line.moves.iter().copied()))),
        None,
    );
    let centipawns = |line: &&Line| match line.score {
        Some(Score::Centipawns(value)) => Some(value),
        Some(Score::Mate(_)) | None => None,
    };
    let mate = |line: &&Line| match line.score {
        Some(Score::Mate(value)) => Some(value),
        Some(Score::Centipawns(_)) | None => None,
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter(all.iter().map(centipawns))),
        Arc::new(Int32Array::from_iter(all.iter().map(mate))),
        Arc::new(UInt32Array::from_iter(all.iter().map(|line| line.depth))),
        Arc::new(moves),
    ];
    ListArray::new(
        line_field(),
        OffsetBuffer::from_lengths(rows.iter().map(|row| row.lines.len())),
        Arc::new(StructArray::new(line_fields(), columns, None)),
        None,
    )
}
