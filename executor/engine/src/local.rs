//! Runs actions on this machine: a process an action, as many side by side as fit the machine.

use std::collections::{BTreeMap, HashMap};

use cwm_contract::{DeviceChoice, Needs};

use crate::child::ActionProcess;
use crate::executor::{ActionRequest, Cancel, Executor, StartOutcome};
use crate::machine::{Allocation, Machine, ResourcePool};
use crate::update::UpdateSender;
use cwm_action::ActionBody;
use cwm_store::Store;

/// Carries out actions in processes of this machine.
pub struct LocalExecutor {
    store: Store,
    pool: ResourcePool,
    running: HashMap<usize, (ActionProcess, Allocation)>,
    updates: UpdateSender,
}

impl LocalExecutor {
    /// Uses all of this machine.
    pub fn new(store: Store, machine: Machine, updates: UpdateSender) -> Self {
        LocalExecutor { store, pool: ResourcePool::new(machine), running: HashMap::new(), updates }
    }
}

/// A queued cell that fits the free resources.
pub struct Placement {
    pub cell: usize,
    /// Its part of the pool.
    pub allocation: Allocation,
    /// A warning if it needs more than the machine has.
    pub warning: Option<String>,
}

/// Takes shares from the pool for the first of the queued cells that fit. Thousands may wait: of those that need the same as one
/// that did not fit, none is tried. The last part of a cell is true if it is a command: a stage that can use a missing accelerator
/// reports that itself.
pub fn place(
    pool: &mut ResourcePool,
    queued: impl Iterator<Item = (usize, Needs, DeviceChoice, bool)>,
) -> Vec<Placement> {
    let mut placed = Vec::new();
    let mut refused = Vec::new();
    for (cell, needs, device, is_command) in queued {
        if refused.contains(&(needs, device)) {
            continue;
        }
        let (clamped, warning) = pool.clamp(&needs);
        let Some(mut allocation) = pool.allocate(&clamped, device) else {
            refused.push((needs, device));
            continue;
        };
        let resources = &mut allocation.resources;
        resources.accelerator_unavailable = needs.gpu > 0.0 && resources.devices.is_empty();
        let warning = match resources.accelerator_unavailable && !is_command {
            true => pool.clamp(&Needs { gpu: 0.0, ..needs }).1,
            false => warning,
        };
        placed.push(Placement { cell, allocation, warning });
    }
    placed
}

impl Executor for LocalExecutor {
    fn start(&mut self, queue: &mut BTreeMap<usize, ActionRequest>) -> Vec<StartOutcome> {
        let is_command = |task: &ActionRequest| matches!(task.action.body, ActionBody::Command { .. });
        let queued = queue.iter().map(|(cell, task)| (*cell, task.needs, task.device, is_command(task)));
        let mut starts = Vec::new();
        for Placement { cell, allocation, warning } in place(&mut self.pool, queued) {
            let Some(mut task) = queue.remove(&cell) else { continue };
            task.action.resources = allocation.resources.clone();
            let visible_devices = allocation.visible_devices.as_deref();
            let started = match ActionProcess::start(&task, &self.store, visible_devices, self.updates.clone()) {
                Ok(process) => {
                    self.running.insert(cell, (process, allocation));
                    Ok(())
                }
                Err(error) => {
                    self.pool.release(allocation);
                    Err(error)
                }
            };
            starts.push(StartOutcome { cell, warning, started });
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
