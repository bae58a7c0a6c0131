//! Cells that are done as batch jobs: handed to their executor, and what it sends of them.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use super::attempts::Fault;
use super::outcome::End;
use super::{Engine, Message, Place, Running};
use crate::cause::Cause;
use crate::event::{EventSink, RunEvent};
use crate::executor::{ActionUpdate, Executor, ExecutorEvent, Task};
use crate::schedule::Stand;
use cwm_action::Line;
use cwm_core::digest::Key;
use cwm_core::error::Error;

/// Who does cells as batch jobs.
pub(super) struct Jobs {
    pub executor: Box<dyn Executor>,
    /// Stages that are done here nevertheless.
    pub local_stages: Vec<String>,
    /// Cells that were submitted and not started.
    pub queued: BTreeMap<usize, Queued>,
}

/// A cell that was submitted and not started.
pub(super) struct Queued {
    pub key: Key,
    cause: Vec<String>,
    attempt: u32,
}

impl Engine<'_> {
    /// Whether a cell is done as a job.
    pub(super) fn is_job(&self, index: usize) -> bool {
        let stage = &self.plan.cells[index].label.stage;
        self.jobs.as_ref().is_some_and(|jobs| !jobs.local_stages.contains(stage))
    }

    /// Hands over cells that are ready.
    pub(super) fn submit(&mut self, ready: &[usize]) {
        if self.jobs.is_none() {
            return;
        }
        let ready: Vec<usize> = ready.iter().copied().filter(|index| !self.waits_for_provisions(*index)).collect();
        for index in ready {
            if let Err((key, error)) = self.submit_one(index) {
                self.could_not_start(index, key, &Fault::of(error));
            }
        }
        // So that no job need hash files from outside again.
        self.files.save_if_possible();
        let starts = self.jobs.as_mut().map(|jobs| jobs.executor.start_queued()).unwrap_or_default();
        for start in starts {
            let jobs = self.jobs.as_mut();
            let Some(Queued { key, cause, attempt }) = jobs.and_then(|jobs| jobs.queued.remove(&start.cell)) else {
                continue;
            };
            match start.started {
                Ok(_) => {
                    if !self.check {
                        self.schedule.stands[start.cell] = Stand::Running;
                    }
                    let place = Place::Job { cause, attempt };
                    self.running.insert(start.cell, Running::new(place, key, self.reopened_of(start.cell)));
                }
                Err(error) => self.could_not_start(start.cell, key, &Fault::of(error)),
            }
        }
    }

    fn submit_one(&mut self, index: usize) -> Result<(), (Key, Error)> {
        let Some((resolved, causes)) = self.for_room.remove(&index) else { return Ok(()) };
        let (needs, device) = self.asks(index);
        let key = resolved.components.key();
        let cause: Vec<String> = causes.iter().map(Cause::to_string).collect();
        let terms = self.terms(index, &key);
        let action =
            self.action_file(index, resolved, cause.clone(), Default::default()).map_err(|error| (key, error))?;
        if !self.check {
            self.store.create().map_err(|error| (key, error.into()))?;
        }
        let Some(jobs) = &mut self.jobs else { return Ok(()) };
        let time = self.plan.cells[index].time;
        jobs.queued.insert(index, Queued { key, cause, attempt: terms.attempt });
        jobs.executor.submit(Task { cell: index, action, terms, needs, device, time });
        Ok(())
    }

    /// Takes what an executor sent.
    pub(super) fn receive(&mut self, event: ExecutorEvent) {
        match event {
            ExecutorEvent::Update(cell, ActionUpdate::Message(line)) => {
                if let (Line::Started, Some(running)) = (&line, self.running.get(&cell))
                    && let Place::Job { cause, attempt } = &running.place
                {
                    let (cause, attempt, key) = (cause.clone(), *attempt, running.key);
                    let label = self.plan.cells[cell].label.clone();
                    self.sinks.event(&RunEvent::Started { label, key, cause, attempt });
                }
                self.hear(cell, line);
            }
            ExecutorEvent::Update(cell, ActionUpdate::Exited(ended)) => {
                if let Some(jobs) = &mut self.jobs {
                    jobs.executor.release(cell);
                }
                self.ended(cell, End::Job(ended));
            }
            ExecutorEvent::Emit(event) => self.sinks.event(&event),
        }
    }

    /// Whether something runs that this run has to wait for before it can end: jobs go on without it.
    pub(super) fn holds_on(&self) -> bool {
        let is_held = |running: &Running| self.stopping == 0 || matches!(running.place, Place::Child { .. });
        self.running.values().any(is_held)
    }

    /// Nobody watches jobs any more. What is sent at the end, when all cells were done or left alone, is passed on.
    pub(super) fn close_jobs(&mut self, inbox: &Receiver<Message>) {
        let Some(jobs) = &mut self.jobs else { return };
        jobs.executor.close();
        while let Ok(message) = inbox.try_recv() {
            if let Message::Executor(ExecutorEvent::Emit(
                event @ (RunEvent::Warning { .. } | RunEvent::Submitted { .. }),
            )) = message
            {
                self.sinks.event(&event);
            }
        }
    }

    /// The run was stopped: its jobs go on.
    pub(super) fn leave_jobs(&mut self) {
        self.summary.skipped += std::mem::take(&mut self.running).len();
    }
}
