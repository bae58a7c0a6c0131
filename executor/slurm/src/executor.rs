//! Slurm as an executor of the engine: hands tasks to the thread that submits and watches jobs, as many as there may be jobs.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::batch::BatchTask;
use super::request::ResourceRequest;
use super::settings::JobSettings;
use super::submitted_task::TaskSpec;
use super::watch::{Jobs, Watcher};
use cwm_action::{ActionFailure, ActionFailureKind, AttemptOptions};
use cwm_core::{lock_mutex, plural};
use cwm_engine::{ActionRequest, Cancel, Executor, ExecutorFactory, RunEvent, StartOutcome, Update, UpdateSender};
use cwm_store::Store;

/// Carries out actions as batch jobs.
pub struct SlurmExecutor {
    store: Store,
    settings: JobSettings,
    /// The tasks to submit, for the thread that watches; nothing once the executor is closed.
    tasks: Option<Sender<Vec<TaskSpec>>>,
    jobs: Arc<Mutex<Jobs>>,
    updates: UpdateSender,
}

impl SlurmExecutor {
    /// Returns the factory of the executor of a run that was started with `command`.
    pub fn factory(store: Store, settings: JobSettings, command: String) -> ExecutorFactory {
        let local_stages = settings.slurm.local_stages.clone();
        let create = move |updates: UpdateSender| -> Box<dyn Executor> {
            let jobs: Arc<Mutex<Jobs>> = Arc::default();
            let (tasks, inbox) = channel();
            let watcher = Watcher::new(store.clone(), settings.clone(), command, jobs.clone(), updates.clone());
            let (open, sender) = (jobs.clone(), updates.clone());
            std::thread::spawn(move || {
                if catch_unwind(AssertUnwindSafe(|| watcher.watch(&inbox))).is_err() {
                    let reason = "the thread that watches Slurm's jobs panicked: a bug in cwm";
                    let failure = ActionFailure::new(ActionFailureKind::Internal, reason);
                    for &cell in &lock_mutex(&open).open {
                        sender(Update::Exited(cell, Err(failure.clone())));
                    }
                }
            });
            Box::new(SlurmExecutor { store, settings, tasks: Some(tasks), jobs, updates })
        };
        ExecutorFactory { create: Box::new(create), local_stages }
    }

    /// Writes the action file of a task.
    fn prepare(&self, task: ActionRequest) -> Result<TaskSpec, cwm_core::Error> {
        let ActionRequest { cell, mut action, options, needs, device, time, .. } = task;
        let limit = options.time.map(|limit| limit + AttemptOptions::grace(limit) + JOB_OVERHEAD);
        let request = ResourceRequest::of(&action.label.stage, &needs, time.or(limit), &self.settings);
        action.resources = request.resources(device);
        self.store.attempt_folder(&action.key, options.check).write_action(&action)?;
        let task = BatchTask { key: action.key, label: action.label, force: action.force, options };
        Ok(TaskSpec { cell, task, request, resubmissions: 0 })
    }
}

/// The time that a job may take to begin and to end, beyond the limit of its action.
const JOB_OVERHEAD: Duration = Duration::from_secs(60);

impl Executor for SlurmExecutor {
    fn start(&mut self, queue: &mut BTreeMap<usize, ActionRequest>) -> Vec<StartOutcome> {
        let open = lock_mutex(&self.jobs).open.len();
        let free = self.settings.slurm.max_jobs.map_or(usize::MAX, |most| most.get().saturating_sub(open));
        let (mut tasks, mut starts) = (Vec::new(), Vec::new());
        while tasks.len() < free
            && let Some((cell, task)) = queue.pop_first()
        {
            let started = self.prepare(task).map(|task| {
                lock_mutex(&self.jobs).open.insert(cell);
                tasks.push(task);
            });
            starts.push(StartOutcome { cell, warning: None, started });
        }
        if let (Some(sender), false) = (&self.tasks, tasks.is_empty()) {
            // If the thread has ended, it has sent the reason.
            let _ = sender.send(tasks);
        }
        starts
    }

    fn release(&mut self, cell: usize) {
        lock_mutex(&self.jobs).open.remove(&cell);
    }

    /// Jobs continue without the run.
    fn cancel(&mut self, _: Cancel) -> usize {
        0
    }

    fn shares_store(&self) -> bool {
        self.settings.remote_store.is_none()
    }

    fn outlives_run(&self) -> bool {
        true
    }

    fn close(&mut self) {
        self.tasks = None;
        let jobs = lock_mutex(&self.jobs);
        if jobs.open.is_empty() {
            return;
        }
        let cells = plural(jobs.open.len() as u64, "cell stays", "cells stay");
        let names: Vec<&str> = jobs.ids.iter().map(String::as_str).collect();
        let ends = if names.is_empty() { String::new() } else { format!("; `scancel {}` ends them", names.join(" ")) };
        let others = if jobs.has_others { ", with all that other runs wait for in these jobs" } else { "" };
        let message = format!("{cells} with Slurm: jobs continue, and the same command adopts them{ends}{others}");
        (self.updates)(Update::Emit(RunEvent::Warning { message }));
    }
}
