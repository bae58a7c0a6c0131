//! How the action of a cell is carried out: in a process on this machine, or as a batch job. Both are an [`Executor`].

use std::sync::Arc;
use std::time::Duration;

use cwm_contract::{DeviceChoice, Needs};

use crate::event::RunEvent;
use cwm_action::{ActionFailure, ActionFile, ActionMessage, AttemptOptions};
use cwm_core::Error;

/// Carries out actions. Nothing here waits for an action: what becomes of it is sent as [`ExecutorEvent`]s, from any thread.
pub trait Executor {
    /// Takes an action over. It is started by [`Executor::start_queued`], when there is room for it.
    fn submit(&mut self, task: Task);

    /// Takes back an action that was not started. Returns false if it was.
    fn withdraw(&mut self, cell: usize) -> bool;

    /// Starts those of the submitted actions that there is room for, and returns what came of each.
    fn start_queued(&mut self) -> Vec<Start>;

    /// Releases what the action of a cell held. The engine calls it when it has received [`ActionUpdate::Exited`].
    fn release(&mut self, cell: usize);

    /// Asks all actions that were started to stop, or kills them. Returns how many there were.
    fn cancel(&mut self, how: Cancel) -> usize;

    /// Returns true if actions read and write the store of the run. Otherwise their inputs have to be uploaded first, and their
    /// outputs are with a remote.
    fn shares_store(&self) -> bool {
        true
    }

    /// Returns true if actions go on when the run ends, and the next run finds them.
    fn outlives_run(&self) -> bool {
        false
    }

    /// Stops watching actions at the end of a run. What is to be said of those that go on is sent as an event before.
    fn close(&mut self);
}

/// An action to be carried out.
pub struct Task {
    /// Its cell.
    pub cell: usize,
    /// The action to carry out. The executor fills in the resources.
    pub action: ActionFile,
    /// The options of this attempt.
    pub terms: AttemptOptions,
    /// Its needs of a machine.
    pub needs: Needs,
    /// Where it computes.
    pub device: DeviceChoice,
    /// How long a batch job may run, if the pipeline says so.
    pub time: Option<Duration>,
}

/// The outcome of starting an action.
#[derive(Debug)]
pub struct Start {
    /// Its cell.
    pub cell: usize,
    /// A warning, such as that it gets less than it needs.
    pub warning: Option<String>,
    /// When it runs, or why it could not be started.
    pub started: Result<Started, Error>,
}

/// When an action that was started runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// At once.
    Now,
    /// When the batch system has room for it; [`ActionUpdate::Message`] with [`ActionMessage::Start`] tells when that is.
    Later,
}

/// How actions are ended before their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// They stop at the next safe point.
    Ask,
    /// They are killed.
    Kill,
}

/// Something that happened to the actions of an executor.
#[derive(Debug)]
pub enum ExecutorEvent {
    /// Something that happened to the action of a cell.
    Update(usize, ActionUpdate),
    /// Something for whoever watches the run.
    Emit(RunEvent),
}

/// Something that happened to an action.
#[derive(Debug)]
pub enum ActionUpdate {
    /// The action sent this.
    Message(ActionMessage),
    /// It ended; with success if there should be a result.
    Exited(Result<(), ActionFailure>),
}

/// Sends events to the engine, from any thread.
pub type ExecutorEvents = Arc<dyn Fn(ExecutorEvent) + Send + Sync>;

/// The executor of a run that is not this machine.
pub struct BatchExecutor {
    /// Makes the executor, once the run can receive its events.
    pub start: Box<dyn FnOnce(ExecutorEvents) -> Box<dyn Executor>>,
    /// Stages that are done on this machine nevertheless.
    pub local_stages: Vec<String>,
}
