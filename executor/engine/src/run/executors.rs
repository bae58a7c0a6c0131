//! The executors of a run: this machine, and a batch system if there is one.

use crate::executor::{BatchExecutor, Cancel, Executor, ExecutorEvents, Start, Task};
use crate::local::LocalExecutor;
use crate::machine::Machine;
use cwm_pipeline::plan::Plan;
use cwm_store::Store;

/// The executors of a run, and the cells that each carries out.
pub struct Executors {
    /// This machine first.
    executors: Vec<Box<dyn Executor>>,
    /// The executor of each cell.
    of_cell: Vec<usize>,
}

impl Executors {
    /// Starts the executors for the cells of a plan.
    pub fn new(
        plan: &Plan,
        store: &Store,
        machine: Machine,
        batch: Option<BatchExecutor>,
        events: ExecutorEvents,
    ) -> Self {
        let local = LocalExecutor::new(store.clone(), machine, events.clone());
        let mut executors: Vec<Box<dyn Executor>> = vec![Box::new(local)];
        let mut of_cell = vec![0; plan.cells.len()];
        if let Some(batch) = batch {
            executors.push((batch.start)(events));
            for (cell, executor) in plan.cells.iter().zip(&mut of_cell) {
                *executor = usize::from(!batch.local_stages.contains(&cell.label.stage));
            }
        }
        Executors { executors, of_cell }
    }

    fn of(&self, cell: usize) -> &dyn Executor {
        &*self.executors[self.of_cell[cell]]
    }

    /// Returns true if the executor of a cell does not share the store, so that what the cell reads has to be uploaded.
    pub fn needs_upload(&self, cell: usize) -> bool {
        !self.of(cell).shares_store()
    }

    /// Returns true if the action of a cell continues when the run ends.
    pub fn outlives_run(&self, cell: usize) -> bool {
        self.of(cell).outlives_run()
    }

    /// Hands a task to the executor of its cell.
    pub fn submit(&mut self, task: Task) {
        self.executors[self.of_cell[task.cell]].submit(task);
    }

    /// Takes back the task of a cell.
    pub fn withdraw(&mut self, cell: usize) {
        self.executors[self.of_cell[cell]].withdraw(cell);
    }

    /// Releases the resources of a cell whose action ended.
    pub fn release(&mut self, cell: usize) {
        self.executors[self.of_cell[cell]].release(cell);
    }

    /// Starts the queued tasks that there is room for.
    pub fn start_queued(&mut self) -> Vec<Start> {
        self.executors.iter_mut().flat_map(|executor| executor.start_queued()).collect()
    }

    /// Stops or kills all actions. Returns how many there were.
    pub fn cancel(&mut self, how: Cancel) -> usize {
        self.executors.iter_mut().map(|executor| executor.cancel(how)).sum()
    }

    /// Stops watching actions at the end of a run.
    pub fn close(&mut self) {
        self.executors.iter_mut().for_each(|executor| executor.close());
    }
}
