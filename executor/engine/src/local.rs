//! This machine as an executor: a process an action, as many side by side as fit the machine.

use std::collections::{BTreeMap, HashMap};

use cwm_contract::{DeviceChoice, Needs, Resources};

use crate::child::ActionProcess;
use crate::executor::{Cancel, Executor, ExecutorEvents, Start, Task};
use crate::machine::{Allocation, Machine, ResourcePool};
use cwm_store::Store;

/// Carries out actions in processes of this machine.
pub struct LocalExecutor {
    store: Store,
    pool: ResourcePool,
    running: HashMap<usize, (ActionProcess, Allocation)>,
    events: ExecutorEvents,
}

impl LocalExecutor {
    /// Uses all of this machine.
    pub fn new(store: Store, machine: Machine, events: ExecutorEvents) -> Self {
        LocalExecutor { store, pool: ResourcePool::new(machine), running: HashMap::new(), events }
    }
}

/// A queued cell that fits the free resources.
pub struct Placement {
    pub cell: usize,
    /// Its part of the pool.
    pub allocation: Allocation,
    /// The same as its action sees it.
    pub resources: Resources,
    /// A warning if it needs more than the machine has.
    pub warning: Option<String>,
}

/// Takes shares from the pool for the first of the queued cells that fit. Thousands may wait: of those that need the same as one
/// that did not fit, none is tried. The last part of a cell is [`Task::opens_device`].
pub fn place(
    pool: &mut ResourcePool,
    queued: impl Iterator<Item = (usize, Needs, DeviceChoice, bool)>,
) -> Vec<Placement> {
    let mut placed = Vec::new();
    let mut refused = Vec::new();
    for (cell, needs, device, opens_device) in queued {
        if refused.contains(&(needs, device)) {
            continue;
        }
        let (clamped, warning) = pool.clamp(&needs);
        let Some((allocation, mut resources)) = pool.allocate(&clamped, device) else {
            refused.push((needs, device));
            continue;
        };
        resources.accelerator_unavailable = needs.gpu > 0.0 && resources.devices.is_empty();
        let warning = match resources.accelerator_unavailable && opens_device {
            // Its stage reports the missing accelerator.
            true => pool.clamp(&Needs { gpu: 0.0, ..needs }).1,
            false => warning,
        };
        placed.push(Placement { cell, allocation, resources, warning });
    }
    placed
}

impl Executor for LocalExecutor {
    fn start(&mut self, queue: &mut BTreeMap<usize, Task>) -> Vec<Start> {
        let queued = queue.iter().map(|(cell, task)| (*cell, task.needs, task.device, task.opens_device));
        let mut starts = Vec::new();
        for Placement { cell, allocation, resources, warning } in place(&mut self.pool, queued) {
            let Some(mut task) = queue.remove(&cell) else { continue };
            task.action.resources = resources;
            let visible_devices = allocation.visible_devices.as_deref();
            let started = match ActionProcess::start(&task, &self.store, visible_devices, self.events.clone()) {
                Ok(process) => {
                    self.running.insert(cell, (process, allocation));
                    Ok(())
                }
                Err(error) => {
                    self.pool.release(allocation);
                    Err(error)
                }
            };
            starts.push(Start { cell, warning, started });
        }
        starts
    }

    fn release(&mut self, cell: usize) {
        if let Some((_, allocation)) = self.running.remove(&cell) {
            self.pool.release(allocation);
        }
    }

    fn cancel(&mut self, how: Cancel) -> usize {
        self.running.values().for_each(|(process, _)| process.cancel(how));
        self.running.len()
    }
}
