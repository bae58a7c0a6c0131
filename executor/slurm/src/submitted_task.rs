//! The state of a task of a batch in this run.

use std::time::Instant;

use super::batch::BatchTask;
use super::events_file::EventsFile;
use super::queue::{JobPhase, QueueEntry};
use super::request::ResourceRequest;
use cwm_action::{ActionFailure, ActionMessage, ActionOutcome};
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
    events: EventsFile,
    pub(super) report: Report,
    pub(super) queue: QueueView,
}

/// The task's own report, in its events file.
#[derive(Debug)]
pub enum Report {
    /// Nothing.
    Nothing,
    /// Something, and no end since it last started.
    Active,
    /// This end, which was read at this time.
    Ended(Result<ActionOutcome, ActionFailure>, Instant),
}

/// The task in the answers of the queue.
#[derive(Debug)]
pub enum QueueView {
    /// The task is pending or running, or there was no answer yet.
    Alive(Option<QueueEntry>),
    /// The task had ended or was not listed in all answers from `first` to `last`. Only answers count: nothing grows older
    /// while the controller does not answer.
    Gone { entry: Option<QueueEntry>, first: Instant, last: Instant },
}

impl SubmittedTask {
    /// Returns the task of this index in a batch, of which nothing is known yet.
    pub fn new(spec: TaskSpec, index: u32, events: EventsFile) -> Self {
        let (report, queue) = (Report::Nothing, QueueView::Alive(None));
        SubmittedTask { spec, index, is_confirmed: true, has_started: false, events, report, queue }
    }

    /// Reads new events, and forwards them to the run. A task that starts again after its node failed or it was preempted is the
    /// same attempt to the run.
    pub fn forward_events(&mut self, run: &UpdateSender) {
        for message in self.events.read() {
            self.is_confirmed = true;
            let is_new = match &message {
                ActionMessage::Start => {
                    self.report = Report::Active;
                    !std::mem::replace(&mut self.has_started, true)
                }
                ActionMessage::Outcome(outcome) => {
                    self.report = Report::Ended(outcome.clone(), Instant::now());
                    matches!(outcome, Ok(ActionOutcome::NewResult(_) | ActionOutcome::Comparison(_)))
                }
                ActionMessage::Waiting { .. } | ActionMessage::Event(_) => {
                    if matches!(self.report, Report::Nothing) {
                        self.report = Report::Active;
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
        let changed = entry.as_ref() != self.entry();
        self.queue = match entry {
            Some(entry) if !matches!(entry.phase(), JobPhase::Ended(_)) => {
                self.is_confirmed = true;
                QueueView::Alive(Some(entry))
            }
            entry => {
                let first = if let QueueView::Gone { first, .. } = self.queue { first } else { now };
                QueueView::Gone { entry, first, last: now }
            }
        };
        changed
    }

    /// Returns the entry of the task in the last answer of the queue; nothing if its job was not listed.
    pub fn entry(&self) -> Option<&QueueEntry> {
        match &self.queue {
            QueueView::Alive(entry) | QueueView::Gone { entry, .. } => entry.as_ref(),
        }
    }

    /// Returns true if the task reported its end, and has not started again.
    pub fn has_reported_end(&self) -> bool {
        matches!(self.report, Report::Ended(..))
    }
}
