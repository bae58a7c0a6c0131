//! The interface of executors. An [`Executor`] carries out actions in processes of this machine, or as batch jobs.

use std::collections::BTreeMap;
use std::time::Duration;

use cwm_contract::{DeviceChoice, Needs};

use crate::update::UpdateSender;
use cwm_action::{ActionFile, AttemptOptions};
use cwm_core::Result;

/// Carries out actions. No method waits for an action: its messages and its end are sent as [`Update`](crate::Update)s, from any
/// thread.
pub trait Executor {
    /// Takes the actions that fit the free resources from the queue, and starts them. Returns the outcome of each start.
    fn start(&mut self, queue: &mut BTreeMap<usize, ActionRequest>) -> Vec<StartOutcome>;

    /// Releases the resources of a cell. The engine calls it when it has received
    /// [`Exited`](crate::Update::Exited).
    fn release(&mut self, cell: usize);

    /// Requests all actions that were started to stop, or kills them. Returns how many there were.
    fn cancel(&mut self, how: Cancel) -> usize;

    /// Returns true if actions read and write the store of the run. Otherwise their inputs have to be uploaded first, and a remote
    /// has their outputs.
    fn shares_store(&self) -> bool {
        true
    }

    /// Returns true if actions continue when the run ends, and the next run finds them.
    fn outlives_run(&self) -> bool {
        false
    }

    /// Stops watching actions at the end of a run. A last event names those that continue.
    fn close(&mut self) {}
}

/// An action to be carried out.
pub struct ActionRequest {
    /// Its cell.
    pub cell: usize,
    /// The action to carry out. The executor fills in the resources.
    pub action: ActionFile,
    /// The options of this attempt.
    pub options: AttemptOptions,
    /// The resources that it needs.
    pub needs: Needs,
    /// The device that it computes on.
    pub device: DeviceChoice,
    /// The time limit of a batch job, if the pipeline has one.
    pub time: Option<Duration>,
}

/// The outcome of starting an action.
#[derive(Debug)]
pub struct StartOutcome {
    /// Its cell.
    pub cell: usize,
    /// A warning, for example that it gets less than it needs.
    pub warning: Option<String>,
    /// `Ok` if it was started. One that outlives the run may begin later, as its message `Start` reports.
    pub started: Result<()>,
}

/// The way to end actions early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// Actions stop at the next safe point.
    Stop,
    /// Actions are killed.
    Kill,
}

/// Makes the executor for a batch system.
pub struct ExecutorFactory {
    /// Makes the executor when the run can receive its updates.
    pub create: Box<dyn FnOnce(UpdateSender) -> Box<dyn Executor>>,
    /// Stages that run on this machine nevertheless.
    pub local_stages: Vec<String>,
}
