//! Watches the jobs of a run: their messages are read from files, and the queue is queried rarely, once for all of them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::queue::{JobPhase, Queue, needs_intervention};
use super::settings::Settings;
use super::slurm_cli::SlurmCliError;
use super::submitted_task::SubmittedTask;
use super::task::{JobUpdate, TaskSpec};
use cwm_action::{ActionFailure, ActionFailureKind, read_log_tail};
use cwm_core::{Backoff, Digest, list_some};
use cwm_store::Store;
use cwm_store::external_files::DigestCache;

/// A batch that holds cells of this run.
pub(super) struct WatchedBatch {
    pub batch: Batch,
    /// The job's id, as soon as that is known.
    pub job: Option<String>,
    /// `sbatch` failed, and the queue does not list it.
    pub is_absent: bool,
}

pub(super) struct Watcher<'t> {
    pub store: Store,
    pub settings: Settings,
    pub command: String,
    /// Sends an update to the run.
    pub send: &'t dyn Fn(JobUpdate),
    pub files: DigestCache,
    pub batches: HashMap<String, WatchedBatch>,
    pub tasks: Vec<SubmittedTask>,
    pub waiting: Vec<TaskSpec>,
    /// The copy of this program in the store.
    pub binary: Option<Digest>,
    /// Tasks of an array at most.
    pub array_size: Option<usize>,
    /// When `sbatch` may be called next.
    pub next_submission: Instant,
    /// Pauses between submissions while the site allows no more jobs.
    pub limit_backoff: Backoff,
    next_look: Instant,
    interval: Duration,
    /// Since when the controller has not answered.
    outage: Option<Instant>,
    counted: (usize, usize, BTreeMap<String, usize>),
    /// Held tasks that were reported, with their reasons.
    reported_held: HashSet<(String, String)>,
}

/// The longest pause between submissions while Slurm says that there are too many jobs.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Number of cells that a message names.
pub(super) const MAX_LISTED: usize = 8;

/// The factor by which looks at the queue become rarer while nothing changes.
const RAREST: u32 = 12;

impl<'t> Watcher<'t> {
    pub fn new(store: Store, settings: Settings, command: String, send: &'t dyn Fn(JobUpdate)) -> Self {
        let now = Instant::now();
        Watcher {
            files: DigestCache::of_store(&store),
            interval: settings.poll,
            limit_backoff: Backoff::new(settings.poll, LONGEST_PAUSE),
            store,
            settings,
            command,
            send,
            batches: HashMap::new(),
            tasks: Vec::new(),
            waiting: Vec::new(),
            binary: None,
            array_size: None,
            next_submission: now,
            next_look: now,
            outage: None,
            counted: (0, 0, BTreeMap::new()),
            reported_held: HashSet::new(),
        }
    }

    pub fn watch(mut self, inbox: &Receiver<Vec<TaskSpec>>) {
        let shortest = Duration::from_secs(1).min(self.settings.poll);
        let mut pause = shortest;
        loop {
            let wait = if self.waiting.is_empty() { pause } else { shortest };
            match inbox.recv_timeout(wait) {
                Ok(tasks) => self.waiting.extend(tasks),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Ok(tasks) = inbox.try_recv() {
                self.waiting.extend(tasks);
            }
            let now = Instant::now();
            if now >= self.next_submission && (!self.waiting.is_empty() || self.has_absent()) {
                self.next_submission = now + self.settings.poll;
                self.submit();
            }
            let before = Instant::now();
            self.read_events();
            let listened = before.elapsed();
            if !self.tasks.is_empty() && Instant::now() >= self.next_look {
                self.poll_queue();
            }
            self.apply_outcomes();
            // On a slow file system, at most a twentieth of the time is spent on looking.
            pause = shortest.max(listened * 20).min(Duration::from_secs(60));
        }
    }

    /// Asks the queue as soon as possible.
    pub fn poll_soon(&mut self) {
        self.interval = self.settings.poll;
        self.next_look = Instant::now();
    }

    fn has_absent(&self) -> bool {
        self.batches.values().any(|watched| watched.is_absent)
    }

    fn read_events(&mut self) {
        // One listing of a batch's folder says which tasks have written events.
        let mut writing: HashMap<&str, Vec<u32>> = HashMap::new();
        for (id, watched) in &self.batches {
            let names = cwm_store::list_folder(&watched.batch.folder).unwrap_or_default();
            let indices = names.iter().filter_map(|(name, _)| name.strip_suffix(".events")?.parse().ok());
            let mut indices: Vec<u32> = indices.collect();
            indices.sort_unstable();
            writing.insert(id, indices);
        }
        for task in &mut self.tasks {
            let indices = writing.get(task.batch.as_str());
            if indices.is_some_and(|indices| indices.binary_search(&task.index).is_ok()) {
                for line in task.read_events() {
                    (self.send)(JobUpdate::Message(task.spec.cell, line));
                }
            }
        }
    }

    /// Asks the queue once for all jobs.
    fn poll_queue(&mut self) {
        let queue = match Queue::query() {
            Ok(queue) => queue,
            Err(error) => {
                self.note_outage(&error);
                self.next_look = Instant::now() + self.settings.poll * 2;
                return;
            }
        };
        self.end_outage();
        let now = Instant::now();
        let mut changed = false;
        // Tasks that Slurm does not start until somebody changes something, by the reason.
        let mut held: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let found = self.find_jobs(&queue);
        for task in &mut self.tasks {
            let watched = self.batches.get(&task.batch);
            // Of a batch that is not submitted, the queue can know nothing.
            let Some(job) = watched.and_then(|watched| watched.job.as_deref()) else {
                if watched.is_some_and(|watched| !watched.is_absent) {
                    task.update_from_queue(&queue, None, now);
                }
                continue;
            };
            if task.update_from_queue(&queue, Some(job), now) {
                changed = true;
                if let Some(entry) = task.entry() {
                    let name = task.name(Some(job));
                    (self.send)(JobUpdate::StateChanged(task.spec.cell, format!("job {name} {entry}")));
                    if entry.phase() == JobPhase::Pending
                        && needs_intervention(&entry.reason)
                        && self.reported_held.insert((name.clone(), entry.reason.clone()))
                    {
                        let named = format!("{name} ({})", task.spec.task.label);
                        held.entry(entry.reason.clone()).or_default().push(named);
                    }
                }
            }
        }
        found.into_iter().for_each(|(id, job)| self.report_adopted(&id, job));
        held.iter().for_each(|(reason, tasks)| (self.send)(JobUpdate::Warning(held_warning(reason, tasks))));
        self.count();
        let rarest = self.settings.poll * RAREST;
        self.interval = if changed { self.settings.poll } else { (self.interval * 3 / 2).min(rarest) };
        self.next_look = now + self.interval;
    }

    /// Batches whose ids nobody noted: by their comment, or known not to be there.
    fn find_jobs(&mut self, queue: &Queue) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (id, watched) in &mut self.batches {
            if watched.job.is_some() {
                continue;
            }
            watched.job = watched.batch.job();
            if let (None, Some(job)) = (&watched.job, queue.job_of(id)) {
                // A later run finds it by its comment just as well.
                let _ = watched.batch.note_job(job);
                watched.job = Some(job.to_owned());
            }
            match &watched.job {
                Some(job) => found.push((id.clone(), job.clone())),
                None => {
                    watched.is_absent =
                        (0..watched.batch.file.tasks.len() as u32).all(|index| !watched.batch.events(index).exists())
                }
            }
        }
        found
    }

