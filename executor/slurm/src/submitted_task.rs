//! A task of a batch, as far as this run knows it.

use std::time::{Duration, Instant};

use super::events_file::EventsFile;
use super::queue::{JobPhase, Queue, QueueEntry};
use super::task::TaskSpec;
use super::task_outcome::{TaskObservation, TaskOutcome};
use cwm_action::{ActionMessage, ActionOutcome};

/// A cell that a task of a batch makes.
pub struct SubmittedTask {
    /// The task as it was submitted; it is submitted again if the job is lost.
    pub spec: TaskSpec,
    /// The id of the batch.
    pub batch: String,
    /// The index in the batch.
    pub index: u32,
    events: EventsFile,
    report: Report,
    queue: QueueView,
    adoption: Adoption,
    /// True if the start of the task was forwarded to the run. A requeued task starts again, and the run counts one attempt.
    start_forwarded: bool,
}

/// The task's own report, in its events file.
enum Report {
    /// Nothing.
    Nothing,
    /// Something, and no end since it last started.
    Active,
    /// This end, which was read at this time.
    Ended(ActionMessage, Instant),
}

/// The task in the last answer of the queue.
enum QueueView {
    /// There was no answer yet.
    Unknown,
    /// The task is pending or running.
    Alive(QueueEntry),
    /// The task had ended or was not listed in all answers from `first` to `last`. Only answers count: while the controller is
    /// silent, nothing grows older.
    Gone { entry: Option<QueueEntry>, first: Instant, last: Instant, removed: bool },
}

/// True if this run has seen the task alive.
#[derive(PartialEq)]
enum Adoption {
    /// This run submitted the task, or has seen a sign of life since it adopted it.
    Confirmed,
    /// Another run submitted it, and its events file was not read yet.
    Unread,
    /// Another run submitted it, and its earlier events, which are no sign of life, were read.
    Unconfirmed,
}

impl SubmittedTask {
    /// The task of this index in a batch, of which nothing is known yet. `adopted` tasks were submitted by another run.
    pub fn new(spec: TaskSpec, batch: String, index: u32, events: EventsFile, adopted: bool) -> Self {
        SubmittedTask {
            spec,
            batch,
            index,
            events,
            report: Report::Nothing,
            queue: QueueView::Unknown,
            adoption: if adopted { Adoption::Unread } else { Adoption::Confirmed },
            start_forwarded: false,
        }
    }

    /// Reads new events, and returns those that the run is to see.
    pub fn read_events(&mut self) -> Vec<ActionMessage> {
        let lines = self.events.read();
        self.adoption = match self.adoption {
            Adoption::Unread => Adoption::Unconfirmed,
            Adoption::Unconfirmed if lines.is_empty() => Adoption::Unconfirmed,
            _ => Adoption::Confirmed,
        };
        let mut forwarded = Vec::new();
        for line in lines {
            match &line {
                // A task that starts again after its node failed or it was preempted is the same attempt to the run.
                ActionMessage::Start => {
                    self.report = Report::Active;
                    if std::mem::replace(&mut self.start_forwarded, true) {
                        continue;
                    }
                }
                ActionMessage::Outcome(Err(_) | Ok(ActionOutcome::CacheHit)) => {
                    self.report = Report::Ended(line, Instant::now());
                    continue;
                }
                ActionMessage::Outcome(Ok(_)) => self.report = Report::Ended(line.clone(), Instant::now()),
                ActionMessage::Waiting { .. } | ActionMessage::Event(_) => {
                    if matches!(self.report, Report::Nothing) {
                        self.report = Report::Active;
                    }
                }
            }
            forwarded.push(line);
        }
        forwarded
    }

    /// Reads the events that were written before the queue called the task ended, if it reported no end yet.
    pub fn drain_messages(&mut self) -> Vec<ActionMessage> {
        match (&self.queue, &self.report) {
            (_, Report::Ended(..)) | (QueueView::Unknown | QueueView::Alive(_), _) => Vec::new(),
            (QueueView::Gone { .. }, _) => self.read_events(),
        }
    }

    /// Updates the task from an answer of the queue, and returns whether its entry changed.
    pub fn update_from_queue(&mut self, queue: &Queue, job: Option<&str>, now: Instant) -> bool {
        let entry = job.and_then(|job| queue.task(&self.batch, job, self.index)).cloned();
        let changed = entry.as_ref() != self.entry();
        self.queue = match entry {
            Some(entry) if !matches!(entry.phase(), JobPhase::Ended(_)) => {
                self.adoption = Adoption::Confirmed;
                QueueView::Alive(entry)
            }
            entry => QueueView::Gone {
                first: if let QueueView::Gone { first, .. } = self.queue { first } else { now },
                last: now,
                removed: job.is_some_and(|job| queue.lacks_only(&self.batch, job, self.index)),
                entry,
            },
        };
        changed
    }

    /// The entry of the task in the last answer of the queue; nothing if it was not listed.
    pub fn entry(&self) -> Option<&QueueEntry> {
        match &self.queue {
            QueueView::Unknown => None,
            QueueView::Alive(entry) => Some(entry),
            QueueView::Gone { entry, .. } => entry.as_ref(),
        }
    }

    /// True if another run submitted the task and this run has not seen it alive.
    pub fn is_unconfirmed(&self) -> bool {
        self.adoption != Adoption::Confirmed
    }

    /// The conclusion from all that is known. `recorded` looks for the result, knowing whether the task reported its end; `output`
    /// reads what the job and Slurm wrote.
    pub fn outcome(
        &self,
        job: Option<&str>,
        visibility_timeout: Duration,
        recorded: impl FnOnce(bool) -> bool,
        output: impl FnOnce() -> Option<String>,
    ) -> TaskOutcome {
        let reported_end = match &self.report {
            Report::Ended(line, at) => Some((line, at.elapsed())),
            Report::Nothing | Report::Active => None,
        };
        let (gone_for, removed_from_queue) = match self.queue {
            QueueView::Unknown | QueueView::Alive(_) => (None, false),
            QueueView::Gone { first, last, removed, .. } => (Some(last - first), removed),
        };
        let observation = TaskObservation {
            job: &self.name(job),
            reported_end,
            has_reported: !matches!(self.report, Report::Nothing),
            removed_from_queue,
            entry: self.entry(),
            gone_for,
            visibility_timeout,
            check: self.spec.task.terms.check,
            request: &self.spec.request.to_string(),
        };
        observation.outcome(|| recorded(reported_end.is_some()), output)
    }

    /// The task as Slurm names it: `17_3`.
    pub fn name(&self, job: Option<&str>) -> String {
        format!("{}_{}", job.unwrap_or("?"), self.index)
    }
}
