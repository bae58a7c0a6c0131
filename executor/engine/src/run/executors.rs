//! The executors of a run: this machine, and a batch system if there is one.

use crate::executor::{BatchExecutor, Executor, ExecutorEvents};
use crate::local::LocalExecutor;
use crate::lookup::RunInputs;
use crate::machine::Machine;

/// The executors of a run, and the one of each cell.
pub struct Executors {
    /// All executors, this machine first.
    pub all: Vec<Box<dyn Executor>>,
    of_cell: Vec<usize>,
}

impl Executors {
    /// Starts the executors for the cells of a plan.
    pub fn new(inputs: RunInputs<'_>, machine: Machine, batch: Option<BatchExecutor>, events: ExecutorEvents) -> Self {
        let local = LocalExecutor::new(inputs.store.clone(), machine, events.clone());
        let mut all: Vec<Box<dyn Executor>> = vec![Box::new(local)];
        let is_local = |stage: &String| batch.as_ref().is_none_or(|batch| batch.local_stages.contains(stage));
        let of_cell = inputs.plan.cells.iter().map(|cell| usize::from(!is_local(&cell.label.stage))).collect();
        all.extend(batch.map(|batch| (batch.start)(events)));
        Executors { all, of_cell }
    }

    /// Returns the executor of a cell.
    pub fn of(&mut self, cell: usize) -> &mut dyn Executor {
        &mut *self.all[self.of_cell[cell]]
    }
}
