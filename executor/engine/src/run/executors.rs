//! The executors of a run: this machine, and a batch system if there is one.

use std::collections::BTreeMap;

use crate::executor::{ActionRequest, Executor, ExecutorFactory, StartOutcome};
use crate::local::LocalExecutor;
use crate::lookup::RunContext;
use crate::machine::Machine;
use crate::update::UpdateSender;

/// The executors of a run, and the one of each cell.
pub struct Executors {
    /// All executors, this machine first.
    pub all: Vec<Box<dyn Executor>>,
    /// The actions that are not started, by executor and by cell.
    queues: Vec<BTreeMap<usize, ActionRequest>>,
    of_cell: Vec<usize>,
}

impl Executors {
    /// Starts the executors for the cells of a plan.
    pub fn new(run: RunContext<'_>, machine: Machine, batch: Option<ExecutorFactory>, updates: UpdateSender) -> Self {
        let local = LocalExecutor::new(run.store.clone(), machine, updates.clone());
        let mut all: Vec<Box<dyn Executor>> = vec![Box::new(local)];
        let is_local = |stage: &String| batch.as_ref().is_none_or(|batch| batch.local_stages.contains(stage));
        let of_cell = run.plan.cells.iter().map(|cell| usize::from(!is_local(&cell.label.stage))).collect();
        all.extend(batch.map(|batch| (batch.create)(updates)));
        let queues = all.iter().map(|_| BTreeMap::new()).collect();
        Executors { all, queues, of_cell }
    }

    /// Queues an action. It starts when its executor has the resources.
    pub fn submit(&mut self, task: ActionRequest) {
        self.queues[self.of_cell[task.cell]].insert(task.cell, task);
    }

    /// Takes back an action that was not started.
    pub fn withdraw(&mut self, cell: usize) {
        self.queues[self.of_cell[cell]].remove(&cell);
    }

    /// Starts the actions that fit the free resources. Returns the outcome of each start.
    pub fn start_queued(&mut self) -> Vec<StartOutcome> {
        self.all.iter_mut().zip(&mut self.queues).flat_map(|(executor, queue)| executor.start(queue)).collect()
    }

    /// Returns true if the job of a cell neither reads nor writes the store of the run.
    pub fn is_remote(&self, cell: usize) -> bool {
        !self.all[self.of_cell[cell]].shares_store()
    }

    /// Returns the executor of a cell.
    pub fn of(&mut self, cell: usize) -> &mut dyn Executor {
        &mut *self.all[self.of_cell[cell]]
    }
}
