//! Watches the jobs of a run: their messages are read from files, and the queue is queried rarely, once for all of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::queue::Queue;
use super::settings::JobSettings;
use super::slurm_cli::SlurmError;
use super::submitted_task::{SubmittedTask, TaskSpec};
use super::task_outcome::{TaskObservation, TaskOutcome};
use cwm_action::{ActionFailure, ActionFailureKind, read_log_tail};
use cwm_core::{Backoff, Error, duration, list_some, lock_mutex};
use cwm_engine::{RunEvent, Update, UpdateSender};
use cwm_store::{DigestCache, Store, list_folder};

/// The jobs of a run.
#[derive(Default)]
pub(super) struct Jobs {
    /// The cells that were handed over and have not ended.
    pub open: BTreeSet<usize>,
    /// The ids of the jobs.
    pub ids: BTreeSet<String>,
    /// True if other runs submitted one of them, and may wait for more of it than this run does.
    pub has_others: bool,
}

/// A batch that holds cells of this run.
pub(super) struct WatchedBatch {
    pub batch: Batch,
    /// The job's id, as soon as that is known.
    pub job: Option<String>,
    /// The cells of this run.
    pub tasks: Vec<SubmittedTask>,
}

/// The tasks that are submitted next.
pub(super) struct Submissions {
    /// The tasks, by cell.
    pub waiting: BTreeMap<usize, TaskSpec>,
    /// Tasks of an array at most.
    pub array_size: Option<usize>,
    /// When `sbatch` may be called next.
    pub next: Instant,
    /// Pauses while the site allows no more jobs.
    pub backoff: Backoff,
}

/// The polls of the queue.
struct Polls {
    next: Instant,
    /// Pauses while nothing changes.
    backoff: Backoff,
    /// The time since which the controller has not answered.
    outage: Option<Instant>,
    /// The numbers of jobs that were reported last.
    reported: RunEvent,
}

pub(super) struct Watcher {
    pub store: Store,
    pub settings: JobSettings,
    pub command: String,
    /// The shortest time between two polls of the queue.
    poll: Duration,
    pub batches: Vec<WatchedBatch>,
    pub submissions: Submissions,
    polls: Polls,
    jobs: Arc<Mutex<Jobs>>,
    pub updates: UpdateSender,
    digests: DigestCache,
}

/// The longest pause between submissions while the site allows no more jobs.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// Number of cells that a message names.
const MAX_LISTED: usize = 8;

/// The shortest pause between two polls of the queue, unless `poll` sets it.
const DEFAULT_POLL: Duration = Duration::from_secs(5);

/// The longest pause between two polls of the queue, as a multiple of the shortest.
const LONGEST_POLL: u32 = 12;

/// The time after which a job that is visible neither in the queue nor in the store counts as lost, unless `visibility_timeout`
/// sets it: a network file system may hide new files for a minute.
const DEFAULT_VISIBILITY_TIMEOUT: Duration = Duration::from_secs(60);

/// The number of times that a cell is submitted again whose job was lost or whose node failed, unless `resubmit` sets it.
const DEFAULT_RESUBMIT: u32 = 3;

impl Watcher {
    pub fn new(
        store: Store,
        settings: JobSettings,
        command: String,
        jobs: Arc<Mutex<Jobs>>,
        updates: UpdateSender,
    ) -> Self {
        let (next, waiting) = (Instant::now(), BTreeMap::new());
        let poll = settings.slurm.poll.unwrap_or(DEFAULT_POLL);
        let backoff = Backoff::new(poll, MAX_BACKOFF);
        let submissions = Submissions { waiting, array_size: None, next, backoff };
        let backoff = Backoff::new(poll, poll * LONGEST_POLL);
        let reported = RunEvent::Queue { pending: 0, running: 0, reasons: BTreeMap::new() };
        let polls = Polls { next, backoff, outage: None, reported };
        let digests = DigestCache::of_store(&store);
        Watcher { store, settings, command, poll, batches: Vec::new(), submissions, polls, jobs, updates, digests }
    }

