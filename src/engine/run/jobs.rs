//! Cells that are done as batch jobs: handed to the cluster, and what it tells of them.

use std::sync::mpsc::Receiver;

use super::attempts::Fault;
use super::outcome::End;
use super::{Engine, Message, Place, Running};
use crate::engine::cause::Cause;
use crate::engine::schedule::Stand;
use crate::events::{Reader, RunEvent};
use cwm_action::{FailedKind, Line, Terms};
use cwm_core::error::Error;
use cwm_slurm::{Cluster, NewTask, Request, Settings, Told};

/// Where jobs go, and how they are to be.
pub(super) struct Jobs {
    pub cluster: Cluster,
    pub settings: Settings,
    /// The names of jobs that make something of this run.
    pub names: Vec<String>,
    /// Whether others submitted one of them, and may wait for more of it than this run does.
    pub has_others: bool,
}

impl Engine<'_> {
    /// Whether a cell is done as a job.
    pub(super) fn is_job(&self, index: usize) -> bool {
        let stage = &self.plan.cells[index].label.stage;
        self.jobs.as_ref().is_some_and(|jobs| !jobs.settings.site.here.contains(stage))
    }

    /// Hands over cells that are ready, as far as there may be so many jobs.
    pub(super) fn submit(&mut self, ready: &[usize]) {
        let Some(Jobs { settings, .. }) = &self.jobs else { return };
        let settings = settings.clone();
        let ready: Vec<usize> = ready.iter().copied().filter(|index| !self.waits_for_provisions(*index)).collect();
        let jobs = self.running.values().filter(|running| matches!(running.place, Place::Job { .. })).count();
        let room = settings.site.max_jobs.map_or(usize::MAX, |most| (most as usize).saturating_sub(jobs));
        let mut tasks = Vec::new();
        for index in ready.iter().take(room) {
            match self.prepare(*index, &settings) {
                Ok(Some(task)) => tasks.push(task),
                Ok(None) => {}
                Err((key, error)) => {
                    self.could_not_start(*index, key, &Fault::of(error));
                }
            }
        }
        // So that no job need hash files from outside again.
        self.files.save_if_possible();
        if let (Some(jobs), false) = (&self.jobs, tasks.is_empty()) {
            jobs.cluster.submit(tasks);
        }
    }

    /// Writes the action file of a cell; the rest of what is known of it waits for its job.
    fn prepare(
        &mut self,
        index: usize,
        settings: &Settings,
    ) -> Result<Option<NewTask>, (cwm_core::digest::Key, Error)> {
        let Some((resolved, causes)) = self.for_room.remove(&index) else { return Ok(None) };
        let (needs, device) = self.asks(index);
        let label = self.plan.cells[index].label.clone();
        let key = resolved.components.key();
        let cause: Vec<String> = causes.iter().map(Cause::to_string).collect();
        let terms = self.terms(index, &key);
        let request = Request::of(&label.stage, &needs, self.job_time(index, &terms), settings);
        let written = self.action_file(index, resolved, cause.clone(), request.resources(device)).and_then(|action| {
            if !self.check {
                self.store.create()?;
            }
            self.folder(&key).write_action(&action)?;
            Ok(action.force)
        });
        let force = written.map_err(|error| (key, error))?;
        if !self.check {
            self.schedule.stands[index] = Stand::Running;
        }
        let place = Place::Job { cause, attempt: terms.attempt };
        self.running.insert(index, Running::new(place, key, self.reopened_of(index)));
        Ok(Some(NewTask { cell: index, key, label, request, terms, force, lost: 0 }))
    }

    /// How long the job of a cell may run: what it needs, else its own limit with room for its start and its end.
    fn job_time(&self, index: usize, terms: &Terms) -> Option<std::time::Duration> {
        const START: std::time::Duration = std::time::Duration::from_secs(60);
        let limit = terms.time.map(|time| time + Terms::grace(time) + START);
        self.plan.cells[index].time.or(limit)
    }

    /// What the cluster tells.
    pub(super) fn told(&mut self, told: Told) {
        let label = |engine: &Self, cell: usize| engine.plan.cells[cell].label.clone();
        match told {
            Told::Line(cell, line) => {
                if let (Line::Started, Some(running)) = (&line, self.running.get(&cell))
                    && let Place::Job { cause, attempt } = &running.place
                {
                    let (cause, attempt, key) = (cause.clone(), *attempt, running.key);
                    let label = label(self, cell);
                    self.readers.read(&RunEvent::Started { label, key, cause, attempt });
                }
                self.hear(cell, line);
            }
            Told::Ended(cell, ended) => self.ended(cell, End::Job(ended)),
            Told::Submitted { job, cells, asks, found } => {
                let labels = cells.into_iter().map(|cell| label(self, cell)).collect();
                if let Some(jobs) = &mut self.jobs {
                    jobs.names.push(job.clone());
                    jobs.has_others |= found;
                }
                self.readers.read(&RunEvent::Submitted { job, labels, asks, found });
            }
            Told::Stands(cell, what) => {
                let is_running = self.running.get(&cell).is_some_and(|running| running.began.is_some());
                if is_running {
                    let label = label(self, cell);
                    self.readers.read(&RunEvent::Doing { label, what });
                }
            }
            Told::Queue { pending, running, reasons } => {
                self.readers.read(&RunEvent::Queue { pending, running, reasons });
            }
            Told::Warning(message) => self.readers.read(&RunEvent::Warning { message }),
            Told::Broken(reason) => {
                let cells: Vec<usize> = self.running.keys().copied().filter(|cell| self.is_job(*cell)).collect();
                for cell in cells {
                    let fault = cwm_slurm::Fault { kind: FailedKind::Internal, reason: reason.clone(), hint: None };
                    self.ended(cell, End::Job(Err(fault)));
                }
            }
        }
    }

    /// Whether something runs that this run has to wait for before it can end: jobs go on without it.
    pub(super) fn holds_on(&self) -> bool {
        let is_held = |running: &Running| self.stopping == 0 || matches!(running.place, Place::Child { .. });
        self.running.values().any(is_held)
    }

    /// Nobody watches jobs any more. What was told at the end, when all cells were done or left alone, is passed on: what was
    /// submitted, and what was cancelled.
    pub(super) fn close_jobs(&mut self, inbox: &Receiver<Message>) {
        let Some(jobs) = &mut self.jobs else { return };
        jobs.cluster.close();
        while let Ok(message) = inbox.try_recv() {
            if let Message::Cluster(told @ (Told::Warning(_) | Told::Submitted { .. })) = message {
                self.told(told);
            }
        }
    }

    /// The run was stopped: what its jobs do, and how they are found again or ended.
    pub(super) fn leave_jobs(&mut self) {
        let left = std::mem::take(&mut self.running).len();
        let (Some(jobs), true) = (&self.jobs, left > 0) else { return };
        self.summary.skipped += left;
        let cells = cwm_core::text::plural(left as u64, "cell stays", "cells stay");
        let mut names = jobs.names.clone();
        names.sort();
        names.dedup();
        let ends = if names.is_empty() { String::new() } else { format!("; `scancel {}` ends them", names.join(" ")) };
        let others = if jobs.has_others { ", with all that other runs wait for in these jobs" } else { "" };
        let message = format!("{cells} with Slurm: jobs go on, and `cwm run` finds them again{ends}{others}");
        self.readers.read(&RunEvent::Warning { message });
    }
}
