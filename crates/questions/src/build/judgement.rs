//! Items of Position Judgement.

use std::collections::HashSet;

use cwm_contract::Failure;

use super::draft::{blank, finish};
use super::evaluations::{EvaluatedPosition, EvaluationDropReason, PositionId};
use super::picker::{Order, Picker, TaskCount};
use crate::item::Item;
use crate::truth::{Keys, chess_of_fen};
use crate::{Band, Task};

/// The values among which an answer chooses, one in the middle of each band.
const GRID: [i64; 5] = [-400, -200, 0, 200, 400];

/// The distance from the middle of a band to its ends, in centipawns.
const HALF_BAND: u64 = 50;

/// Chooses the items of Position Judgement.
pub struct PositionJudgement {
    keys: Keys,
    picker: Picker,
    seen: HashSet<PositionId>,
    /// Candidates of each band.
    found: [u64; 5],
    impossible_rights: u64,
}

/// The band of a value, ends included.
pub fn band_of(centipawns: i64) -> Option<Band> {
    let at = GRID.iter().position(|middle| centipawns.abs_diff(*middle) <= HALF_BAND)?;
    Band::ALL.get(at).copied()
}

impl PositionJudgement {
    /// `wanted` is the number of items of each task.
    pub fn new(order: Order, seed: i128, keys: Keys, wanted: impl Fn(Task) -> usize) -> Self {
        let tasks = Band::ALL.map(Task::Judgement).map(|task| TaskCount { task, wanted: wanted(task), weight: 1 });
        PositionJudgement {
            keys,
            picker: Picker::new(order, seed, &tasks),
            seen: HashSet::new(),
            found: [0; 5],
            impossible_rights: 0,
        }
    }

    /// Returns true if no more positions are needed.
    pub fn is_full(&self) -> bool {
        self.picker.is_full()
    }

    /// Adds a position as a candidate. Returns the reason if it is dropped.
    ///
    /// # Errors
    ///
    /// A mistake of ours: a key cannot be computed of an item that was made here.
    pub fn add_candidate(&mut self, position: &EvaluatedPosition) -> Result<Option<EvaluationDropReason>, Failure> {
        let id = position.id();
        if !self.seen.insert(id) {
            return Ok(Some(EvaluationDropReason::Duplicate));
        }
        let Some(band) = band_of(position.centipawns) else { return Ok(Some(EvaluationDropReason::NoBand)) };
        let Ok((_, has_impossible_right)) = chess_of_fen(&position.fen) else {
            return Ok(Some(EvaluationDropReason::Fen));
        };
        self.impossible_rights += u64::from(has_impossible_right);
        self.found[band as usize] += 1;
        let id = id.to_string();
        let make = |task, _: &mut _| make(task, band, &id, position, self.keys);
        self.picker.add_candidate(&id, &[Task::Judgement(band)], make)?;
        Ok(None)
    }

    /// The number of positions whose FEN has a castling right that cannot be. It stays in the FEN.
    pub fn impossible_rights(&self) -> u64 {
        self.impossible_rights
    }

    /// The number of positions in each band.
    pub fn found(&self) -> impl Iterator<Item = (Band, u64)> {
        Band::ALL.into_iter().zip(self.found)
    }

    /// The items, without their questions, band after band.
    pub fn finish(self) -> Vec<Item> {
        self.picker.finish(true)
    }
}

fn make(task: Task, band: Band, id: &str, position: &EvaluatedPosition, keys: Keys) -> Result<Option<Item>, Failure> {
    let mut item = blank(task, position.fen.clone());
    let metadata = &mut item.metadata;
    metadata.insert("position_id", id);
    metadata.insert("actual_evaluation", position.centipawns);
    metadata.insert("depth", position.depth);
    metadata.insert("knodes", position.knodes);
    metadata.insert("best_line", position.line.as_str());
    metadata.insert("category", band.name());
    metadata.insert("options", GRID.to_vec());
    finish(item, keys)
}
