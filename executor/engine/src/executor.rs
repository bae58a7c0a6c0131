//! The interface of executors. An [`Executor`] carries out actions in processes of this machine, or as batch jobs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cwm_contract::{DeviceChoice, Needs};

use crate::event::RunEvent;
use cwm_action::{ActionFailure, ActionFile, ActionMessage, AttemptOptions};
use cwm_core::Result;

/// Carries out actions. No method waits for an action: its messages and its end are sent as [`ExecutorEvent`]s, from any thread.
pub trait Executor {
    /// Takes the actions that fit the free resources from the queue, and starts them. Returns the outcome of each start.
    fn start(&mut self, queue: &mut BTreeMap<usize, Task>) -> Vec<Start>;

    /// Releases the resources of a cell. The engine calls it when it has received [`ExecutorEvent::Exited`].
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
pub struct Task {
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
    /// True if its stage opens the device itself, and reports a missing one.
    pub opens_device: bool,
    /// The time limit of a batch job, if the pipeline has one.
    pub time: Option<Duration>,
}

/// The outcome of starting an action.
#[derive(Debug)]
pub struct Start {
    /// Its cell.
    pub cell: usize,
    /// A warning, for example that it gets less than it needs.
    pub warning: Option<String>,
    /// Whether it was started. One that outlives the run may begin later: [`ActionMessage::Start`] is sent then.
    pub started: Result<()>,
}

/// The way to end actions early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// They stop at the next safe point.
    Stop,
    /// They are killed.
    Kill,
}

/// Something that happened to the actions of an executor.
#[derive(Debug)]
pub enum ExecutorEvent {
    /// The action of a cell sent a message.
    Message(usize, ActionMessage),
    /// It ended. A success should have left a result.
    Exited(usize, Result<(), ActionFailure>),
    /// An event of the run.
    Emit(RunEvent),
}

/// Sends events to the engine, from any thread.
pub type ExecutorEvents = Arc<dyn Fn(ExecutorEvent) + Send + Sync>;

/// The executor for a batch system.
pub struct BatchExecutor {
    /// Makes the executor when the run can receive its events.
    pub start: Box<dyn FnOnce(ExecutorEvents) -> Box<dyn Executor>>,
    /// Stages that run on this machine nevertheless.
    pub local_stages: Vec<String>,
}
