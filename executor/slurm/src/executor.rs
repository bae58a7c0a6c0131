//! Slurm as an executor of the engine: queues tasks until there may be more jobs, hands them to the thread that watches jobs,
//! and translates what that sends into events of the engine.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cwm_contract::Label;

use super::batch::BatchTask;
use super::request::ResourceRequest;
use super::settings::Settings;
use super::task::{JobUpdate, TaskSpec};
use super::watch::Watcher;
use cwm_action::{ActionFailure, ActionFailureKind, ActionMessage, AttemptOptions};
use cwm_core::plural;
use cwm_engine::{BatchExecutor, Cancel, Executor, ExecutorEvent, ExecutorEvents, RunEvent, Start, Task};
use cwm_store::Store;

/// Carries out actions as batch jobs.
pub struct SlurmExecutor {
    store: Store,
    settings: Settings,
    /// The tasks to submit, for the thread that watches; nothing once the executor is closed.
    tasks: Option<Sender<Vec<TaskSpec>>>,
    queued: BTreeMap<usize, Task>,
    jobs: Arc<Mutex<Jobs>>,
    events: ExecutorEvents,
}

/// The jobs of a run.
#[derive(Default)]
struct Jobs {
    /// The names of cells that were handed over.
    labels: HashMap<usize, Label>,
    /// Those of them that have not ended.
    open: BTreeSet<usize>,
    /// Those of them whose work began.
    running: BTreeSet<usize>,
    /// The ids of the jobs.
    ids: BTreeSet<String>,
    /// True if other runs submitted one of them, and may wait for more of it than this run does.
    has_others: bool,
}

impl SlurmExecutor {
    /// The executor of a run that was started with `command`.
    pub fn of_run(store: Store, settings: Settings, command: String) -> BatchExecutor {
        let local_stages = settings.site.here.clone();
        let start = move |events: ExecutorEvents| -> Box<dyn Executor> {
            let jobs: Arc<Mutex<Jobs>> = Arc::default();
            let (known, sender) = (jobs.clone(), events.clone());
            let receive = move |update| {
                let events = translate(&mut locked(&known), update);
                events.into_iter().for_each(|event| sender(event));
            };
            let (tasks, inbox) = channel();
            let (watched, options) = (store.clone(), settings.clone());
            std::thread::spawn(move || {
                let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    Watcher::new(watched, options, command, &receive).watch(&inbox);
                }));
                if ended.is_err() {
                    let reason = "the thread that watches Slurm's jobs panicked: a bug in cwm".to_owned();
                    receive(JobUpdate::WatcherFailed(reason));
                }
            });
            Box::new(SlurmExecutor { store, settings, tasks: Some(tasks), queued: BTreeMap::new(), jobs, events })
        };
        BatchExecutor { start: Box::new(start), local_stages }
    }

    /// Writes the action file of a task.
    fn prepare(&self, task: Task) -> Result<TaskSpec, cwm_core::Error> {
        let Task { cell, mut action, terms, needs, device, time } = task;
        let limit = terms.time.map(|limit| limit + AttemptOptions::grace(limit) + START);
        let request = ResourceRequest::of(&action.label.stage, &needs, time.or(limit), &self.settings);
        action.resources = request.resources(device);
        let folder = if terms.check { self.store.checking(&action.key) } else { self.store.work(&action.key) };
        folder.write_action(&action)?;
        let task = BatchTask { key: action.key, label: action.label, force: action.force, terms };
        Ok(TaskSpec { cell, task, request, resubmissions: 0 })
    }
}

/// The time that a job may take to begin and to end, beyond the limit of its action.
const START: Duration = Duration::from_secs(60);

impl Executor for SlurmExecutor {
    fn submit(&mut self, task: Task) {
        self.queued.insert(task.cell, task);
    }

    fn withdraw(&mut self, cell: usize) {
        self.queued.remove(&cell);
    }

    fn start_queued(&mut self) -> Vec<Start> {
        let open = locked(&self.jobs).open.len();
        let room = self.settings.site.max_jobs.map_or(usize::MAX, |most| most.get().saturating_sub(open));
        let (mut tasks, mut starts) = (Vec::new(), Vec::new());
        while tasks.len() < room
            && let Some((cell, task)) = self.queued.pop_first()
        {
            let started = self.prepare(task).map(|task| {
                let mut jobs = locked(&self.jobs);
                jobs.open.insert(cell);
                jobs.labels.insert(cell, task.task.label.clone());
                tasks.push(task);
            });
            starts.push(Start { cell, warning: None, started });
        }
        if let (Some(sender), false) = (&self.tasks, tasks.is_empty()) {
            // If the thread has ended, it has sent the reason.
            let _ = sender.send(tasks);
        }
        starts
    }

    fn release(&mut self, cell: usize) {
        let mut jobs = locked(&self.jobs);
        jobs.open.remove(&cell);
        jobs.running.remove(&cell);
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
        let jobs = locked(&self.jobs);
        if jobs.open.is_empty() {
            return;
        }
        let cells = plural(jobs.open.len() as u64, "cell stays", "cells stay");
        let names: Vec<&str> = jobs.ids.iter().map(String::as_str).collect();
        let ends = if names.is_empty() { String::new() } else { format!("; `scancel {}` ends them", names.join(" ")) };
        let others = if jobs.has_others { ", with all that other runs wait for in these jobs" } else { "" };
        let message = format!("{cells} with Slurm: jobs go on, and `cwm run` finds them again{ends}{others}");
        (self.events)(ExecutorEvent::Emit(RunEvent::Warning { message }));
    }
}

fn locked(jobs: &Mutex<Jobs>) -> MutexGuard<'_, Jobs> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Translates an update of the watching thread into events of the engine.
fn translate(jobs: &mut Jobs, update: JobUpdate) -> Vec<ExecutorEvent> {
    let emit = |event| vec![ExecutorEvent::Emit(event)];
    match update {
        JobUpdate::Message(cell, line) => {
            if matches!(line, ActionMessage::Start) {
                jobs.running.insert(cell);
            }
            vec![ExecutorEvent::Message(cell, line)]
        }
        JobUpdate::Ended(cell, ended) => vec![ExecutorEvent::Exited(cell, ended)],
        JobUpdate::Submitted { job, cells, request: asks, adopted: found } => {
            let labels = cells.iter().filter_map(|cell| jobs.labels.get(cell).cloned()).collect();
            jobs.ids.insert(job.clone());
            jobs.has_others |= found;
            emit(RunEvent::Submitted { job, labels, asks, found })
        }
        JobUpdate::StateChanged(cell, what) => match jobs.labels.get(&cell).filter(|_| jobs.running.contains(&cell)) {
            Some(label) => emit(RunEvent::Doing { label: label.clone(), what }),
            None => Vec::new(),
        },
        JobUpdate::Queue { pending, running, reasons } => emit(RunEvent::Queue { pending, running, reasons }),
        JobUpdate::Warning(message) => emit(RunEvent::Warning { message }),
        JobUpdate::WatcherFailed(reason) => {
            let failure = ActionFailure::new(ActionFailureKind::Internal, reason);
            let failed = |cell: &usize| ExecutorEvent::Exited(*cell, Err(failure.clone()));
            jobs.open.iter().map(failed).collect()
        }
    }
}
