//! This machine as an executor: a process an action, as many side by side as the machine has room for.

use std::collections::{BTreeMap, HashMap};

use cwm_contract::{DeviceChoice, Needs, Resources};

use crate::child::{ActionCommand, ActionProcess};
use crate::executor::{Cancel, Executor, ExecutorEvents, Start, Started, Task};
use crate::machine::{Machine, Pool, Share};
use cwm_core::error::Error;
use cwm_store::Store;

/// Carries out actions in processes of this machine.
pub struct LocalExecutor {
    store: Store,
    pool: Pool,
    queued: BTreeMap<usize, Task>,
    running: HashMap<usize, (ActionProcess, Share)>,
    events: ExecutorEvents,
}

impl LocalExecutor {
    /// Uses all of this machine.
    pub fn new(store: Store, machine: Machine, events: ExecutorEvents) -> Self {
        let (pool, queued, running) = (Pool::new(machine), BTreeMap::new(), HashMap::new());
        LocalExecutor { store, pool, queued, running, events }
    }

    fn start(&self, task: Task, share: &Share, resources: Resources) -> Result<ActionProcess, Error> {
        let Task { cell, mut action, terms, .. } = task;
        let key = action.key;
        let folder = || if terms.check { self.store.checking(&key) } else { self.store.work(&key) };
        action.resources = resources.clone();
        folder().write_action(&action)?;
        let (store, visible) = (self.store.root(), share.visible.as_deref());
        let command = ActionCommand { cell, key, store, work: folder(), resources: &resources, terms: &terms, visible };
        ActionProcess::start(command, self.events.clone())
    }
}

/// A queued cell that there is room for.
pub struct Placement {
    /// The cell.
    pub cell: usize,
    /// What it holds of the pool.
    pub share: Share,
    /// The same as its action sees it.
    pub resources: Resources,
    /// What it needs beyond what the machine has, in words.
    pub warning: Option<String>,
}

/// Takes shares from the pool for the first of the queued cells that fit. Thousands may wait: of those that need the same as one
/// that did not fit, none is tried.
pub fn place(pool: &mut Pool, queued: impl Iterator<Item = (usize, Needs, DeviceChoice)>) -> Vec<Placement> {
    let mut placed = Vec::new();
    let mut refused = Vec::new();
    for (cell, needs, device) in queued {
        if refused.contains(&(needs, device)) {
            continue;
        }
        let (clamped, warning) = pool.clamp(&needs);
        let Some((share, mut resources)) = pool.take(&clamped, device) else {
            refused.push((needs, device));
            continue;
        };
        resources.accelerator_unavailable = needs.gpu > 0.0 && resources.devices.is_empty();
        placed.push(Placement { cell, share, resources, warning });
    }
    placed
}

impl Executor for LocalExecutor {
    fn submit(&mut self, task: Task) {
        self.queued.insert(task.cell, task);
    }

    fn withdraw(&mut self, cell: usize) -> bool {
        self.queued.remove(&cell).is_some()
    }

    fn start_queued(&mut self) -> Vec<Start> {
        let queued = self.queued.iter().map(|(cell, task)| (*cell, task.needs, task.device));
        let mut starts = Vec::new();
        for Placement { cell, share, resources, warning } in place(&mut self.pool, queued) {
            let Some(task) = self.queued.remove(&cell) else { continue };
            let started = match self.start(task, &share, resources) {
                Ok(process) => {
                    self.running.insert(cell, (process, share));
                    Ok(Started::Now)
                }
                Err(error) => {
                    self.pool.give_back(share);
                    Err(error)
                }
            };
            starts.push(Start { cell, warning, started });
        }
        starts
    }

    fn release(&mut self, cell: usize) {
        if let Some((_, share)) = self.running.remove(&cell) {
            self.pool.give_back(share);
        }
    }

    fn cancel(&mut self, how: Cancel) -> usize {
        self.running.values().for_each(|(process, _)| process.cancel(how));
        self.running.len()
    }

    fn close(&mut self) {}
}
