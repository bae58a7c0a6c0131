//! The state of a task of a batch in this run.

use std::time::Instant;

use super::batch::BatchTask;
use super::messages_file::new_messages;
use super::queue::QueueEntry;
use super::request::ResourceRequest;
use cwm_action::{ActionFailure, ActionMessage, ActionOutcome};
use cwm_core::files::Tail;
use cwm_engine::{Update, UpdateSender};

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

/// A cell that a task of a batch makes.
pub struct SubmittedTask {
    /// The task as it was submitted; it is submitted again if the job is lost.
    pub spec: TaskSpec,
    /// The index in the batch.
    pub index: u32,
    /// False if another run submitted the task, and this run has not seen it alive.
    pub is_confirmed: bool,
    /// True if its start was forwarded to the run.
    pub has_started: bool,
    messages: Tail,
    pub(super) report: TaskProgress,
    /// Its entry in the last answer of the queue; nothing if its job was not listed, or there was no answer yet.
    pub(super) entry: Option<QueueEntry>,
    /// The first and the last of the latest answers of the queue, in all of which the task had ended or was not listed. Only
    /// answers count: nothing grows older while the controller does not answer.
    pub(super) unlisted_since: Option<(Instant, Instant)>,
}

/// The task's own report, in its file of messages.
pub enum TaskProgress {
    /// Nothing.
    None,
    /// Something, and no end since it last started.
    Running,
    /// The task ended so, as read at this time.
    Ended(Result<ActionOutcome, ActionFailure>, Instant),
}

impl SubmittedTask {
    /// Returns the task of this index in a batch, of which nothing is known yet.
    pub fn new(spec: TaskSpec, index: u32, messages: Tail) -> Self {
        let (is_confirmed, has_started, report) = (true, false, TaskProgress::None);
        SubmittedTask { spec, index, is_confirmed, has_started, messages, report, entry: None, unlisted_since: None }
    }

    /// Reads new messages, and forwards them to the run. A task that starts again after its node failed or it was
    /// preempted is the same attempt to the run.
    pub fn forward_messages(&mut self, run: &UpdateSender) {
        for message in new_messages(&mut self.messages) {
            self.is_confirmed = true;
            let is_new = match &message {
                ActionMessage::Start => {
                    self.report = TaskProgress::Running;
                    !std::mem::replace(&mut self.has_started, true)
                }
                ActionMessage::Outcome(outcome) => {
                    self.report = TaskProgress::Ended(outcome.clone(), Instant::now());
                    matches!(outcome, Ok(ActionOutcome::NewResult(_) | ActionOutcome::Comparison(_)))
                }
                ActionMessage::Waiting { .. } | ActionMessage::Event(_) => {
                    if matches!(self.report, TaskProgress::None) {
                        self.report = TaskProgress::Running;
                    }
                    true
                }
            };
            if is_new {
                run(Update::Message(self.spec.cell, message));
            }
        }
    }

    /// Updates the task from an answer of the queue; nothing if that does not list its job. Returns true if its entry changed.
    pub fn update_from_queue(&mut self, entry: Option<QueueEntry>, now: Instant) -> bool {
        let is_alive = entry.as_ref().is_some_and(|entry| entry.end().is_none());
        self.is_confirmed |= is_alive;
        self.unlisted_since = (!is_alive).then(|| (self.unlisted_since.map_or(now, |(first, _)| first), now));
        let changed = self.entry != entry;
        self.entry = entry;
        changed
    }

    /// Returns true if the task reported its end, and has not started again.
    pub fn has_reported_end(&self) -> bool {
        matches!(self.report, TaskProgress::Ended(..))
    }
}