    fn report_adopted(&self, id: &str, job: String) {
        let tasks = || self.tasks.iter().filter(|task| task.batch == id);
        let Some(request) = tasks().next().map(|task| task.spec.request.to_string()) else { return };
        let cells = tasks().map(|task| task.spec.cell).collect();
        (self.send)(JobUpdate::Submitted { job, cells, request, adopted: true });
    }

    fn count(&mut self) {
        let (mut pending, mut running, mut reasons) = (0, 0, BTreeMap::new());
        for entry in self.tasks.iter().filter_map(|task| task.entry()) {
            match entry.phase() {
                JobPhase::Pending => {
                    pending += 1;
                    *reasons.entry(entry.reason.clone()).or_default() += 1;
                }
                JobPhase::Running => running += 1,
                JobPhase::Ended(_) => {}
            }
        }
        let counted = (pending, running, reasons);
        if counted != self.counted {
            self.counted = counted.clone();
            let (pending, running, reasons) = counted;
            (self.send)(JobUpdate::Queue { pending, running, reasons });
        }
    }

    /// The controller did not answer: jobs continue, and nothing is concluded.
    pub fn note_outage(&mut self, error: &SlurmCliError) {
        if self.outage.is_none() {
            let words = "jobs go on, and it is asked again; nothing is taken for lost meanwhile";
            (self.send)(JobUpdate::Warning(format!("Slurm does not answer ({error}): {words}")));
            self.outage = Some(Instant::now());
        }
    }

    /// The controller answered.
    pub fn end_outage(&mut self) {
        if let Some(since) = self.outage.take() {
            let time = jiff::SignedDuration::from_secs(since.elapsed().as_secs() as i64);
            (self.send)(JobUpdate::Warning(format!("Slurm answers again, after {time:#}")));
        }
    }

    /// These cells could not be submitted.
    pub fn refuse(&self, tasks: impl IntoIterator<Item = TaskSpec>, reason: &str, hint: &str) {
        for task in tasks {
            let hint = (!hint.is_empty()).then(|| hint.to_owned());
            let failure = ActionFailure { kind: ActionFailureKind::System, message: reason.to_owned(), hint };
            (self.send)(JobUpdate::Ended(task.cell, Err(failure)));
        }
    }
}

/// The end of what a job and Slurm wrote; nothing if there is no such file.
pub(super) fn read_output(path: &std::path::Path) -> Option<String> {
    match read_log_tail(path, 0, 4096) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        output => Some(output.unwrap_or_default()),
    }
}

/// The warning about tasks that wait for this reason. They are named one by one: a command for the whole array would hit its other
/// tasks, too.
fn held_warning(reason: &str, tasks: &[String]) -> String {
    let first = tasks[0].split(' ').next().unwrap_or_default();
    let named = list_some(tasks, MAX_LISTED);
    format!("Slurm does not start {named}: {reason}; `scontrol show job {first}` says what it asks for")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_tasks_are_named_and_never_their_array() {
        let tasks: Vec<String> = (0..11).map(|index| format!("145_{index} (part[k={index}])")).collect();
        let words = held_warning("JobHeldUser", &tasks);
        assert!(words.starts_with("Slurm does not start 145_0 (part[k=0]), 145_1 (part[k=1])"), "{words}");
        assert!(words.ends_with("and 3 more: JobHeldUser; `scontrol show job 145_0` says what it asks for"), "{words}");
    }
}