    pub fn watch(mut self, inbox: &Receiver<Vec<TaskSpec>>) {
        let shortest = Duration::from_secs(1).min(self.poll);
        let mut pause = shortest;
        loop {
            let wait = if self.submissions.waiting.is_empty() { pause } else { shortest };
            match inbox.recv_timeout(wait) {
                Ok(tasks) => self.wait_for_submission(tasks.into_iter().chain(inbox.try_iter().flatten())),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if Instant::now() >= self.submissions.next && !self.submissions.waiting.is_empty() {
                self.submissions.next = Instant::now() + self.poll;
                self.submit();
            }
            if Instant::now() >= self.polls.next && !self.batches.is_empty() {
                self.poll_queue();
            }
            // After the queue: a task that the queue calls ended has written its messages before.
            let before = Instant::now();
            self.read_messages();
            // On a slow file system, at most a twentieth of the time is spent on listing folders.
            pause = shortest.max(before.elapsed() * 20).min(Duration::from_secs(60));
            self.apply_outcomes();
        }
    }

    /// Adds tasks to those that are submitted next.
    pub fn wait_for_submission(&mut self, tasks: impl IntoIterator<Item = TaskSpec>) {
        self.submissions.waiting.extend(tasks.into_iter().map(|task| (task.cell, task)));
    }

    /// Polls the queue as soon as possible.
    pub fn poll_soon(&mut self) {
        self.polls.backoff.reset();
        self.polls.next = Instant::now();
    }

    fn emit(&self, event: RunEvent) {
        (self.updates)(Update::Emit(event));
    }

    fn read_messages(&mut self) {
        for watched in &mut self.batches {
            // One listing of a batch's folder shows which tasks have written messages.
            let names = list_folder(&watched.batch.folder).unwrap_or_default();
            let writing = names.iter().filter_map(|(name, _)| name.strip_suffix(".events")?.parse().ok());
            let writing: HashSet<u32> = writing.collect();
            let tasks = watched.tasks.iter_mut().filter(|task| writing.contains(&task.index));
            tasks.for_each(|task| task.forward_messages(&self.updates));
        }
    }

    /// Polls the queue once for all jobs.
    fn poll_queue(&mut self) {
        let queue = match Queue::query() {
            Ok(queue) => queue,
            Err(failed) => {
                self.begin_outage(&failed);
                self.polls.next = Instant::now() + self.poll * 2;
                return;
            }
        };
        self.end_outage();
        let now = Instant::now();
        for mut watched in std::mem::take(&mut self.batches) {
            let id = watched.batch.file.id.clone();
            if watched.job.is_none() {
                watched.job = watched.batch.job().or_else(|| queue.job(&id).map(str::to_owned));
                if watched.job.is_some() {
                    self.report_submission(&watched, true);
                } else if watched.tasks.iter().all(|task| !watched.batch.messages_path(task.index).exists()) {
                    // `sbatch` failed, and Slurm did not take the job.
                    watched.batch.remove();
                    self.wait_for_submission(watched.tasks.into_iter().map(|task| task.spec));
                    continue;
                }
            }
            for task in &mut watched.tasks {
                if task.update_from_queue(queue.task(&id, task.index), now) {
                    self.polls.backoff.reset();
                    if let (Some(entry), true) = (&task.entry, task.has_started) {
                        let job = watched.job.as_deref().unwrap_or_default();
                        let activity = format!("job {job}_{} {entry}", task.index);
                        self.emit(RunEvent::Activity { label: task.spec.task.label.clone(), activity });
                    }
                }
            }
            self.batches.push(watched);
        }
        self.count();
        self.polls.next = now + self.polls.backoff.next_delay();
    }

    /// Reports that the cells of a batch are tasks of its job, if that is known.
    pub fn report_submission(&self, watched: &WatchedBatch, adopted: bool) {
        let (Some(job), Some(first)) = (&watched.job, watched.tasks.first()) else { return };
        let mut jobs = lock_mutex(&self.jobs);
        jobs.ids.insert(job.clone());
        jobs.has_others |= adopted;
        drop(jobs);
        let labels = watched.tasks.iter().map(|task| task.spec.task.label.clone()).collect();
        let request = first.spec.request.to_string();
        self.emit(RunEvent::Submitted { job: job.clone(), labels, request, adopted });
    }

    fn count(&mut self) {
        let (mut pending, mut running, mut reasons) = (0, 0, BTreeMap::new());
        for entry in self.batches.iter().flat_map(|watched| &watched.tasks).filter_map(|task| task.entry.as_ref()) {
            if entry.is_pending() {
                pending += 1;
                *reasons.entry(entry.reason.clone()).or_default() += 1;
            } else if entry.end().is_none() {
                running += 1;
            }
        }
        let counted = RunEvent::Queue { pending, running, reasons };
        if counted != self.polls.reported {
            self.emit(counted.clone());
            self.polls.reported = counted;
        }
    }

    /// Notes that the controller did not answer. Jobs continue, and none counts as lost.
    pub fn begin_outage(&mut self, failed: &SlurmError) {
        if self.polls.outage.is_none() {
            let effect = "jobs continue, and no job counts as lost meanwhile";
            let message = format!("Slurm does not answer ({}): {effect}", failed.error);
            self.emit(RunEvent::Warning { message });
            self.polls.outage = Some(Instant::now());
        }
    }

    /// Notes that the controller answered, and reports the end of an outage.
    pub fn end_outage(&mut self) {
        if let Some(since) = self.polls.outage.take() {
            let message = format!("Slurm answers again, after {}", duration(since.elapsed().as_secs_f64()));
            self.emit(RunEvent::Warning { message });
        }
    }

    /// Reports that these cells could not be submitted.
    pub fn reject(&self, tasks: impl IntoIterator<Item = TaskSpec>, error: Error) {
        let failure = ActionFailure::from(error);
        for task in tasks {
            (self.updates)(Update::Exited(task.cell, Err(failure.clone())));
        }
    }

    /// Reports the tasks that ended, and queues those that are to be submitted again.
    fn apply_outcomes(&mut self) {
        let mut resubmitted = Vec::new();
        for mut watched in std::mem::take(&mut self.batches) {
            for task in std::mem::take(&mut watched.tasks) {
                let Some(outcome) = self.outcome(&watched, &task) else {
                    watched.tasks.push(task);
                    continue;
                };
                watched.batch.record_end(task.index);
                let (cell, resubmissions) = (task.spec.cell, task.spec.resubmissions);
                let most = self.settings.slurm.resubmit.unwrap_or(DEFAULT_RESUBMIT);
                let result = match outcome {
                    TaskOutcome::Succeeded => Ok(()),
                    // It ended before this run began, or while another run watched it: this run has made no attempt yet.
                    _ if !task.is_confirmed => {
                        self.wait_for_submission([TaskSpec { resubmissions: 0, ..task.spec }]);
                        continue;
                    }
                    TaskOutcome::Failed(failure) => Err(failure),
                    TaskOutcome::Resubmit { reason, counts } if !counts || resubmissions < most => {
                        resubmitted.push(format!("{} ({reason})", task.spec.task.label));
                        let resubmissions = resubmissions + u32::from(counts);
                        self.wait_for_submission([TaskSpec { resubmissions, ..task.spec }]);
                        continue;
                    }
                    TaskOutcome::Resubmit { reason, .. } => {
                        let message = format!("{reason}; it was submitted {} times", resubmissions + 1);
                        Err(ActionFailure::new(ActionFailureKind::System, message)
                            .hint("`cwm run` submits it again; look into the log of the node"))
                    }
                };
                (self.updates)(Update::Exited(cell, result));
            }
            match watched.tasks.is_empty() {
                true => watched.batch.close_if_over(),
                false => self.batches.push(watched),
            }
        }
        if !resubmitted.is_empty() {
            let message = format!("submitted again: {}", list_some(resubmitted, MAX_LISTED));
            self.emit(RunEvent::Warning { message });
        }
    }

    fn outcome(&self, watched: &WatchedBatch, task: &SubmittedTask) -> Option<TaskOutcome> {
        task.outcome(&TaskObservation {
            job: &format!("{}_{}", watched.job.as_deref().unwrap_or("?"), task.index),
            visibility_timeout: self.settings.slurm.visibility_timeout.unwrap_or(DEFAULT_VISIBILITY_TIMEOUT),
            is_recorded: &|| self.is_recorded(&watched.batch, task),
            read_output: &|| match read_log_tail(&watched.batch.out(task.index), 0, 4096) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                output => Some(output.unwrap_or_default()),
            },
        })
    }

    /// True if the store has the result of a task. A forced task needs one that is newer than its batch.
    fn is_recorded(&self, batch: &Batch, task: &SubmittedTask) -> bool {
        let (key, force, reported) = (&task.spec.task.key, task.spec.task.force, task.has_reported_end());
        let records = || self.store.actions(key).unwrap_or_default();
        let is_new = || records().iter().any(|record| record.run_info.started >= batch.file.created_at);
        let is_isolated = batch.file.remote_store.is_some();
        match (force, reported) {
            (true, false) => is_new(),
            // A job that does not fill this store leaves the files with a remote.
            (_, true) if is_isolated => !records().is_empty(),
            (false, false) if is_isolated && is_new() => true,
            _ => self.store.available(key, None, &self.digests).is_ok_and(|record| record.is_some()),
        }
    }
}
