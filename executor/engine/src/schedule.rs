//! Which cells can go next: the bookkeeping of a run, without doing anything.

use std::collections::BTreeSet;

use crate::status::sources;
use cwm_pipeline::plan::Plan;
use cwm_store::ActionRecord;

/// Where a cell stands in a run.
#[derive(Debug)]
pub enum Stand {
    /// Not part of this run.
    Aside,
    /// Waits for sources, for its turn, or for room.
    Waiting,
    /// Its process runs.
    Running,
    /// Its result is known.
    Done(Box<ActionRecord>),
    /// It failed.
    Failed,
    /// Something it depends on did not finish.
    Skipped,
}

/// The state of a run.
pub struct Schedule {
    /// By cell index.
    pub stands: Vec<Stand>,
    /// Cells that read each cell.
    dependents: Vec<Vec<usize>>,
    /// Sources of each cell that are not done.
    open_sources: Vec<usize>,
    /// Cells all of whose sources are done, not looked at since, in plan order.
    pub ready: BTreeSet<usize>,
}

impl Schedule {
    /// A run of the cells in `wanted` (closed under dependence: every source of a wanted cell is wanted).
    pub fn new(plan: &Plan, wanted: &[bool]) -> Self {
        let count = plan.cells.len();
        let mut schedule = Schedule {
            stands: (0..count).map(|index| if wanted[index] { Stand::Waiting } else { Stand::Aside }).collect(),
            dependents: vec![Vec::new(); count],
            open_sources: vec![0; count],
            ready: BTreeSet::new(),
        };
        for (index, cell) in plan.cells.iter().enumerate().filter(|(index, _)| wanted[*index]) {
            let unique: BTreeSet<usize> = sources(cell).collect();
            schedule.open_sources[index] = unique.len();
            for source in unique {
                schedule.dependents[source].push(index);
            }
            if schedule.open_sources[index] == 0 {
                schedule.ready.insert(index);
            }
        }
        schedule
    }

    /// The record of a cell that is done.
    pub fn record(&self, index: usize) -> Option<&ActionRecord> {
        match &self.stands[index] {
            Stand::Done(record) => Some(record),
            _ => None,
        }
    }

    /// Whether anything reads this cell in this run.
    pub fn is_read(&self, index: usize) -> bool {
        !self.dependents[index].is_empty()
    }

    /// The cell is done; what waited for it alone becomes ready.
    pub fn done(&mut self, index: usize, record: ActionRecord) {
        self.stands[index] = Stand::Done(Box::new(record));
        for dependent in self.dependents[index].clone() {
            self.open_sources[dependent] -= 1;
            if self.can_go(dependent) {
                self.ready.insert(dependent);
            }
        }
    }

    /// A cell that ran is to run once more; nothing that reads it has gone on.
    pub fn wait_again(&mut self, index: usize) {
        self.stands[index] = Stand::Waiting;
        if self.can_go(index) {
            self.ready.insert(index);
        }
    }

    /// A cell that was done must be made again (its files are gone); what reads it waits again. It waits itself, if a source
    /// of its own was reopened before.
    pub fn reopen(&mut self, index: usize) {
        self.stands[index] = Stand::Waiting;
        self.hold_dependents(index);
        if self.can_go(index) {
            self.ready.insert(index);
        }
    }

    fn hold_dependents(&mut self, index: usize) {
        for dependent in self.dependents[index].clone() {
            self.open_sources[dependent] += 1;
            self.ready.remove(&dependent);
        }
    }

    /// A cell that was reopened has another result than before: what was done with the old one, directly or not, waits
    /// to be looked at again. Returns those cells.
    pub fn reconsider_dependents(&mut self, index: usize) -> Vec<usize> {
        let mut reconsidered = Vec::new();
        let mut front = self.dependents[index].clone();
        while let Some(next) = front.pop() {
            if matches!(self.stands[next], Stand::Done(_)) {
                self.stands[next] = Stand::Waiting;
                self.hold_dependents(next);
                reconsidered.push(next);
                front.extend(&self.dependents[next]);
            }
        }
        reconsidered
    }

    /// Whether the cell waits and all of its sources are done.
    pub fn can_go(&self, index: usize) -> bool {
        matches!(self.stands[index], Stand::Waiting) && self.open_sources[index] == 0
    }

    /// What depends on the cell and is skipped already.
    pub fn skipped_behind(&self, index: usize) -> BTreeSet<usize> {
        let mut skipped = BTreeSet::new();
        let mut front = self.dependents[index].clone();
        while let Some(next) = front.pop() {
            if matches!(self.stands[next], Stand::Skipped) && skipped.insert(next) {
                front.extend(&self.dependents[next]);
            }
        }
        skipped
    }

    /// The cell did not finish; everything that depends on it is skipped. Returns the skipped cells in plan order.
    pub fn failed(&mut self, index: usize) -> Vec<usize> {
        self.stands[index] = Stand::Failed;
        let mut skipped = BTreeSet::new();
        let mut front = self.dependents[index].clone();
        while let Some(next) = front.pop() {
            if matches!(self.stands[next], Stand::Waiting) {
                self.stands[next] = Stand::Skipped;
                self.ready.remove(&next);
                skipped.insert(next);
                front.extend(&self.dependents[next]);
            }
        }
        skipped.into_iter().collect()
    }
}
