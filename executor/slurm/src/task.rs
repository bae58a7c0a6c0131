//! What a run and the thread that watches its jobs send each other.

use std::collections::BTreeMap;

use super::batch::BatchTask;
use super::request::ResourceRequest;
use cwm_action::{ActionFailure, ActionMessage};

/// A cell to submit, whose action file is written.
#[derive(Clone, Debug)]
pub struct TaskSpec {
    /// The index of the cell; updates of the task carry it.
    pub cell: usize,
    /// The task, as its batch holds it.
    pub task: BatchTask,
    /// The resources that it requests.
    pub request: ResourceRequest,
    /// The number of times that it was submitted again because its job was lost.
    pub resubmissions: u32,
}

/// A message of the watching thread to the run.
pub enum JobUpdate {
    /// The job of a cell wrote this message.
    Message(usize, ActionMessage),
    /// The job of a cell ended.
    Ended(usize, TaskEnd),
    /// These cells are tasks of a job.
    Submitted {
        /// The job's id.
        job: String,
        /// The cells.
        cells: Vec<usize>,
        /// The request of each of them, in words.
        request: String,
        /// True if another run, or an earlier one, submitted it.
        adopted: bool,
    },
    /// The queue says something else of a cell's job than before: this, in words.
    StateChanged(usize, String),
    /// The number of jobs of this run in the queue.
    Queue {
        /// Jobs that wait.
        pending: usize,
        /// Jobs that have a node.
        running: usize,
        /// The reasons for which jobs wait, with the number of jobs of each.
        reasons: BTreeMap<String, usize>,
    },
    /// Something worth knowing that stops nothing.
    Warning(String),
    /// The watching thread ended, for this reason, while there were jobs.
    WatcherFailed(String),
}

/// The end of a cell as a task.
pub type TaskEnd = Result<(), ActionFailure>;
