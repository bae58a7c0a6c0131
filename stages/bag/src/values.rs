//! Action values, collected by position.

use std::collections::HashMap;

use cwm_contract::Failure;
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Score};
use cwm_policy::inputs::board::Board;
use shakmaty::Position;

use crate::counts::Counts;
use crate::record::Record;

/// The moves of all positions, in the order in which positions came.
#[derive(Default)]
pub struct Values {
    places: HashMap<String, usize>,
    positions: Vec<ValuedPosition>,
}

struct ValuedPosition {
    /// Ordinal of the first record.
    record: u64,
    fen: String,
    /// Packed, with their win probabilities.
    moves: Vec<(u16, f64)>,
}

impl Values {
    /// Takes the record with this ordinal; false if an earlier one has its position and its move.
    pub fn push(&mut self, ordinal: u64, record: &Record<'_>, win: f64) -> bool {
        let place = match self.places.get(record.fen) {
            Some(place) => *place,
            None => {
                let place = self.positions.len();
                self.places.insert(record.fen.to_owned(), place);
                self.positions.push(ValuedPosition { record: ordinal, fen: record.fen.to_owned(), moves: Vec::new() });
                place
            }
        };
        let moves = &mut self.positions[place].moves;
        let is_new = moves.iter().all(|(packed, _)| *packed != record.packed);
        if is_new {
            moves.push((record.packed, win));
        }
        is_new
    }

    /// Writes a row a position, its moves by falling win probability, equal ones in the order of their records.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn write(self, writer: &mut EvaluationsWriter, counts: &mut Counts<'_>) -> Result<(), Failure> {
        for ValuedPosition { record, fen, mut moves } in self.positions {
            moves.sort_by(|a, b| b.1.total_cmp(&a.1));
            counts.position(moves.len() == legal_moves(&fen)?);
            let line =
                |(packed, win)| Line { score: Some(Score::of_win_probability(win)), depth: None, moves: vec![packed] };
            let lines = moves.into_iter().map(line).collect();
            writer.push(Evaluation { record, game: None, id: String::new(), t: None, fen, lines })?;
        }
        Ok(())
    }
}

/// The number of legal moves in a position that was read before.
fn legal_moves(fen: &str) -> Result<usize, Failure> {
    let board = Board::parse(fen).map_err(|error| Failure::internal(format!("{fen:?} was read: {error}")))?;
    Ok(board.position().legal_moves().len())
}
